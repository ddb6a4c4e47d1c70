package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// server speaks both eras on standard input and output.
type server struct {
	mode mode
	args []string // of the mode

	in   *bufio.Reader
	turn sync.Mutex // held to write
	tail string     // behind each line written: "\n" unless a mode says otherwise

	listed atomic.Int64 // how often the tools were listed
	mu     sync.Mutex
	heard  []string
}

func newServer(m mode, args []string) *server {
	return &server{mode: m, args: args, in: bufio.NewReaderSize(os.Stdin, 64<<10), tail: "\n"}
}

// arg is an argument of the mode, or "".
func (s *server) arg(i int) string {
	if i < len(s.args) {
		return s.args[i]
	}
	return ""
}

// request is what came, a notification if ID is nil.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Version   string          `json:"protocolVersion"`
		Name      string          `json:"name"`
		Cursor    string          `json:"cursor"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// serve answers until the input ends.
func (s *server) serve() {
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Fprintln(os.Stderr, "badchild: got no message:", err)
			continue
		}
		switch {
		case s.mode.take != nil && s.mode.take(s, r):
		case r.ID == nil:
			s.mu.Lock()
			s.heard = append(s.heard, strings.TrimSpace(string(line)))
			s.mu.Unlock()
		default:
			s.answer(r)
		}
	}
}

// answer does what a good server does, but for the tool "fault".
func (s *server) answer(r request) {
	switch r.Method {
	case "initialize":
		s.result(r, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true},"prompts":{},"logging":{}},"serverInfo":{"name":"badchild","version":"1"}}`, r.Params.Version))
	case "tools/list":
		s.result(r, `{"tools":[`+strings.Join(tools(), ",")+`]}`)
		s.listed.Add(1)
	case "prompts/list":
		s.result(r, `{"prompts":[]}`)
	case "ping", "logging/setLevel":
		s.result(r, `{}`)
	case "tools/call":
		s.tool(r)
	default:
		s.refuse(r, -32601, "Method not found")
	}
}

// tools are the definitions of the tools.
func tools() []string {
	var all []string
	for _, name := range []string{"echo", "pid", "heard", "fault"} {
		all = append(all, definition(name))
	}
	return all
}

func definition(name string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
}

func (s *server) tool(r request) {
	switch r.Params.Name {
	case "echo":
		s.text(r, string(r.Params.Arguments))
	case "pid":
		s.text(r, fmt.Sprint(os.Getpid()))
	case "heard":
		s.mu.Lock()
		heard := strings.Join(s.heard, "\n")
		s.mu.Unlock()
		s.text(r, heard)
	case "fault":
		if s.mode.fault == nil {
			s.text(r, "done")
			return
		}
		go s.mode.fault(s, r)
	default:
		s.refuse(r, -32602, "unknown tool "+r.Params.Name)
	}
}

func (s *server) text(r request, text string) { s.result(r, textResult(text)) }

func textResult(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"content":[{"type":"text","text":` + string(quoted) + `}]}`
}

func (s *server) result(r request, result string) {
	s.line(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":` + result + `}`)
}

func (s *server) refuse(r request, code int, text string) {
	s.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, r.ID, code, text))
}

func (s *server) notify(method, params string) {
	s.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// line writes a line.
func (s *server) line(text string) { s.write(text + s.tail) }

// write writes text as it is.
func (s *server) write(text string) {
	s.turn.Lock()
	defer s.turn.Unlock()
	_, _ = os.Stdout.WriteString(text) // whoever does not read any more is gone
}
