package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/logfile"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logqueue"
	"github.com/mcp-workbench/workbench/internal/syserr"
)

// Exit codes.
const (
	ExitDone  = 0
	ExitFault = 1 // could not start, or run to its end
	ExitUsage = 2 // was called wrongly
)

// UsageError is a call of the program that does not make sense.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usage makes an error that of a call which does not make sense.
func Usage(err error) error { return UsageError{err} }

// hintedError is an error with advice.
type hintedError struct {
	error
	hint string
}

func (h hintedError) Unwrap() error { return h.error }

// Hint adds advice to an error.
func Hint(err error, hint string) error { return hintedError{err, hint} }

// HintOf is the advice that an error has, "" for none.
func HintOf(err error) string {
	var h hintedError
	errors.As(err, &h)
	return h.hint
}

// SilentError ends the program with a code after the command has said all there is to say.
type SilentError int

func (e SilentError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// told is how long the reason of a failure may take to be written. It is long, because a machine with much to do lets
// no program run for a while, and who asked would be left without an answer.
const told = 2 * time.Second

// toldLate is how long it may take where the end has taken its time already.
const toldLate = 100 * time.Millisecond

// Report says why a command failed, to who still reads it, and returns the exit code.
func (e *Environment) Report(err error) int {
	if err == nil {
		err = e.lost()
	}
	if err == nil {
		return ExitDone
	}
	var silent SilentError
	if errors.As(err, &silent) {
		return int(silent)
	}
	if e.unread(err) {
		return ExitFault // who stopped reading, as head does, wants no more
	}
	text := "workbench: error: " + e.Advice(err.Error())
	var ended lifetime.SignalError
	hint := e.Advice(HintOf(err))
	switch {
	case errors.As(err, &ended):
		text = fmt.Sprintf("workbench: %v", ended)
	case hint != "":
		text += "\nworkbench: hint: " + hint
	}
	last := logqueue.New(e.Err, logfile.Dropped) // a pipe that nobody reads is not to hold up the end
	_, _ = last.Write([]byte(foreign.Block(text) + "\n"))
	wait := told
	if e.Ending != nil { // the reason is within the time of the end
		wait = max(toldLate, e.Ending.Left(told))
	}
	last.Close(wait)
	var usage UsageError
	switch {
	case errors.As(err, &ended):
		return ended.Code()
	case errors.As(err, &usage):
		return ExitUsage
	}
	return ExitFault
}

// unread reports whether an error says that nobody reads standard output.
func (s Streams) unread(err error) bool {
	out, isFile := s.Out.(*Output)
	var at *fs.PathError
	return isFile && syserr.IsUnread(err) && errors.As(err, &at) && at.Path == out.Name()
}
