//go:build unix

package openfile

import "os"

// Scratch makes a file for reading and writing that has no name, with mode 0600. It is gone when it is closed, or when
// the process ends, however that comes.
func Scratch(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, Prefix+"*")
	if err != nil {
		return nil, Advised(err)
	}
	if err = os.Remove(f.Name()); err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}
