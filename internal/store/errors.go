package store

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound is the answer for everything that does not exist, has expired or belongs to another principal.
	ErrNotFound = errors.New("not found")
	// ErrDuplicate says that a turn with this key has ended already; [Store.Result] has it.
	ErrDuplicate = errors.New("a turn with this key has ended already")
	// ErrLost says that a turn no longer holds its conversation, which another process may have gone on with.
	ErrLost = errors.New("the turn no longer owns the conversation: the store was away for too long, or another process has continued it")
	// ErrNoTurn says that a conversation has no turn that feedback could be about.
	ErrNoTurn = errors.New("the conversation has no turn")
	// ErrClosed is the answer of a store after Close.
	ErrClosed = errors.New("the store is closed")
)

// BusyError says that another turn of the conversation is under way.
type BusyError struct {
	Key    string // of that turn; "" if it has only just started
	Digest string // of that turn's request
}

func (e *BusyError) Error() string {
	if e.Key == "" {
		return "another turn of this conversation is running"
	}
	return fmt.Sprintf("turn %s of this conversation is running", e.Key)
}

// InvalidError says what is wrong with a value that was to be kept.
type InvalidError struct{ What string }

func (e *InvalidError) Error() string { return e.What }

// CorruptError says that what is kept is damaged.
type CorruptError struct {
	Path     string // the file, "" for a database server
	SetAside string // where the file is now; "" if it is where it was
	Part     bool   // it is one entry, named by Cause, and all else is whole: it costs no other its place in a list
	Cause    error
}

func (e *CorruptError) Error() string {
	switch {
	case e.Part:
		return fmt.Sprintf("%v, and is lost; all else in the store is as it was", e.Cause)
	case e.SetAside != "":
		return fmt.Sprintf("the store %s was damaged (%v); it was moved to %s, and an empty one replaces it", e.Path, e.Cause, e.SetAside)
	case e.Path != "":
		return fmt.Sprintf("the store %s is damaged (%v); end every workbench that uses it and start again: it is then checked, and set aside if needed", e.Path, e.Cause)
	}
	return fmt.Sprintf("the store is damaged: %v", e.Cause)
}

func (e *CorruptError) Unwrap() error { return e.Cause }

// isPart reports whether err says that one entry is damaged.
func isPart(err error) bool {
	var e *CorruptError
	return errors.As(err, &e) && e.Part
}

// SchemaError says that a newer program wrote the store. It can be read, as far as this program understands it, but not
// written.
type SchemaError struct {
	Path      string // the file, "" for a database server
	Has, Know int    // the versions of the store and of this program
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s has schema %d, this workbench knows schema %d and does not write to it; use the newer workbench", place(e.Path), e.Has, e.Know)
}

// ReadOnlyError says why the store can be read but not written.
type ReadOnlyError struct {
	Path  string
	Cause error
}

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("the store %s can only be read: %v; give this user the right to write the file and its folder", e.Path, e.Cause)
}

func (e *ReadOnlyError) Unwrap() error { return e.Cause }

// WriteError says that a change was not kept, or that nobody knows.
type WriteError struct {
	Path  string // the file, "" for a database server
	Next  string // what to do
	Cause error
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("%s could not be written: %v; %s", place(e.Path), e.Cause, e.Next)
}

func (e *WriteError) Unwrap() error { return e.Cause }

// PlaceError is a warning about where the store is kept.
type PlaceError struct {
	Path string
	Why  string
}

func (e *PlaceError) Error() string { return fmt.Sprintf("the store %s %s", e.Path, e.Why) }

func place(path string) string {
	if path == "" {
		return "the store"
	}
	return "the store " + path
}
