package diagnosis_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/diagnosis"
)

// What is right is left alone: a person who is told of what is no fault stops to read.
func TestNothingToSay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it names programs of Unix")
	}
	for _, s := range []diagnosis.Server{
		{Command: "sh", Args: []string{"-c", "exec cat $HOME/x"}, Env: []string{"PATH=/usr/bin:/bin"}},
		{Command: "cat", Args: []string{"", "-", "--", "a=b", "/", "https://example.com/a?x=$5", "100%", "50%-60%"}, Env: []string{"PATH=/usr/bin:/bin"}},
		{URL: "https://mcp.host.test/mcp", Headers: map[string]string{"Authorization": "Bearer abc", "X-Key": "a$b"}},
	} {
		for _, f := range s.Look() {
			t.Errorf("%+v: got %+v", s, f)
		}
	}
}

// A value that may be a secret is never shown.
func TestNoValues(t *testing.T) {
	s := diagnosis.Server{URL: "https://h.test/", Headers: map[string]string{"Authorization": "s3cret", "X": " s3cret", "Y": "<s3cret>", "Z": "${env:s3cret}"}}
	found := s.Look()
	if len(found) != 4 {
		t.Errorf("got %d findings, want 4: %+v", len(found), found)
	}
	for _, f := range found {
		if strings.Contains(f.Message+f.Remedy, "s3cret") {
			t.Errorf("got %+v, want no value", f)
		}
	}
}

func TestHandedOn(t *testing.T) {
	s := diagnosis.Server{Command: "docker", Args: []string{"run", "-e", "TOKEN", "-e", "SET", "-e", "A=b", "x/y"}, Env: []string{"SET=1", "PATH="}}
	var got []string
	for _, f := range s.Look() {
		if strings.Contains(f.Message, "-e") {
			got = append(got, f.Message)
		}
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], "TOKEN ") {
		t.Errorf("got %q, want TOKEN alone", got)
	}
}
