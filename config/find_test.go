package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
)

func TestFind(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) string { return filepath.Join(root, filepath.FromSlash(path)) }
	for _, path := range []string{"work/workbench-config.json", "work/below/it/file", "xdg/workbench/workbench-config.json",
		"home/.config/workbench/workbench-config.json", "work/named.yaml", "variable.json",
		"repo/.git/HEAD", "repo/workbench-config.json", "repo/a/b/file", "repo/near/workbench-config.json", "repo/near/c/file",
		"repo/sub/.git", "repo/sub/d/file", "home/.config/file"} {
		write(t, at(path), "{}")
	}
	if err := os.Symlink(at("repo/a"), at("work/link")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name       string
		named, dir string
		env        map[string]string
		want       config.Places // relative to root
		err        string        // a piece of the error
	}{
		{name: "named before all", named: at("work/named.yaml"), dir: "work",
			env:  map[string]string{"WORKBENCH_CONFIG": at("variable.json"), "XDG_CONFIG_HOME": at("xdg")},
			want: config.Places{Named: "work/named.yaml", Searched: []string{"work/named.yaml"}}},
		{name: "named from dir", named: "named.yaml", dir: "work",
			want: config.Places{Named: "work/named.yaml", Searched: []string{"work/named.yaml"}}},
		{name: "named and missing", named: "none.json", dir: "work",
			want: config.Places{Searched: []string{"work/none.json"}}, err: "configuration: "},
		{name: "variable", dir: "work", env: map[string]string{"WORKBENCH_CONFIG": at("variable.json")},
			want: config.Places{Named: "variable.json", Searched: []string{"variable.json"}}},
		{name: "variable and missing", dir: "work", env: map[string]string{"WORKBENCH_CONFIG": at("none.json")},
			want: config.Places{Searched: []string{"none.json"}}, err: "configuration named by WORKBENCH_CONFIG: "},
		{name: "empty variable", dir: "work", env: map[string]string{"WORKBENCH_CONFIG": ""},
			want: config.Places{Project: "work/workbench-config.json", Searched: []string{"work/workbench-config.json"}}},
		{name: "the user's and the project's", dir: "work", env: map[string]string{"XDG_CONFIG_HOME": at("xdg")},
			want: config.Places{User: "xdg/workbench/workbench-config.json", Project: "work/workbench-config.json",
				Searched: []string{"work/workbench-config.json", "xdg/workbench/workbench-config.json"}}},
		{name: "not above without a repository", dir: "work/below/it", want: config.Places{Searched: []string{"work/below/it/workbench-config.json"}}},
		{name: "above, up to the root of the repository", dir: "repo/a/b", want: config.Places{Project: "repo/workbench-config.json",
			Searched: []string{"repo/a/b/workbench-config.json", "repo/a/workbench-config.json", "repo/workbench-config.json"}}},
		{name: "the nearest", dir: "repo/near/c", want: config.Places{Project: "repo/near/workbench-config.json",
			Searched: []string{"repo/near/c/workbench-config.json", "repo/near/workbench-config.json"}}},
		{name: "not above the root, which may be that of a submodule", dir: "repo/sub/d",
			want: config.Places{Searched: []string{"repo/sub/d/workbench-config.json", "repo/sub/workbench-config.json"}}},
		{name: "above where a link leads", dir: "work/link", want: config.Places{Project: "repo/workbench-config.json",
			Searched: []string{"repo/a/workbench-config.json", "repo/workbench-config.json"}}},
		{name: "the user's own is no project's", dir: "xdg/workbench", env: map[string]string{"XDG_CONFIG_HOME": at("xdg")},
			want: config.Places{User: "xdg/workbench/workbench-config.json",
				Searched: []string{"xdg/workbench/workbench-config.json", "xdg/workbench/workbench-config.json"}}},
		{name: "relative XDG_CONFIG_HOME is none", dir: "home", env: map[string]string{"XDG_CONFIG_HOME": "xdg", "HOME": at("home")},
			want: config.Places{User: "home/.config/workbench/workbench-config.json",
				Searched: []string{"home/workbench-config.json", "home/.config/workbench/workbench-config.json"}}},
		{name: "HOME", dir: "home", env: map[string]string{"HOME": at("home")},
			want: config.Places{User: "home/.config/workbench/workbench-config.json",
				Searched: []string{"home/workbench-config.json", "home/.config/workbench/workbench-config.json"}}},
		{name: "nowhere", dir: "home", env: map[string]string{"HOME": at("xdg")},
			want: config.Places{Searched: []string{"home/workbench-config.json", "xdg/.config/workbench/workbench-config.json"}}},
		{name: "home is no folder", dir: "home", env: map[string]string{"HOME": at("variable.json")},
			want: config.Places{Searched: []string{"home/workbench-config.json", "variable.json/.config/workbench/workbench-config.json"}}},
		{name: "nowhere and no home", dir: "home", want: config.Places{Searched: []string{"home/workbench-config.json"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.dir == "work/link" && runtime.GOOS == "windows" {
				t.Skip("links need rights")
			}
			got, err := config.Find(tt.named, at(tt.dir), func(name string) (string, bool) {
				value, ok := tt.env[name]
				return value, ok
			})
			want := tt.want
			for _, path := range []*string{&want.Named, &want.User, &want.Project} {
				if *path != "" {
					*path = at(*path)
				}
			}
			want.Searched = nil
			for _, path := range tt.want.Searched {
				want.Searched = append(want.Searched, at(path))
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
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
	got, err := config.Find("", t.TempDir(), func(name string) (string, bool) {
		if name == "XDG_CONFIG_HOME" {
			return long, true
		}
		return "", false
	})
	if got.User != "" || len(got.Searched) != 2 || err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %+v and error %v, want no file, two places and an error", got, err)
	}
}
