package pgtest

import (
	"os"
	"os/exec"
)

// quitSignal ends a process.
func quitSignal() os.Signal { return os.Kill }

// GiveAway does nothing: there is no root here.
func GiveAway(string) error { return nil }

func Unprivileged(*exec.Cmd) {}
