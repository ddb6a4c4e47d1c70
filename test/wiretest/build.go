package wiretest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mcp-workbench/workbench/internal/slots"
)

// Build puts commands of this module, named by their folders as in "cmd/workbench", into dir, as they are shipped. Each
// is called like the last element of its folder. The test packages that run at the same time or one after another share
// what is built: it stays in the module's bin/tests, where the go command sees whether it is still what the sources
// say.
func Build(dir string, folders ...string) error {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	shared := filepath.Join(root, "bin", "tests")
	release, err := slots.New(shared, 1).Take(context.Background(), "build")
	if err != nil {
		return err
	}
	defer release()
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", shared + string(filepath.Separator)}
	for _, folder := range folders {
		args = append(args, "./"+folder)
	}
	build := exec.Command("go", args...)
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	for _, folder := range folders {
		name := filepath.Base(folder)
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if err := copyFile(filepath.Join(dir, name), filepath.Join(shared, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a program: one that is built anew takes the place of the shared one, and tests may do to theirs what
// they want.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}
