//go:build unix

package syserr

import "syscall"

var (
	full      = kind{syscall.ENOSPC, syscall.EDQUOT}
	readOnly  = kind{syscall.EROFS}
	noFolder  = kind{syscall.ENOTDIR}
	unread    = kind{syscall.EPIPE}
	refused   = kind{syscall.ECONNREFUSED}
	reset     = kind{syscall.ECONNRESET}
	inUse     = kind{syscall.EADDRINUSE}
	notOurs   = kind{syscall.EADDRNOTAVAIL}
	reserved  = kind{syscall.EACCES}
	noProgram = kind{syscall.ENOEXEC}
	noFiles   = kind{syscall.EMFILE}
	noLocks   = kind{syscall.ENOLCK, syscall.ENOSYS, syscall.ENOTSUP}
	unsynced  = kind{syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS, syscall.EBADF}
)
