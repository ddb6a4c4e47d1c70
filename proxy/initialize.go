package proxy

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// initialize lets the engine answer, and notes who the client is if that could be read.
func (s *Session) initialize(c *call) {
	if !c.Params.Present() {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "initialize needs params: protocolVersion, capabilities and clientInfo"})
		return
	}
	var out [3]wire.Span
	if c.terms.HasHandshake() {
		if err := wire.Find(c.Raw, c.Params, []string{"protocolVersion", "capabilities", "clientInfo"}, out[:]); err != nil {
			c.fail(err)
			return
		}
		if n := len(c.Bytes(out[1])) + len(c.Bytes(out[2])); n > maxClient {
			c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("capabilities and clientInfo have %d bytes; at most %d are kept", n, maxClient)})
			return
		}
	}
	peer := new(enginePeer)
	reply := s.view.Load().control.answer(&c.Message, peer)
	if c.terms.HasHandshake() && peer.fault == nil {
		version, _ := wire.Unquote(c.Bytes(out[0]))
		s.profile.introduce(toolbox.Client{
			Version:      mcp.NegotiateLegacyVersion(version),
			Capabilities: bytes.Clone(c.Bytes(out[1])),
			Info:         bytes.Clone(c.Bytes(out[2])),
		}, c.terms.Era)
	}
	c.out.Finish(reply)
}

// maxClient is the longest that a client may say of itself, in bytes: it is kept, and each of its servers is told it.
const maxClient = 64 << 10

// setLevel lets the engine check and answer it and tells all servers: those of revision 2026-07-28 by what is sent to
// them from now on. Servers that are shared have no level that one client may set. The answer waits for those that are
// there.
func (s *Session) setLevel(c *call) {
	peer := enginePeer{ready: true}
	reply := s.view.Load().control.answer(&c.Message, &peer)
	if peer.level == "" {
		c.out.Finish(reply)
		return
	}
	s.profile.change(func(k *known) { k.level = string(peer.level) })
	var told []toolbox.Leveled
	for _, b := range s.shelf.Made() {
		told = append(told, b.SetLevel(string(peer.level), func(srv *toolbox.Server, f func()) bool { return s.desk.turns.behind(srv, 0, f) })...)
	}
	if len(told) == 0 {
		c.out.Finish(reply)
		return
	}
	if f := s.desk.own(c); f != nil {
		f.serve(func() {
			leveled(f.ctx, told)
			f.reply([]byte("{}")) // nothing else is allowed in it
		})
	}
}

// leveled waits until the servers that are there have taken a log level, for a time.
func leveled(ctx context.Context, told []toolbox.Leveled) {
	ctx, cancel := context.WithTimeout(ctx, toolbox.LevelWait)
	defer cancel()
	for _, t := range told {
		if t.Done == nil {
			continue // it is starting, and takes the level before what is asked of it from now on
		}
		select {
		case <-t.Done:
		case <-ctx.Done():
			return
		}
	}
}
