//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// started runs the program as a process of its own.
func started(t *testing.T, config string, args ...string) (cmd *exec.Cmd, fault *bytes.Buffer) {
	t.Helper()
	dir, fault := t.TempDir(), new(bytes.Buffer)
	path := filepath.Join(dir, "workbench-config.json")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self, append(args, "--config", path)...)
	cmd.Env = append(os.Environ(), asProgram+"=yes", "HOME="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr, cmd.Dir = fault, dir
	return cmd, fault
}

// awaitFile waits until there is a file that holds something.
func awaitFile(t *testing.T, path string) string {
	t.Helper()
	for end := time.Now().Add(late); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if text, _ := os.ReadFile(path); len(text) > 0 {
			return string(text)
		}
	}
	t.Fatalf("%s was not written", path)
	return ""
}

// Who interrupts a command is told that, in the exit code too.
func TestFaultU15_Interrupt(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"tools"}, {"call", "box/s/x"}} {
		cmd, fault := started(t, `{"toolboxes": {"box": {"mcpServers": {"s": {"command": "sh", "args": ["-c", "echo yes >up; exec sleep 60"], "cwd": "."}}}}}`, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		interrupt(t, cmd, fault)
	}
}

// interrupt interrupts a command whose server has written the file up, and wants it to end as it should.
func interrupt(t *testing.T, cmd *exec.Cmd, fault *bytes.Buffer) {
	t.Helper()
	awaitFile(t, filepath.Join(cmd.Dir, "up"))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 || fault.String() != "workbench: interrupted\n" {
		t.Errorf("%q: got %v and %q, want exit code 130 and that it was interrupted", cmd.Args[1:], err, fault)
	}
}

// The same holds for a command that reads standard input and waits for more of it.
func TestInterruptInput(t *testing.T) {
	for _, args := range [][]string{
		{"call", "box/s/workflow_list", "-"}, {"secret", "set", "X", "--file"}, {"workflow", "validate", "-"},
		{"workflow", "judge", "find-bug", "state-bug"}, {"workflow", "walk", "find-bug"}, {"commands", "chat", "example"},
	} {
		cmd, fault := started(t, `{"toolboxes": {"box": {"mcpServers": {"s": {"builtin": "workflow"}}}}}`, args...)
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		defer out.Close()
		cmd.Stdin = in
		if _, err := out.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		unread := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
		end := time.Now().Add(late)
		for n := 1; n != 0; time.Sleep(5 * time.Millisecond) { // until the command has read the one letter
			if n, err = unix.Poll(unread, 0); err != nil || time.Now().After(end) {
				t.Fatalf("%s: it does not read: %v", args, err)
			}
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 || !strings.HasSuffix(fault.String(), "workbench: interrupted\n") {
			t.Errorf("%s: got %v and %q, want exit code 130 and that it was interrupted", args, err, fault)
		}
	}
}

// A log file that was moved away is followed by a new one at SIGHUP.
func TestFaultU19_LogRotation(t *testing.T) {
	cmd, fault := started(t, `{"toolboxes": {}}`, "serve", "--log-level", "debug", "--log-file", "log")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, greeting+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it takes hangups now
		t.Fatal(err)
	}
	log := filepath.Join(cmd.Dir, "log")
	hup := func(want string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(cmd.Dir, "workbench-config.json"), []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	hup(`{"toolboxes": {"a": {"mcpServers": {}}}}`)
	awaitFile(t, log)
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	hup(`{"toolboxes": {"b": {"mcpServers": {}}}}`)
	if got := awaitFile(t, log); !strings.Contains(got, "configuration reloaded") {
		t.Errorf("got %q in the new file, want the reload", got)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("got %v: %s", err, fault)
	}
}
