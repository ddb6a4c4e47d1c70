package main

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// replaceable returns a command that serves a toolbox from a copy of the program, which may be taken away, and that
// copy.
func replaceable(t *testing.T) (cmd *exec.Cmd, program string) {
	t.Helper()
	cmd, _ = started(t, `{"codeMode": true, "openTimeout": "5s", "toolboxes": {"box": {"mcpServers": {"s": {"builtin": "workflow"}, "p": {"command": "sh", "args": ["-c", "exit 1"]}}}}}`)
	program = filepath.Join(t.TempDir(), "workbench")
	do(t, exec.Command("cp", wiretest.Program("workbench"), program).Run())
	cmd.Path, cmd.Args[0] = program, program
	return cmd, program
}

// answers says lines to a program that it starts, and returns the last answer. meanwhile is called after the first.
func answers(t *testing.T, cmd *exec.Cmd, meanwhile func(), lines ...string) (said string) {
	t.Helper()
	in, err := cmd.StdinPipe()
	do(t, err)
	out, err := cmd.StdoutPipe()
	do(t, err)
	if err := cmd.Start(); errors.Is(err, fs.ErrPermission) {
		t.Skip("no namespaces may be made here: ", err)
	} else {
		do(t, err)
	}
	lineOf := bufio.NewReader(out)
	for i, line := range lines {
		_, err := in.Write([]byte(line + "\n"))
		do(t, err)
		for said = ""; !strings.Contains(said, `"result":`); { // which is no notification
			said, err = lineOf.ReadString('\n')
			do(t, err)
		}
		if i == 0 {
			meanwhile()
		}
	}
	in.Close()
	_ = cmd.Wait()
	return said
}

const (
	initializes = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	runsScript  = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_run_script","arguments":{"code":"'it is ' + (20 + 1)"}}}`
	opensBox    = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}}`
)

// A script is run by the very program that runs, whatever was installed over it since, or took its place.
func TestScriptAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(program string) error{
		"removed":  os.Remove,
		"replaced": func(program string) error { return os.Rename(copyOf(t, "/bin/true"), program) },
	} {
		cmd, program := replaceable(t)
		said := answers(t, cmd, func() { do(t, change(program)) }, initializes, runsScript)
		if !strings.Contains(said, "it is 21") {
			t.Errorf("%s: got %s", name, said)
		}
	}
}

// copyOf returns the path of a copy of a program.
func copyOf(t *testing.T, program string) string {
	path := filepath.Join(t.TempDir(), "copy")
	do(t, exec.Command("cp", program, path).Run()) // a file that we write cannot be run while another process starts
	return path
}

// A script needs no folder for what is temporary.
func TestScriptWithoutTemporaries(t *testing.T) {
	t.Parallel()
	cmd, _ := replaceable(t)
	cmd.Env = append(cmd.Env, "TMPDIR=/no/such/folder")
	if said := answers(t, cmd, func() {}, initializes, runsScript); !strings.Contains(said, "it is 21") {
		t.Errorf("got %s", said)
	}
}

// Where the system cannot start the very program that runs, who wants a server is told that it was replaced.
func TestServersAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("sh")
	do(t, err)
	for name, change := range map[string]func(program string) error{
		"removed":  os.Remove,
		"replaced": func(program string) error { return os.Rename(copyOf(t, "/bin/true"), program) },
	} {
		cmd, program := replaceable(t)
		cmd.Args = append([]string{"sh", "-c", `mount -t tmpfs none /proc && exec "$0" "$@"`}, cmd.Args...)
		cmd.Path = path
		cmd.SysProcAttr = ownProcesses()
		said := answers(t, cmd, func() { do(t, change(program)) }, initializes, opensBox)
		if !strings.Contains(said, program+" was replaced or removed since workbench started; start workbench again") {
			t.Errorf("%s: got %s", name, said)
		}
	}
}
