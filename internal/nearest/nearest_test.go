package nearest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/nearest"
)

func TestNames(t *testing.T) {
	known := []string{"development", "documents", "devices", "echo", "get-sum", "read_text_file"}
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"developmnet", []string{"development"}}, // neighbours swapped
		{"Documents", []string{"documents"}},
		{"ehco", []string{"echo"}},
		{"dev", []string{"devices", "development"}}, // contained in both, the fewer edits first
		{"text_file", []string{"read_text_file"}},
		{"zzzzzz", nil},
		{"", nil},
		{strings.Repeat("x", 10000), nil},
	} {
		got := nearest.Names(tt.name, known, 3)
		if !slices.Equal(got, tt.want) {
			t.Errorf("Names(%.20q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Of three characters one may differ, however many bytes they are.
func TestNamesBeyondASCII(t *testing.T) {
	for name, want := range map[string][]string{"日木语": {"日本语"}, "月木语": nil} {
		if got := nearest.Names(name, []string{"日本语"}, 3); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
