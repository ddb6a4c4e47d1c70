package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// An address reaches the browser as one argument, and only if it is one for browsers.
func TestBrowse(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("what opens addresses here is not found by PATH alone")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	script := "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > " + dir + "/opened\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"https://sso.example/a?b=c&d=%20":          "https://sso.example/a?b=c&d=%20",
		"https://sso.example/$(touch x)`id`;'&|\"": "https://sso.example/$%28touch%20x%29%60id%60;%27&%7C%22",
		"javascript:alert(1)":                      "",
		"file:///etc/passwd":                       "",
		"--version":                                "",
		"-https://sso.example/":                    "",
		"data:text/html,x":                         "",
		"https:":                                   "",
		"":                                         "",
	} {
		_ = os.Remove(dir + "/opened")
		env := &Environment{Environ: os.Environ()}
		err := Browse(t.Context(), env, address)
		opened, _ := os.ReadFile(dir + "/opened")
		if (err == nil) != (want != "") {
			t.Errorf("%q: got %v", address, err)
		}
		if got := strings.TrimPrefix(string(opened), "1\n"); strings.TrimSuffix(got, "\n") != want {
			t.Errorf("%q: opened %q, want %q alone", address, opened, want)
		}
	}
}
