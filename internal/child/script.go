package child

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// Look says, without starting it, why the process of the Spec could not be started; nil if nothing is known against it.
// Every error is a *StartError.
func (s Spec) Look() error {
	path, err := s.Path()
	if err != nil {
		return err
	}
	if why := scriptFault(path); why != "" {
		return &StartError{s.Command, path + ": " + why, fs.ErrNotExist}
	}
	return nil
}

// maxFirstLine is how much of a file is read to see the first line of a script.
const maxFirstLine = 512

// scriptFault says why a script cannot be run by the first line of it; "" if it can, or is no script.
func scriptFault(path string) string {
	if runtime.GOOS == "windows" {
		return "" // which reads no such line
	}
	head := beginning(path)
	if len(head) == 0 {
		return "" // it may be run all the same
	}
	line, isScript := firstLine(head)
	if !isScript {
		if head[0] != 0x7f && head[0] < 0x80 && !bytes.ContainsRune(head, 0) {
			return "not a program for this machine; a script needs a first line such as #!/bin/sh"
		}
		return ""
	}
	if strings.HasSuffix(line, "\r") {
		return `its first line ends in a carriage return, as Windows ends lines, so its interpreter is not found; remove them: sed -i 's/\r$//' and the file`
	}
	by := interpreter(head)
	if by == "" {
		return "its first line names no interpreter; it needs one such as #!/bin/sh"
	}
	if _, err := exec.LookPath(by); err != nil && filepath.IsAbs(by) {
		return fmt.Sprintf("the interpreter named in its first line, %s, does not exist; install it, or correct that line", foreign.NewName(by))
	}
	return ""
}

// beginning returns what a file begins with, enough for the first line of a script; nothing if it cannot be read.
func beginning(path string) []byte {
	f, _, err := openfile.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, maxFirstLine))
	return head
}

// firstLine returns what stands behind "#!" where a file begins with that.
func firstLine(head []byte) (line string, isScript bool) {
	rest, isScript := bytes.CutPrefix(head, []byte("#!"))
	line, _, _ = strings.Cut(string(rest), "\n")
	return line, isScript
}

// interpreter returns the program that a script is run by; "" of what is no script, or names none.
func interpreter(head []byte) string {
	line, isScript := firstLine(head)
	words := strings.Fields(line)
	if !isScript || len(words) == 0 {
		return ""
	}
	return words[0]
}
