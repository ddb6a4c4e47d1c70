package main

import "syscall"

// ownSession puts a process into a group of its own: there are no sessions.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
