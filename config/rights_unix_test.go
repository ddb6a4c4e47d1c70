//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
			_, err := load(path, nil)
			if got := errorText(err); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got error %q, want one with %q", got, tt.want)
			}
		})
	}
}

// A file that others can put in the place of the configuration decides nothing either, whoever reads it.
func TestFaultG44_Replaceable(t *testing.T) {
	const stranger = 1234
	root := os.Geteuid() == 0
	for _, tt := range []struct {
		name   string
		folder os.FileMode
		owner  int // of the file; 0 means us
		linked bool
		want   string
		doubt  string
	}{
		{name: "a folder of ours", folder: 0o755},
		{name: "a folder that everybody can write", folder: 0o777, want: "can be replaced by everybody"},
		{name: "a link in a folder that everybody can write", folder: 0o777, linked: true, want: "can be replaced by everybody"},
		{name: "a folder such as /tmp", folder: 0o777 | os.ModeSticky},
		{name: "another's file in a folder such as /tmp", folder: 0o777 | os.ModeSticky, owner: stranger, want: "belongs to another user"},
		{name: "another's file, as containers have it", folder: 0o755, owner: stranger, doubt: "belongs to another user (uid 1234)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.owner != 0 && !root {
				t.Skip("only root can make a file another's")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "c.json")
			write(t, path, `{}`)
			if tt.linked {
				target := filepath.Join(t.TempDir(), "c.json")
				if err := os.Rename(path, target); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(target, path); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(dir, tt.folder); err != nil {
				t.Fatal(err)
			}
			if tt.owner != 0 {
				if err := os.Chown(path, tt.owner, -1); err != nil {
					t.Fatal(err)
				}
			}
			cfg, err := load(path, nil)
			if got := errorText(err); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got error %q, want one with %q", got, tt.want)
			}
			if err == nil && (cfg.Doubt == "") != (tt.doubt == "") || err == nil && !strings.Contains(cfg.Doubt, tt.doubt) {
				t.Errorf("got doubt %q, want %q", cfg.Doubt, tt.doubt)
			}
		})
	}
}
