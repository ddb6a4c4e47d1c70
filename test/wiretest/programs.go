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

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/slots"
)

// programs is the variable that says where Main put the programs. Where it is set already, they are there.
const programs = "WORKBENCH_TEST_PROGRAMS"

// Tests are a [testing.M], or what has one.
type Tests interface{ Run() (code int) }

// Main is the TestMain of a package whose tests run commands of this module, which [Build] builds once: it runs the
// tests and gives the exit code. A goroutine that is left at the end is a fault, unless an option says otherwise.
func Main(m Tests, folders []string, options ...goleak.Option) (code int) {
	code, err := 1, error(nil)
	if os.Getenv(programs) == "" {
		var dir string
		if dir, err = os.MkdirTemp("", "workbench-test-"); err == nil {
			defer os.RemoveAll(dir)
			err = Build(dir, folders...)
		}
		if err == nil {
			err = os.Setenv(programs, dir)
		}
	}
	if err == nil {
		if code = m.Run(); code == 0 {
			err = goleak.Find(options...)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wiretest:", err)
		return 1
	}
	return code
}

// Program is the path of a program that [Main] built, by the last element of its folder.
func Program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(os.Getenv(programs), name)
}

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
