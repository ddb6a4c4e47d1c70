package child_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/mcp-workbench/workbench/internal/child"
)

// asEcho in the environment has this program print its arguments, and then its command line.
const asEcho = "WORKBENCH_TEST_ECHO"

func TestMain(m *testing.M) {
	if os.Getenv(asEcho) != "" {
		_ = json.NewEncoder(os.Stdout).Encode(append(os.Args[1:], windows.UTF16PtrToString(syscall.GetCommandLine())))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// What a batch file gets as its arguments is what was meant, as it is for a program, and nothing of it is run.
func TestArgumentsOfBatchFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder & more")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	batch := filepath.Join(dir, "tool.cmd")
	if err := os.WriteFile(batch, []byte("@\""+os.Args[0]+"\" %*\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"plain", "two words", "", "https://host/x?a=1&b=2", "a|b", "<in", ">out", "(x)", "c^d", "e!f", "x;y,z=1",
		`C:\folder\`, `C:\a b\`, "ü€", "-y", "@scope/pkg@1.2.3", "'single'", "`tick`", "~", "*"}
	if os.Getenv("WINEPREFIX") == "" {
		args = append(args, "100%PATH%", "%", "%cd%") // Wine reads them twice
	}
	for _, command := range []string{batch, "tool", batch + " .", "TOOL.CMD"} {
		env := append(os.Environ(), asEcho+"=1", "PATH="+dir)
		p, err := child.Start(child.Spec{Command: command, Args: args, Env: slices.DeleteFunc(env, func(kv string) bool {
			return strings.HasPrefix(kv, "PATH=") && kv != "PATH="+dir
		})})
		if err != nil {
			t.Fatal(err)
		}
		out, _ := io.ReadAll(p.Stdout())
		_ = p.Stop(t.Context(), child.Grace{EOF: time.Second, Term: time.Second})
		var got []string
		if err := json.Unmarshal(out, &got); err != nil || len(got) == 0 || !slices.Equal(got[:len(got)-1], args) {
			t.Errorf("%s: got %q, %v, want %q; it wrote %v", command, got, err, args, p.Tail())
		}
	}
	// A quotation mark is written as programs of C have read it since 2015. Those of Go read it in an older way.
	p, err := child.Start(child.Spec{Command: batch, Args: []string{`{"a":"b & c"}`, `\"\`}, Env: append(os.Environ(), asEcho+"=1")})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(p.Stdout())
	_ = p.Stop(t.Context(), child.Grace{})
	var got []string
	if err := json.Unmarshal(out, &got); err != nil || !strings.HasSuffix(strings.TrimSpace(got[len(got)-1]), `"{""a"":""b & c""}" "\\""\\"`) {
		t.Errorf("quotation marks: got %q, %v", got, err)
	}
	if _, err := child.Start(child.Spec{Command: batch, Args: []string{"a\r\nb"}, Env: os.Environ()}); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("a line break: got %v, want that it is refused", err)
	}
}

// The variable that programs are looked for in is Path on most systems, and it is the one that is asked for as PATH.
func TestNamesOfVariables(t *testing.T) {
	if got, ok := child.Getenv([]string{"Path=C:\\here"}, "PATH"); !ok || got != `C:\here` {
		t.Errorf("got %q, %v", got, ok)
	}
}
