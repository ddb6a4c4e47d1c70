package config_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	at := func(path string) string { return filepath.Join(root, filepath.FromSlash(path)) }
	for _, path := range []string{"work/workbench-config.json", "xdg/workbench/workbench-config.json",
		"home/.config/workbench/workbench-config.json", "work/named.yaml", "variable.json"} {
		write(t, at(path), "{}")
	}
	for _, tt := range []struct {
		name       string
		named, dir string
		env        map[string]string
		want       string // relative to root; "" for none
		searched   []string
		err        string // a piece of the error
	}{
		{name: "named before all", named: at("work/named.yaml"), dir: at("work"),
			env:  map[string]string{"WORKBENCH_CONFIG": at("variable.json"), "XDG_CONFIG_HOME": at("xdg")},
			want: "work/named.yaml", searched: []string{"work/named.yaml"}},
		{name: "named from dir", named: "named.yaml", dir: at("work"), want: "work/named.yaml", searched: []string{"work/named.yaml"}},
		{name: "named and missing", named: "none.json", dir: at("work"), searched: []string{"work/none.json"}, err: "configuration: "},
		{name: "variable", dir: at("work"), env: map[string]string{"WORKBENCH_CONFIG": at("variable.json")},
			want: "variable.json", searched: []string{"variable.json"}},
		{name: "variable and missing", dir: at("work"), env: map[string]string{"WORKBENCH_CONFIG": at("none.json")},
			searched: []string{"none.json"}, err: "configuration named by WORKBENCH_CONFIG: "},
		{name: "empty variable", dir: at("work"), env: map[string]string{"WORKBENCH_CONFIG": ""},
			want: "work/workbench-config.json", searched: []string{"work/workbench-config.json"}},
		{name: "dir", dir: at("work"), env: map[string]string{"XDG_CONFIG_HOME": at("xdg")},
			want: "work/workbench-config.json", searched: []string{"work/workbench-config.json"}},
		{name: "XDG_CONFIG_HOME", dir: at("home"), env: map[string]string{"XDG_CONFIG_HOME": at("xdg"), "HOME": at("home")},
			want:     "xdg/workbench/workbench-config.json",
			searched: []string{"home/workbench-config.json", "xdg/workbench/workbench-config.json"}},
		{name: "relative XDG_CONFIG_HOME is none", dir: at("home"), env: map[string]string{"XDG_CONFIG_HOME": "xdg", "HOME": at("home")},
			want:     "home/.config/workbench/workbench-config.json",
			searched: []string{"home/workbench-config.json", "home/.config/workbench/workbench-config.json"}},
		{name: "HOME", dir: at("home"), env: map[string]string{"HOME": at("home")},
			want:     "home/.config/workbench/workbench-config.json",
			searched: []string{"home/workbench-config.json", "home/.config/workbench/workbench-config.json"}},
		{name: "nowhere", dir: at("home"), env: map[string]string{"HOME": at("xdg")},
			searched: []string{"home/workbench-config.json", "xdg/.config/workbench/workbench-config.json"}},
		{name: "home is no folder", dir: at("home"), env: map[string]string{"HOME": at("variable.json")},
			searched: []string{"home/workbench-config.json", "variable.json/.config/workbench/workbench-config.json"}},
		{name: "nowhere and no home", dir: at("home"), searched: []string{"home/workbench-config.json"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, searched, err := config.Find(tt.named, tt.dir, func(name string) (string, bool) {
				value, ok := tt.env[name]
				return value, ok
			})
			want := ""
			if tt.want != "" {
				want = at(tt.want)
			}
			if got != want {
				t.Errorf("got path %q, want %q", got, want)
			}
			var wantSearched []string
			for _, path := range tt.searched {
				wantSearched = append(wantSearched, at(path))
			}
			if !slices.Equal(searched, wantSearched) {
				t.Errorf("got searched %q, want %q", searched, wantSearched)
			}
			switch {
			case tt.err == "" && err != nil:
				t.Errorf("got error %v, want none", err)
			case tt.err != "" && (!errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), tt.err)):
				t.Errorf("got error %v, want one of a missing file that begins %q", err, tt.err)
			}
		})
	}
}

// TestFindUnreadable checks that a place that cannot be looked at is told, and not taken for an empty one.
func TestFindUnreadable(t *testing.T) {
	long := string(filepath.Separator) + strings.Repeat("x", 300) // more than a file system allows in one name
	path, searched, err := config.Find("", t.TempDir(), func(name string) (string, bool) {
		if name == "XDG_CONFIG_HOME" {
			return long, true
		}
		return "", false
	})
	if path != "" || len(searched) != 2 || err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got path %q, searched %q and error %v, want none, two places and an error", path, searched, err)
	}
}
