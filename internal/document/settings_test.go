package document

import (
	"strconv"
	"strings"
	"testing"
)

// What is written in one language is read as in another, with the line of each value.
func TestReadSettings(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, want, lines string }{
		"JSON with comments": {"mcp.json", "\xef\xbb\xbf// servers\n{\n  /* of mine */ \"a\": {\n    \"b\": [1, \"x\", true, null,],\n  },\n}\n",
			`{"a":{"b":[1,"x",true,null]}}`, "a:3 b:4"},
		"without an ending": {"", "// x\n{\"a\": 1}", `{"a":1}`, "a:2"},
		"YAML":              {"config.yaml", "a:\n  b: [1, x, true, null]\n", `{"a":{"b":[1,"x",true,null]}}`, "a:1 b:2"},
		"TOML": {"config.toml", "# of mine\ntop = 'x'\n[a]\nb = [1, \"x\", # one\n  true]\nc = { d = 1.5, e.f = \"g\" }\nh.i = 2024-01-01\n\n[a.sub]\nk = 0x10\n[[list]]\nname = \"one\"\n[[list]]\nname = \"two\"\n[list.inner]\nz = \"\"\"\nlong\"\"\"\n",
			`{"top":"x","a":{"b":[1,"x",true],"c":{"d":1.5,"e":{"f":"g"}},"h":{"i":"2024-01-01"},"sub":{"k":16}},"list":[{"name":"one"},{"name":"two","inner":{"z":"long"}}]}`,
			"top:2 a:3 b:4 c:6 d:6 e:6 f:6 h:7 i:7 sub:9 k:10 list:11 name:12 name:14 inner:15 z:16"},
		"TOML with a quoted table": {"c.toml", "[mcp_servers.\"a.b\"]\ncommand = \"x\"\n", `{"mcp_servers":{"a.b":{"command":"x"}}}`, "mcp_servers:1 a.b:1 command:2"},
	} {
		t.Run(name, func(t *testing.T) {
			var fs Faults
			n := ReadSettings(tt.file, []byte(tt.text), &fs)
			if len(fs) > 0 || n == nil {
				t.Fatalf("got faults %v", fs)
			}
			if got := string(n.AppendJSON(nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := strings.Join(lines(n), " "); got != tt.lines {
				t.Errorf("lines: got %s, want %s", got, tt.lines)
			}
		})
	}
}

// lines are the keys of a document with their lines.
func lines(n *Node) (list []string) {
	for _, m := range n.Members {
		list = append(list, m.Key+":"+strconv.Itoa(m.Line))
		list = append(list, lines(m.Value)...)
	}
	for _, item := range n.Items {
		list = append(list, lines(item)...)
	}
	return list
}

func TestSettingsFaults(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, want string }{
		"empty":          {"a.json", " \n", "1:1: the file is empty"},
		"open bracket":   {"a.json", "{\n\"a\": [", "2:7: not valid JSON: the file ends within it"},
		"a secret":       {"a.json", "{\"token\": \"ghp_\\q\"}", "1:11: not valid JSON: a string with an escape"},
		"deep":           {"a.json", strings.Repeat("[", 1<<20), "1:101: nested deeper than 100 levels"},
		"key twice":      {"a.json", "{\"a\": 1,\n\"a\": 2}", "2:1: key \"a\" occurs twice"},
		"TOML key twice": {"a.toml", "a = 1\na = 2", "not valid TOML"},
		"TOML":           {"a.toml", "a = 1\nb = \n", "2:"},
		"TOML deep":      {"a.toml", "a = " + strings.Repeat("[", 1<<20), "not valid TOML"},
		"YAML":           {"a.yaml", "a: [", "not valid YAML"},
		"too big":        {"a.json", strings.Repeat(" ", MaxSettings+1), "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			var fs Faults
			ReadSettings(tt.file, []byte(tt.text), &fs)
			if len(fs) != 1 || !strings.Contains(fs[0].String(), tt.want) {
				t.Errorf("got %v, want one fault with %q", fs, tt.want)
			}
		})
	}
}
