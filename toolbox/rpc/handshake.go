package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// probeWait is how long a server may be silent on server/discover before it is taken for one of the legacy era.
const probeWait = 3 * time.Second

// ErrProbeEnded says that the server ended on a probe it did not understand.
var ErrProbeEnded = errors.New("the server ended when it received server/discover")

// Handshake agrees with the server on a protocol revision, of the client's era where the server has it, so that the
// least has to be translated. A legacy client's servers are asked by initialize first, which all but those that speak
// only 2026-07-28 understand; a modern client's by server/discover, which some legacy servers leave unanswered and some
// end on: legacy says that this one is known to. One that was too slow in starting to answer is asked by initialize, and
// is not taken for such a server if it answers server/discover before that, late as it is. One that speaks only
// 2026-07-28 is asked again when it has refused initialize.
func Handshake(ctx context.Context, c *Conn, legacy bool) error {
	var asked *inquiry // nil if the server is not asked for its era
	if eras.Of(c.opts.Client.Version).IsStateless() && !legacy {
		asked = inquire(ctx, c)
		defer asked.end()
		if asked.wait() {
			err := asked.err
			if err == nil {
				err = discovered(c, asked.raw)
			}
			if err == nil || ctx.Err() != nil || saysNothingOfEra(err) {
				return err
			}
		}
		if asked.endedIt() {
			return ErrProbeEnded
		}
	}
	err := initialize(ctx, c, func() bool { return legacy || asked.isIgnored() })
	if err != nil && asked.endedIt() {
		return ErrProbeEnded
	}
	if errors.As(err, new(*link.RPCError)) && !legacy {
		if derr := Discover(ctx, c); derr == nil || saysNothingOfEra(derr) {
			return derr
		}
	}
	return err
}

// inquiry is a server/discover that the server may leave unanswered. A nil one was not made.
type inquiry struct {
	conn   *Conn
	cancel context.CancelFunc
	done   chan struct{} // closed when it is answered or over
	raw    []byte
	err    error
}

// inquire asks the server. The request stays until end is called, so that the answer of one that is slow is known.
func inquire(ctx context.Context, c *Conn) *inquiry {
	ctx, cancel := context.WithCancel(ctx)
	q := &inquiry{conn: c, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(q.done)
		q.raw, q.err = discover(ctx, c)
	}()
	return q
}

func (q *inquiry) end() {
	q.cancel()
	<-q.done
}

// wait reports whether it is over before the server was silent for too long.
func (q *inquiry) wait() bool {
	late := time.NewTimer(probeWait)
	defer late.Stop()
	select {
	case <-q.done:
		return true
	case <-late.C:
		return false
	}
}

// isIgnored reports whether the server has answered initialize and not this, or not with a reply to it.
func (q *inquiry) isIgnored() bool {
	if q == nil {
		return false
	}
	select {
	case <-q.done:
		return errors.As(q.err, new(*StrayError))
	default:
		return q.conn.Calls.of(nil) != nil // the only request then; an answer that has just come has taken it out
	}
}

// endedIt reports whether the server has ended without an answer. The inquiry is over then.
func (q *inquiry) endedIt() bool {
	if q == nil {
		return false
	}
	select {
	case <-q.conn.link.Done():
	default:
		return false
	}
	q.end()
	return q.err != nil && !errors.As(q.err, new(*link.RPCError))
}

// initialize agrees with a server on a revision. mute is asked when the server has answered, and says whether it left
// server/discover unanswered or once ended on it.
func initialize(ctx context.Context, c *Conn, mute func() bool) error {
	client := c.opts.Client
	version := client.Version
	if !eras.Of(version).HasHandshake() {
		version = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	}
	params := wire.NewObject(nil).Text("protocolVersion", version).Raw("capabilities", client.CapabilitiesObject()).Raw("clientInfo", client.info()).End()
	raw, err := Consult(ctx, c, "initialize", params, copyHello)
	if err != nil {
		return err
	}
	var r struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
		ServerInfo      json.RawMessage `json:"serverInfo"`
		Instructions    instructions    `json:"instructions"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("initialize: the result cannot be read: %w", foreign.NewError(err))
	}
	if !eras.IsSpoken(r.ProtocolVersion) {
		return fmt.Errorf("initialize: the server answered with protocol version %q, which this handshake does not know", foreign.NewName(r.ProtocolVersion))
	}
	// A server may answer by the revision that it has, and then it is spoken to in that, which has no notification that
	// ends a handshake.
	h := Hello{Version: r.ProtocolVersion, Info: r.ServerInfo, Instructions: r.Instructions.raw, Mute: mute() && !eras.Of(r.ProtocolVersion).IsStateless()}
	if err := greeted(c, h, r.Capabilities); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if !c.Hello().Era.HasHandshake() {
		return nil
	}
	return c.Write(func(b []byte) []byte { return wire.AppendNotification(b, "notifications/initialized", nil) })
}

// Discover agrees with a server of revision 2026-07-28 or a later one. It is asked by the newest, and again by the one
// that it wants if it refuses that.
func Discover(ctx context.Context, c *Conn) error {
	raw, err := discover(ctx, c)
	if err != nil {
		return err
	}
	return discovered(c, raw)
}

// discover asks the server, and returns what it said of itself.
func discover(ctx context.Context, c *Conn) ([]byte, error) {
	c.hello.Store(new(Hello)) // nothing is agreed on while this is asked
	ask := func(revision string) ([]byte, error) {
		params := wire.NewObject(nil).Raw("_meta", fmt.Appendf(nil, "{%s}", eraMembers(c.opts.Client, revision, ""))).End()
		return Consult(ctx, c, "server/discover", params, copyHello)
	}
	raw, err := ask(eras.Newest())
	if again := Wanted(err); again != "" {
		raw, err = ask(again)
	}
	return raw, err
}

// discovered keeps what the server answered to server/discover.
func discovered(c *Conn, raw []byte) error {
	var r struct {
		SupportedVersions []string        `json:"supportedVersions"`
		Capabilities      json.RawMessage `json:"capabilities"`
		Instructions      instructions    `json:"instructions"`
		Meta              struct {
			ServerInfo json.RawMessage `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("server/discover: the result cannot be read: %w", foreign.NewError(err))
	}
	version := eras.Shared(r.SupportedVersions)
	if !eras.Of(version).IsStateless() {
		return fmt.Errorf("server/discover: no protocol version in common (the server has %q)", foreign.NewText(strings.Join(r.SupportedVersions, ", ")))
	}
	return greeted(c, Hello{Version: version, Info: r.Meta.ServerInfo, Instructions: r.Instructions.raw}, r.Capabilities)
}

// greeted keeps what the server said.
func greeted(c *Conn, h Hello, capabilities json.RawMessage) error {
	if err := h.Declare(capabilities); err != nil {
		return err
	}
	h.Era = eras.Of(h.Version)
	c.hello.Store(&h)
	c.link.Handshaken(h.Version)
	return nil
}
