package footprint

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetProgram unmaps the pages of the program's own file, which come back by themselves from the system's cache when
// they are used again. What is writable stays, and so does a mapping of which a page was changed, as a dynamic linker
// or a debugger does: its changes would be gone.
func forgetProgram() { adviseProgram(unix.MADV_DONTNEED) }

// adviseProgram gives the system an advice (see madvise(2)) on each mapping of the program's file that is as the file
// is. An error leaves the mapping as it was.
func adviseProgram(advice uintptr) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var start, end uint64 // of the mapping that is read, if it is one of the program's
	for line := range strings.Lines(string(mappings)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case !strings.HasSuffix(fields[0], ":"):
			start, end = 0, 0
			if fields[1] == "r--p" || fields[1] == "r-xp" {
				if strings.HasSuffix(line, " "+self+"\n") {
					start, end = addresses(fields[0])
				}
			}
		case fields[0] == "Anonymous:" && fields[1] == "0" && start < end:
			unix.Syscall(unix.SYS_MADVISE, uintptr(start), uintptr(end-start), advice)
		}
	}
}

// addresses reads where a mapping starts and ends: two hexadecimal numbers with a dash between them.
func addresses(text string) (start, end uint64) {
	from, to, _ := strings.Cut(text, "-")
	start, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return 0, 0
	}
	end, err = strconv.ParseUint(to, 16, 64)
	if err != nil {
		return 0, 0
	}
	return start, end
}
