package openfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// A file that somebody has open can often not be opened, replaced or removed here, be it another workbench that reads
// it, a scanner of viruses or an index of what is on the disk: for moments. So that is tried again, for as long as
// these times say. A right that is really missing shows in the same way, which makes whoever opens a file wait less.
const (
	busyOpening   = 100 * time.Millisecond
	busyReplacing = 2 * time.Second
)

func openFile(path string, flag int, mode os.FileMode) (f *os.File, err error) {
	err = patiently(busyOpening, func() error {
		f, err = os.OpenFile(path, flag, mode)
		return err
	})
	return f, err
}

func rename(from, to string) error {
	return patiently(busyReplacing, func() error { return os.Rename(from, to) })
}

func patiently(patience time.Duration, do func() error) error {
	for begun := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		err := do()
		isBusy := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !isBusy || time.Since(begun) > patience {
			return err
		}
	}
}
