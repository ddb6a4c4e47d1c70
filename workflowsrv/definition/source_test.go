package definition_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

func TestLayers(t *testing.T) {
	list := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	for _, c := range []struct {
		name   string
		layers definition.Layers
		want   []string
	}{
		{"nothing", definition.Layers{}, nil},
		{
			"all, from the weakest to the strongest",
			definition.Layers{Embedded: fstest.MapFS{}, Home: "/home/u", Project: "/p", Path: list("/a", "/b"), Dirs: []string{"/c"}},
			[]string{
				"embedded ", "user /home/u/.workrail/workflows", "user /home/u/.workbench/workflows",
				"project /p/workflows", "project /p/.workbench/workflows", "path /a", "path /b", "config /c",
			},
		},
		{"empty elements count for nothing", definition.Layers{Path: list("", "/a", " ", "")}, []string{"path /a"}},
		{
			"relative and ~",
			definition.Layers{Home: "/h", Project: "/p", Path: list("x", "~/y", "~z"), Dirs: []string{"./w/../v"}},
			[]string{
				"user /h/.workrail/workflows", "user /h/.workbench/workflows", "project /p/workflows", "project /p/.workbench/workflows",
				"path /p/x", "path /h/y", "path /p/~z", "config /p/v",
			},
		},
		{"twice counts where it is strongest", definition.Layers{Path: list("/a", "/b", "/a/"), Dirs: []string{"/b"}}, []string{"path /a", "config /b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, s := range c.layers.Sources() {
				got = append(got, string(s.Origin)+" "+filepath.ToSlash(s.Dir))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
