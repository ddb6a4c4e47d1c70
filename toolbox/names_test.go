package toolbox_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/toolbox"
)

func unmarshal(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatal(err)
	}
}

func TestExposedName(t *testing.T) {
	for _, tt := range []struct{ box, server, name, want string }{
		{"dev", "git", "log", "dev__git__log"},
		{"", "git", "log", "git__log"},
		{"", "", "log", "log"},
		{"dev", "git", "a__b", "dev__git__a__b"},
		{"dev", "git", "_x", "dev__git___x"},
		{"my dev", "git", "log", "my_dev__git__log"},
		{"dev", "git", "ns/tool.name", "dev__git__ns_tool_name"},
		{"dev", "größe", "日本語", "dev__gr_e___"},
		{"dev_", "git", "log", "dev___git__log"},
		{"dev", "git", "log_0123456789", "dev__git__log_0123456789"},
		{strings.Repeat("a", 40), strings.Repeat("b", 40), "log", strings.Repeat("a", 37) + "_"},
	} {
		got := toolbox.ExposedName(tt.box, tt.server, tt.name)
		if !strings.HasPrefix(got, tt.want) || (got != tt.want && len(got) != len(tt.want)+11 && len(got) != 48) {
			t.Errorf("ExposedName(%q, %q, %q) = %q, want %q or that with a digest", tt.box, tt.server, tt.name, got, tt.want)
		}
	}
}

// No server and no tool is too long for the 64 characters that models take, whatever clients put before it.
func TestFaultH7_RoomForClientsPrefix(t *testing.T) {
	const long = "desktop-commander_and_a_name_that_goes_on"
	for _, tt := range [][3]string{
		{"local", "desktop-commander", "give_feedback_to_desktop_commander"},
		{"", "desktop-commander", "give_feedback_to_desktop_commander"},
		{long, "a", "b"}, {"a", long, "b"}, {"", "", long + long}, {long, long, long}, {"é" + long, long, "ü" + long},
	} {
		name := "mcp__workbench__" + toolbox.ExposedName(tt[0], tt[1], tt[2])
		if len(name) > 64 {
			t.Errorf("%q is seen as %s of %d characters, want at most 64", tt, name, len(name))
		}
	}
}

// With mcp__workbench__ before it, which clients put there, a name has 64 characters.
var clientName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,48}$`)

func FuzzExposedName(f *testing.F) {
	for _, s := range [][6]string{
		{"a_", "b", "c", "a", "_b", "c"},
		{"a", "b__c", "d", "a__b", "c", "d"},
		{"", "a", "b__c", "a", "b", "c"},
		{"x y", "s", "t", "x-y", "s", "t"},
		{"a", "b", "", "a", "", "b"},
		{"tb", "fs!", "key", "tb", "fs", "_key_8156123bab"},
	} {
		f.Add(s[0], s[1], s[2], s[3], s[4], s[5])
	}
	f.Fuzz(func(t *testing.T, box1, srv1, name1, box2, srv2, name2 string) {
		one, two := toolbox.ExposedName(box1, srv1, name1), toolbox.ExposedName(box2, srv2, name2)
		if !clientName.MatchString(one) {
			t.Fatalf("ExposedName(%q, %q, %q) = %q, which clients refuse", box1, srv1, name1, one)
		}
		if prefix := toolbox.ExposedPrefix(box1, srv1); !strings.HasPrefix(one, prefix) {
			t.Fatalf("ExposedName(%q, %q, %q) = %q, want it to begin with %q", box1, srv1, name1, one, prefix)
		}
		if box1 == "" || srv1 == "" || box2 == "" || srv2 == "" {
			return // the configuration has no empty names; the short forms share a space
		}
		if same := box1 == box2 && srv1 == srv2 && name1 == name2; same != (one == two) {
			t.Fatalf("(%q, %q, %q) and (%q, %q, %q) are named %q and %q", box1, srv1, name1, box2, srv2, name2, one, two)
		}
	})
}
