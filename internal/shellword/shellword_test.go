package shellword

import (
	"os/exec"
	"runtime"
	"testing"
)

func TestWord(t *testing.T) {
	for _, tt := range []struct{ text, unix, windows string }{
		{"plain", "plain", "plain"},
		{"", "''", `""`},
		{"a/b-c_d.e:@=,+", "a/b-c_d.e:@=,+", "a/b-c_d.e:@=,+"},
		{"my box", "'my box'", `"my box"`},
		{`C:\Users\me`, `'C:\Users\me'`, `C:\Users\me`},
		{"it's", `'it'\''s'`, `"it's"`},
		{`{"a":1}`, `'{"a":1}'`, `"{\"a\":1}"`},
		{"é", "'é'", `"é"`},
	} {
		if got := word(tt.text, "linux"); got != tt.unix {
			t.Errorf("%q: got %s, want %s", tt.text, got, tt.unix)
		}
		if got := word(tt.text, "windows"); got != tt.windows {
			t.Errorf("%q on Windows: got %s, want %s", tt.text, got, tt.windows)
		}
	}
}

// What is written is one word, and nothing of it is run.
func TestShellReadsIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	for _, text := range []string{"$(id)", "`id`", "a;b", "a&b", "a|b", "~", "*", "!x", "a\\b", "'", `"`, "a\nb", "#x", "", "$HOME"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Word(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q: a shell reads %q, %v", text, out, err)
		}
	}
	if got := Line("workbench", "tools", "my box"); got != "workbench tools 'my box'" {
		t.Errorf("got %s", got)
	}
}
