//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
)

// A file that others can write decides nothing, and neither does one that cannot be read.
func TestFaultD12_Rights(t *testing.T) {
	for _, tt := range []struct {
		name string
		mode os.FileMode
		want string // "" means that it is read
	}{
		{"ours alone", 0o600, ""},
		{"readable by all", 0o644, ""},
		{"writable by the group", 0o664, ""},
		{"writable by all", 0o666, "can be written by everybody"},
		{"unreadable", 0, "permission denied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.mode == 0 && os.Geteuid() == 0 {
				t.Skip("root can read every file")
			}
			path := filepath.Join(t.TempDir(), "c.json")
			write(t, path, `{}`)
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			_, err := config.Load(path, nil)
			if got := errorText(err); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got error %q, want one with %q", got, tt.want)
			}
		})
	}
}
