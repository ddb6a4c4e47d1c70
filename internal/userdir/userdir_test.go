package userdir

import (
	"path/filepath"
	"testing"
)

func TestHome(t *testing.T) {
	abs, other := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for _, tt := range []struct{ home, profile, want string }{
		{abs, other, abs}, {"", other, other}, {"~", other, other}, {abs, "", abs},
		{"", "", ""}, {"~", "", ""}, {".", "sub", ""}, {"sub/folder", "", ""},
	} {
		vars := map[string]string{"HOME": tt.home, "USERPROFILE": tt.profile}
		got := Home(func(name string) (string, bool) { value, set := vars[name]; return value, set })
		if got != tt.want {
			t.Errorf("HOME %q, USERPROFILE %q: got %q, want %q", tt.home, tt.profile, got, tt.want)
		}
	}
}
