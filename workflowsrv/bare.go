package workflowsrv

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// bareVersion is the protocol version of the bare form, the only one.
const bareVersion = "2024-11-05"

// bareDoor makes sessions of the bare form.
type bareDoor struct {
	service  *service
	audience *audience
	tools    map[string]*tool
	ended    func()
	list     func() []byte // the result of tools/list, made once
}

// Connect begins a session.
func (d bareDoor) Connect(send func(msg []byte)) wire.Session {
	d.audience.enter()
	return &bareSession{door: d, send: send}
}

// A bareSession is one conversation in the bare form.
type bareSession struct {
	door bareDoor
	send func(msg []byte)

	mu          sync.Mutex // held while a message is answered, which keeps the order
	initialized bool
	over        bool // shutdown was answered
	closed      bool
}

// Receive answers one message before it returns: requests are answered in the order received.
func (s *bareSession) Receive(msg []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.closed {
		return
	}
	r, f := readBare(msg)
	switch {
	case f != nil:
		s.fail(r.id, f)
	case r.id != nil:
		s.answer(r)
	}
}

// Close says that no more messages come. All that came is answered.
func (s *bareSession) Close(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		s.door.audience.leave(ctx)
	}
	return nil
}

func (s *bareSession) answer(r bareRequest) {
	if r.method == "shutdown" {
		s.succeed(r.id, []byte("null"))
		s.over = true
		if s.door.ended != nil {
			s.door.ended()
		}
		return
	}
	result, f := s.carryOut(r)
	if f != nil {
		s.fail(r.id, f)
		return
	}
	s.succeed(r.id, result)
}

// carryOut finds what the method means.
func (s *bareSession) carryOut(r bareRequest) ([]byte, *fault) {
	if r.method == "initialize" {
		return s.initialize(r.params)
	}
	t := s.door.tools[r.method]
	if t != nil && t.run == nil {
		t = nil // It is about runs, which the bare form does not have.
	}
	if t == nil && r.method != "tools/list" {
		return nil, &fault{code: wire.CodeMethodNotFound, data: wire.NewObject(nil).Text("method", cut.Short(r.method)).End()}
	}
	if !s.initialized {
		return nil, &fault{code: codeServer, data: wire.NewObject(nil).Text("details", "initialize comes first").End()}
	}
	if t == nil {
		return s.door.list(), nil
	}
	result, f := s.door.service.call(context.Background(), t, r.params, nil)
	return result.json, f
}

func (s *bareSession) initialize(params []byte) ([]byte, *fault) {
	var p struct {
		ProtocolVersion *string                     `json:"protocolVersion"`
		Capabilities    *map[string]json.RawMessage `json:"capabilities"`
	}
	switch err := json.Unmarshal(params, &p); {
	case len(params) == 0 || params[0] != '{':
		return nil, invalidParams("params object is required")
	case err != nil:
		return nil, invalidParams("protocolVersion must be a string and capabilities an object")
	case p.ProtocolVersion == nil:
		return nil, invalidParams("protocolVersion is required")
	case p.Capabilities == nil:
		return nil, invalidParams("capabilities is required")
	case *p.ProtocolVersion != bareVersion:
		data := wire.NewObject(nil).Raw("supportedVersions", []byte(`["`+bareVersion+`"]`)).Text("requestedVersion", cut.Short(*p.ProtocolVersion)).End()
		return nil, &fault{code: codeServer, text: "Unsupported protocol version", data: data}
	}
	s.initialized = true
	info := wire.NewObject(nil).Text("name", serverName).Text("version", serverVersion).Text("description", serverText).End()
	return wire.NewObject(nil).Text("protocolVersion", bareVersion).
		Raw("capabilities", []byte(`{"tools":{"listChanged":false,"notifyProgress":false},"resources":{"listChanged":false}}`)).Raw("serverInfo", info).End(), nil
}

func (s *bareSession) succeed(id, result []byte) {
	s.send(wire.AppendResult(make([]byte, 0, len(result)+len(id)+64), id, result))
}

func (s *bareSession) fail(id []byte, f *fault) {
	s.send(wire.AppendError(nil, id, f.code, f.message(), f.data))
}

// bareList is the result of tools/list in the bare form.
func bareList() []byte {
	dst := []byte(`{"tools":[`)
	for _, t := range toolTable() {
		if t.run == nil {
			continue
		}
		one := wire.NewObject(wire.Comma(dst)).Text("name", t.name).Text("description", t.short).
			Raw("inputSchema", []byte(strings.ReplaceAll(t.input, idProperty, seedIDProperty))).Raw("outputSchema", []byte(cmp.Or(t.bareOutput, t.output)))
		if t.example != "" {
			one = one.Raw("examples", []byte(t.example))
		}
		dst = one.End()
	}
	return append(dst, "]}"...)
}

// A bareRequest is a request of the bare form. Without an id it is a notification.
type bareRequest struct {
	id, params []byte
	method     string
}

// readBare reads a message. It is more lenient than MCP is: params may be null or an array, and the id may be null.
// When there is a fault, the id is set if it could be told.
func readBare(msg []byte) (r bareRequest, f *fault) {
	if !json.Valid(msg) {
		return r, &fault{code: wire.CodeParse, data: wire.NewObject(nil).Text("details", "Unexpected token in JSON").End()}
	}
	invalid := &fault{code: wire.CodeInvalidRequest, data: wire.NewObject(nil).Text("details", "The JSON sent is not a valid Request object").End()}
	raw := bytes.TrimSpace(msg)
	var at [4]wire.Span
	if raw[0] != '{' || wire.Find(raw, wire.Whole(raw), []string{"jsonrpc", "id", "method", "params"}, at[:]) != nil {
		return r, invalid
	}
	part := func(s wire.Span) []byte { return raw[s.Start:s.End:s.End] }
	id := part(at[1])
	if len(id) > 0 && bytes.IndexByte([]byte(`{[tf`), id[0]) >= 0 {
		return r, invalid
	}
	if len(id) > 0 {
		r.id = id
	}
	version, _ := wire.Unquote(part(at[0]))
	method, ok := wire.Unquote(part(at[2]))
	if !ok || version != "2.0" {
		return r, invalid
	}
	r.method, r.params = method, part(at[3])
	return r, nil
}
