package envfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/envfile"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []envfile.Var // nil if there is to be an error
	}{
		{"nothing", "", []envfile.Var{}},
		{"comments and empty lines", "# a\n\n  # b\n \t\n", []envfile.Var{}},
		{"plain", "A=b", []envfile.Var{{Name: "A", Value: "b"}}},
		{"spaces", "  A =  b c  \r\nB=\r\n", []envfile.Var{{Name: "A", Value: "b c"}, {Name: "B"}}},
		{"byte order mark", "\ufeffA=b", []envfile.Var{{Name: "A", Value: "b"}}},
		{"comment behind", "A=b # c\nB=b#c\nC=#c\nD=b\t# c", []envfile.Var{{Name: "A", Value: "b"}, {Name: "B", Value: "b#c"}, {Name: "C"}, {Name: "D", Value: "b"}}},
		{"export", "export A=b\nexported=1", []envfile.Var{{Name: "A", Value: "b"}, {Name: "exported", Value: "1"}}},
		{"equal signs", "A=b=c==", []envfile.Var{{Name: "A", Value: "b=c=="}}},
		{"single quotes", `A='b # "c" \n $D'  # e`, []envfile.Var{{Name: "A", Value: `b # "c" \n $D`}}},
		{"double quotes", `A="b # 'c' \"d\" \\ \n\t\x $E"`, []envfile.Var{{Name: "A", Value: "b # 'c' \"d\" \\ \n\t\\x $E"}}},
		{"several lines", "A=\"b\nc=d\n\"\nE='f\ng'\nH=i", []envfile.Var{{Name: "A", Value: "b\nc=d\n"}, {Name: "E", Value: "f\ng"}, {Name: "H", Value: "i"}}},
		{"no variables are put in", "A=b\nC=${A}$A", []envfile.Var{{Name: "A", Value: "b"}, {Name: "C", Value: "${A}$A"}}},
		{"name alone", "A\nexport B", []envfile.Var{{Name: "A", Inherited: true}, {Name: "B", Inherited: true}}},
		{"odd names", "a.b-c=1\n1=2", []envfile.Var{{Name: "a.b-c", Value: "1"}, {Name: "1", Value: "2"}}},
		{"no name", "=b", nil},
		{"a sentence", "this is no variable", nil},
		{"a quote in the name", `"A"=b`, nil},
		{"open quote", "A=\"b\nC=d", nil},
		{"text behind a quote", `A="b" c`, nil},
		{"zero byte", "A=b\x00c", nil},
		{"zero byte in quotes", "A='b\x00c'", nil},
		{"not UTF-8", "A=\xff", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := envfile.Parse([]byte(tt.text))
			if (err == nil) != (tt.want != nil) || !slices.Equal(got, tt.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func TestErrorsSayTheLineAndNoValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".env")
	for text, want := range map[string]string{
		"A=1\nB=\"x\ny\"\nC=\"canary": path + ":4: want a closing",
		"A=1\ncanary canary=b":        path + ":2: want a line",
		"A='b' canary":                path + ":1: want the end of the line",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := envfile.Read(path)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: got error %v, want %s… without the value", text, err, want)
		}
	}
	if _, err := envfile.Read(filepath.Dir(path)); err == nil {
		t.Error("a folder: got no error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("A=b\nexport C='d'\nE=\"f\ng\" # h\nI"))
	f.Fuzz(func(t *testing.T, data []byte) {
		vars, err := envfile.Parse(data)
		if err != nil {
			return
		}
		for _, v := range vars {
			if v.Name == "" || strings.ContainsAny(v.Name, "=\x00 ") || strings.ContainsRune(v.Value, 0) {
				t.Errorf("got %q=%q, which no program can be given", v.Name, v.Value)
			}
		}
	})
}
