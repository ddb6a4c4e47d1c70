package wiretest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build builds commands of this module, named by their folders as in "cmd/workbench", into dir, as they are shipped. Each is
// called like the last element of its folder.
func Build(dir string, folders ...string) error {
	args := []string{"build", "-trimpath", "-o", dir + string(filepath.Separator)}
	for _, folder := range folders {
		args = append(args, "github.com/mcp-workbench/workbench/"+folder)
	}
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	return nil
}
