package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// In a namespace of processes that was made without a /proc of its own, numbers there are those of strangers; in a bare
// one there may be no /proc. Servers are started and ended all the same, and nobody else is waited for.
func TestForeignProc(t *testing.T) {
	t.Parallel()
	for name, wrapper := range map[string][]string{
		"that of others": nil,
		"none":           {"sh", "-c", `mount -t tmpfs none /proc && exec "$0" "$@"`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, fault := started(t, `{"toolboxes": {"box": {"mcpServers": {"s": {"command": "sh", "args": ["-c", "trap '' TERM; echo yes >up; while :; do sleep 60; done"], "cwd": "."}}}}}`, "tools")
			cmd.Path = wiretest.Program("workbench") // what watches for races wants a /proc
			cmd.Args[0] = cmd.Path
			if wrapper != nil {
				path, err := exec.LookPath(wrapper[0])
				do(t, err)
				cmd.Path, cmd.Args = path, append(wrapper, cmd.Args...)
			}
			cmd.SysProcAttr = ownProcesses()
			if err := cmd.Start(); errors.Is(err, fs.ErrPermission) {
				t.Skip("no namespaces may be made here: ", err)
			} else if err != nil {
				t.Fatal(err)
			}
			interrupt(t, cmd, fault)
		})
	}
}

// ownProcesses has a program run in namespaces of its own, of processes and of mounts.
func ownProcesses() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 { // who may make namespaces in one of users
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}
