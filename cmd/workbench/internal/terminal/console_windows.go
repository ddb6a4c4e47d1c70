package terminal

import "golang.org/x/sys/windows"

// obeys has a console obey escape sequences, which the window of Windows 10 does not unless it is told to, and reports
// whether it does.
func obeys(fd uintptr) bool {
	var mode uint32
	if windows.GetConsoleMode(windows.Handle(fd), &mode) != nil {
		return false
	}
	const wanted = windows.ENABLE_PROCESSED_OUTPUT | windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return mode&wanted == wanted || windows.SetConsoleMode(windows.Handle(fd), mode|wanted) == nil
}

// columns is the width of a terminal, 0 if that is not known.
func columns(fd uintptr) int {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(fd), &info) != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}
