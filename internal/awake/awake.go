// Package awake keeps the monitor of Go's runtime awake while messages follow each other closely.
//
// The monitor is a thread that goes to sleep where nothing of the program runs, and that the next system call then
// wakes, by one more. While a client makes one call after the other, nothing runs between two messages, so that each of
// them would wake it, which is a sixth of the time that a small call takes through workbench. While a goroutine waits in
// a system call the monitor stays awake, and looks round a hundred times a second by itself. So one waits, while it pays.
package awake
