package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

// Who sends what is printed to a full disk hears that it is not there, whatever the command is, and is not told that all
// went well.
func TestOutputIsLost(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"workbench-config.json": `{"toolboxes":{"one":{"mcpServers":{"a":{"builtin":"workflow"}}}}}`,
		"client.json":           `{"mcpServers":{"b":{"command":"x"}}}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range []string{
		"--help", "help add", "add --help", "version", "--version", "check", "check --json", "doctor",
		"add c --config workbench-config.json -- x", "disable a --config workbench-config.json", "enable a --config workbench-config.json",
		"remove c --config workbench-config.json", "import client.json --config workbench-config.json",
		"tools", "tools one/a/workflow_list", "tools one --json", "call one/a/workflow_list", "index",
		"workflow list", "runs list", "runs list --json", "conversations list", "token list", "secret list",
		"completion bash",
	} {
		var errs bytes.Buffer
		env := []string{"HOME=" + t.TempDir(), "WORKBENCH_CONFIG=workbench-config.json", "PATH=" + os.Getenv("PATH")}
		if code := run(t.Context(), strings.Fields(args), cli.Streams{In: strings.NewReader(""), Out: full, Err: &errs}, env); code != cli.ExitFault || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("workbench %s: got exit code %d and %s", args, code, &errs)
		}
	}
}

// Whose export does not find room where it goes is not told to have the store elsewhere.
func TestExportIsLost(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	var errs bytes.Buffer
	workbench := func(out io.Writer, args ...string) int {
		return run(t.Context(), args, cli.Streams{In: strings.NewReader(`{"workbench":"conversations"}`), Out: out, Err: &errs}, []string{"HOME=" + dir})
	}
	_ = workbench(io.Discard, "runs", "import", "-") // which makes a store, whatever it says
	errs.Reset()
	if code := workbench(full, "conversations", "export"); code != cli.ExitFault || !strings.Contains(errs.String(), "no space left on device") || strings.Contains(errs.String(), `"store"`) {
		t.Errorf("got exit code %d and %s", code, &errs)
	}
}
