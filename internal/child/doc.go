// Package child runs one OS process together with everything it starts: it begins it, notices its end, and ends it.
//
// A server behind a pipe is rarely one process. It is a wrapper, an interpreter and perhaps a browser, and some of
// those leave their process group, ignore signals, or keep a pipe open after the process that was started is gone. The
// package therefore treats the process and its descendants, the tree, as one thing:
//
//	Start ──► running ──► exited ──────────► swept
//	             │        Done is closed,    nothing of the tree is left,
//	             │        Exit and Tail      or what is left is named
//	             │        are known               ▲
//	             └─ Stop: EOF, SIGTERM, SIGKILL ──┘
//
// The end of a process is noticed by waiting for it, never by the end of its pipes. A process that dies by itself has
// its descendants killed at once, so that a crash leaves nothing behind; Stop is polite first and bounded in all.
// Numbers of processes are reused by the system, so the process itself is signalled only while it has not been waited
// for, and a descendant only after its start time was compared.
//
// Start makes us the parent. A Guard puts a process of its own in between, so that the tree ends with us however we
// end; that is how a program should start what it means to own. How much can be known of a tree differs: on Linux under
// a Guard everything is found, though of what gave up its mark not always to which process it belongs, unless control
// groups can be made; without one, and on other Unixes, a descendant is lost that left session and group and whose
// parents died before Stop; on Windows a Job Object holds all.
//
// Whoever starts a program waits in the kernel until its file has been read. What is on a file system that may not answer
// (Spec.Distant) a Guard therefore has started by another process, which becomes it: a disk that hangs holds up that one.
//
// Nothing of our environment and no descriptor beyond 0, 1 and 2 reaches a child. It leads a session of its own, hence
// a process group and no terminal.
//
// All methods of Process may be called from any goroutine.
package child
