package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/trust"
)

func TestStore(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "not", "there")
	s := trust.New(folder)
	if all, err := s.List(); all != nil || err != nil {
		t.Errorf("empty: got %v, %v", all, err)
	}
	if _, ok, err := s.Get("/a"); ok || err != nil {
		t.Errorf("empty: got %t, %v", ok, err)
	}
	want := trust.Entry{Path: "/b", Digest: trust.Digest([]byte("x")), Since: time.Now().Round(0), Shown: []string{"one", "two"}}
	for _, e := range []trust.Entry{want, {Path: "/a", Digest: "y"}} {
		if err := s.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	got, ok, err := s.Get("/b")
	if !ok || err != nil || got.Digest != want.Digest || !got.Since.Equal(want.Since) || !slices.Equal(got.Shown, want.Shown) {
		t.Errorf("got %+v, %t, %v, want %+v", got, ok, err, want)
	}
	all, err := s.List()
	if err != nil || len(all) != 2 || all[0].Path != "/a" || all[1].Path != "/b" {
		t.Errorf("got %+v, %v, want both by path", all, err)
	}
	for _, was := range []bool{true, false} {
		if ok, err := s.Remove("/b"); ok != was || err != nil {
			t.Errorf("removed: got %t, %v, want %t", ok, err, was)
		}
	}
	if _, ok, _ := s.Get("/b"); ok {
		t.Error("what was removed is there")
	}
}

// An entry that is not what its name says, that is torn, or that others can write decides nothing.
func TestStrangeEntries(t *testing.T) {
	s := trust.New(t.TempDir())
	if err := s.Put(trust.Entry{Path: "/a", Digest: "d"}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.File("/a"))
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(file string) error{
		"of another file": func(file string) error { return os.WriteFile(file, data, 0o600) },
		"torn":            func(file string) error { return os.WriteFile(file, data[:len(data)/2], 0o600) },
		"a folder":        func(file string) error { return os.Mkdir(file, 0o700) },
		"for all to write": func(file string) error {
			if runtime.GOOS == "windows" {
				return os.WriteFile(file, nil, 0o600)
			}
			text := strings.Replace(string(data), "/a", "/b", 1)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				return err
			}
			return os.Chmod(file, 0o666)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := make(s.File("/b")); err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(s.File("/b"))
			if e, ok, err := s.Get("/b"); ok || err == nil || e.Digest != "" {
				t.Errorf("got %+v, %t, %v, want an error and nothing else", e, ok, err)
			}
		})
	}
}

func TestChanges(t *testing.T) {
	for _, tt := range []struct{ before, now, want string }{
		{"", "", ""},
		{"a b", "a b", ""},
		{"", "a", "+a"},
		{"a", "", "-a"},
		{"a b c", "a x c", "=a -b +x =c"},
		{"a b c d e", "a c x e f", "=a -b =c -d +x =e +f"},
		{"a a a", "a a", "=a =a -a"},
	} {
		var got []string
		for _, line := range trust.Changes(strings.Fields(tt.before), strings.Fields(tt.now)) {
			got = append(got, strings.NewReplacer("  ", "=", "+ ", "+", "- ", "-").Replace(line))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q to %q: got %q, want %q", tt.before, tt.now, got, tt.want)
		}
	}
	// What is too much to compare is told all the same.
	var before, now []string
	for i := range 5000 {
		before, now = append(before, fmt.Sprint("a", i)), append(now, fmt.Sprint("b", i))
	}
	if got := trust.Changes(before, now); len(got) != 10000 {
		t.Errorf("got %d lines, want all 10000", len(got))
	}
}
