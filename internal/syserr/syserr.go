// Package syserr tells what an error of the system means. Each system numbers its errors in its own way: on Windows the
// names of Unix in package syscall are numbers that nothing ever returns.
package syserr

import (
	"errors"
	"syscall"
)

// kind is the numbers of errors that mean the same.
type kind []syscall.Errno

func (k kind) is(err error) bool {
	for _, number := range k {
		if errors.Is(err, number) {
			return true
		}
	}
	return false
}

// IsFull reports that there is no room, on the disk or of what this user may have there.
func IsFull(err error) bool { return full.is(err) }

// IsReadOnly reports that nobody can write there.
func IsReadOnly(err error) bool { return readOnly.is(err) }

// IsNoFolder reports that something on the way of a path is no folder.
func IsNoFolder(err error) bool { return noFolder.is(err) }

// IsUnread reports that nobody reads any more what is written to a pipe.
func IsUnread(err error) bool { return unread.is(err) }

// IsRefused reports that nothing listens at an address.
func IsRefused(err error) bool { return refused.is(err) }

// IsReset reports that the other side broke off a connection.
func IsReset(err error) bool { return reset.is(err) }

// IsInUse reports that another program listens at an address.
func IsInUse(err error) bool { return inUse.is(err) }

// IsNotOurs reports that an address is not one of this machine.
func IsNotOurs(err error) bool { return notOurs.is(err) }

// IsReserved reports that this user may not listen at a port.
func IsReserved(err error) bool { return reserved.is(err) }

// IsNoProgram reports that a file cannot be run as a program.
func IsNoProgram(err error) bool { return noProgram.is(err) }

// IsNoFiles reports that this process may not open more files or connections.
func IsNoFiles(err error) bool { return noFiles.is(err) }

// IsNoLocks reports of an error of locking a file that there are no locks where the file is.
func IsNoLocks(err error) bool { return noLocks.is(err) }

// IsUnsynced reports of an error of syncing a folder that there is no such thing where it is.
func IsUnsynced(err error) bool { return unsynced.is(err) }
