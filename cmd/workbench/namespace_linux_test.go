package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// In a namespace of processes that was made without a /proc of its own, numbers there are those of strangers: a server
// is ended all the same, and nobody else is waited for.
func TestForeignProc(t *testing.T) {
	cmd, fault := started(t, `{"toolboxes": {"box": {"mcpServers": {"s": {"command": "sh", "args": ["-c", "trap '' TERM; echo yes >up; while :; do sleep 60; done"], "cwd": "."}}}}}`, "tools")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Start(); errors.Is(err, fs.ErrPermission) {
		t.Skip("namespaces are not to be had here: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	awaitFile(t, filepath.Join(cmd.Dir, "up"))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 || fault.String() != "workbench: interrupted\n" {
		t.Errorf("got %v and %q, want exit code 130 and that it was interrupted", err, fault)
	}
}
