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
		{strings.Repeat("a", 40), strings.Repeat("b", 40), "log", strings.Repeat("a", 40) + "__"},
	} {
		got := toolbox.ExposedName(tt.box, tt.server, tt.name)
		if !strings.HasPrefix(got, tt.want) || (got != tt.want && len(got) != len(tt.want)+11 && len(got) != 64) {
			t.Errorf("ExposedName(%q, %q, %q) = %q, want %q or that with a digest", tt.box, tt.server, tt.name, got, tt.want)
		}
	}
}

var clientName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func FuzzExposedName(f *testing.F) {
	for _, s := range [][6]string{
		{"a_", "b", "c", "a", "_b", "c"},
		{"a", "b__c", "d", "a__b", "c", "d"},
		{"", "a", "b__c", "a", "b", "c"},
		{"x y", "s", "t", "x-y", "s", "t"},
		{"a", "b", "", "a", "", "b"},
	} {
		f.Add(s[0], s[1], s[2], s[3], s[4], s[5])
	}
	f.Fuzz(func(t *testing.T, box1, srv1, name1, box2, srv2, name2 string) {
		one, two := toolbox.ExposedName(box1, srv1, name1), toolbox.ExposedName(box2, srv2, name2)
		if !clientName.MatchString(one) {
			t.Fatalf("ExposedName(%q, %q, %q) = %q, which clients refuse", box1, srv1, name1, one)
		}
		if box1 == "" || srv1 == "" || box2 == "" || srv2 == "" {
			return // the configuration has no empty names; the short forms share a space
		}
		if same := box1 == box2 && srv1 == srv2 && name1 == name2; same != (one == two) {
			t.Fatalf("(%q, %q, %q) and (%q, %q, %q) are named %q and %q", box1, srv1, name1, box2, srv2, name2, one, two)
		}
	})
}
