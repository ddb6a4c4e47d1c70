//go:build unix

package child_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/child"
)

// What keeps a program from being started is seen without starting it, and the start says the same.
func TestLook(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		mode os.FileMode
		want string // "" is nothing
	}{
		"good":           {"#!/bin/sh\nexit 0\n", 0o755, ""},
		"with an option": {"#!/usr/bin/env -S sh -e\nexit 0\n", 0o755, ""},
		"CRLF":           {"#!/bin/sh\r\nexit 0\r\n", 0o755, "carriage return"},
		"no interpreter": {"#!/no/such/interpreter\n", 0o755, "/no/such/interpreter, does not exist; install it"},
		"not executable": {"#!/bin/sh\n", 0o644, "chmod +x"},
		"no first line":  {"echo hi\n", 0o755, "a script needs a first line such as #!/bin/sh"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
				t.Fatal(err)
			}
			spec := child.Spec{Command: path}
			looked := spec.Look()
			proc, started := child.Start(spec)
			if started == nil {
				if err := proc.Stop(t.Context(), child.Grace{}); err != nil {
					t.Error(err)
				}
			}
			for what, err := range map[string]error{"Look": looked, "Start": started} {
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: got %v, want %q", what, err, tt.want)
				}
			}
		})
	}
	err := child.Spec{Command: "npx -y @x/y"}.Look()
	if want := `"command": "npx", "args": ["-y","@x/y"]`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a command with its arguments: got %v, want %q", err, want)
	}
}
