package link

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// ErrClosed says that the link was closed, which is with its toolbox.
var ErrClosed = errors.New("toolbox is closed")

// ErrBusy says that a server does not read what it is sent.
var ErrBusy = errors.New("does not read its input, and too much waits for it already; it may hang")

// ExitError says how a server's process ended.
type ExitError struct {
	How  string // "exit status 3", "killed by signal 9 (SIGKILL)"
	Code int    // the exit status; -1 if a signal ended it
	Said
}

// Error quotes standard output where standard error does not name an error.
func (e *ExitError) Error() string {
	said := e.Said
	if said.Stderr.NameError() {
		said.Stdout = nil
	}
	return "the process ended: " + e.How + said.String()
}

// Said is what the process of a server wrote besides messages.
type Said struct {
	Stderr foreign.Words
	Stdout foreign.Words
}

// String quotes it for the end of a sentence.
func (s Said) String() (text string) {
	if len(s.Stderr) > 0 {
		text += fmt.Sprintf("; its last words: %q", s.Stderr)
	}
	if len(s.Stdout) > 0 {
		text += fmt.Sprintf("; on its standard output, which is for messages of MCP alone, it wrote %q", s.Stdout)
	}
	return text
}

// RPCError is an error reply of a server.
type RPCError struct {
	Method string
	Code   int
	Text   foreign.Text
	Data   []byte // JSON text; nil for none. It is not to be shown.
}

func (e *RPCError) Error() string {
	return fmt.Sprintf("%s: the server answered with error %d: %q", e.Method, e.Code, e.Text)
}

// CodeOf gives the code of the error reply that a request failed with; 0 where it failed otherwise.
func CodeOf(err error) int {
	if refusal, ok := errors.AsType[*RPCError](err); ok {
		return refusal.Code
	}
	return 0
}

// maxData is the longest that the data of an error reply may be, in bytes: it is kept.
const maxData = 256 << 10

// ReplyError reads the reply m, a Failure, to a request of a method.
func ReplyError(method string, m *wire.Message) *RPCError {
	code, _ := jsontype.Int(m.Get(m.Error, "code"))
	message, _ := m.Text(m.Error, "message")
	e := &RPCError{Method: method, Code: code, Text: foreign.NewText(message)}
	if data := m.Get(m.Error, "data"); len(data) <= maxData {
		e.Data = bytes.Clone(data)
	}
	return e
}

// Number reads the id of a reply: numbers that are equal are the same id, however they are written.
func Number(token []byte) (number uint64, ok bool) {
	if number, err := strconv.ParseUint(string(token), 10, 64); err == nil {
		return number, number > 0
	}
	// Of a number in these bounds with that many digits the exponent is small.
	const digits = 64
	about, err := strconv.ParseFloat(string(token), 64)
	if err != nil || len(token) > digits || about < 1 || about >= 1<<53 {
		return 0, false
	}
	exact, ok := new(big.Rat).SetString(string(token))
	if !ok || !exact.IsInt() {
		return 0, false
	}
	return exact.Num().Uint64(), true
}
