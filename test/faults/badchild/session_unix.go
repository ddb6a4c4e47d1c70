//go:build unix

package main

import "syscall"

// ownSession puts a process into a session of its own.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
