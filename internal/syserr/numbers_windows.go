package syserr

import "golang.org/x/sys/windows"

var (
	full      = kind{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}
	readOnly  = kind{windows.ERROR_WRITE_PROTECT}
	noFolder  = kind{windows.ERROR_DIRECTORY}
	unread    = kind{windows.ERROR_BROKEN_PIPE, windows.ERROR_NO_DATA}
	refused   = kind{windows.WSAECONNREFUSED}
	reset     = kind{windows.WSAECONNRESET, windows.WSAECONNABORTED}
	inUse     = kind{windows.WSAEADDRINUSE}
	notOurs   = kind{windows.WSAEADDRNOTAVAIL}
	reserved  = kind{windows.WSAEACCES}
	noProgram = kind{windows.ERROR_BAD_EXE_FORMAT, windows.ERROR_EXE_MACHINE_TYPE_MISMATCH}
	noFiles   = kind{windows.WSAEMFILE, windows.ERROR_TOO_MANY_OPEN_FILES}
	noLocks   = kind{windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_FUNCTION}
	unsynced  = kind{windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_FUNCTION, windows.ERROR_ACCESS_DENIED}
)
