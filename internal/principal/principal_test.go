package principal_test

import (
	"reflect"
	"testing"

	"github.com/mcp-workbench/workbench/internal/principal"
)

func TestFrom(t *testing.T) {
	ctx := t.Context()
	if got, want := principal.From(ctx), (principal.Principal{Name: "default_user"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v for a context without a principal, want %+v", got, want)
	}
	want := principal.Principal{Name: "ci", Admin: true, Toolboxes: []string{"dev"}}
	if got := principal.From(principal.With(ctx, want)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMay(t *testing.T) {
	for name, tc := range map[string]struct {
		toolboxes []string
		want      bool
	}{
		"all":           {nil, true},
		"none":          {[]string{}, false},
		"the one":       {[]string{"docs", "dev"}, true},
		"another":       {[]string{"docs"}, false},
		"other letters": {[]string{"DEV"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (principal.Principal{Toolboxes: tc.toolboxes}).May("dev"); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
