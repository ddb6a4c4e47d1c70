package proxy

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// terms are what a request says of the era that it is of. In an era with a handshake it says nothing, and they are
// empty besides.
type terms struct {
	eras.Era
	capabilities []byte
	level        string // of the log lines that the client wants, "" for none
}

// readTerms gives the terms of a request.
func readTerms(r *incoming.Request) (t terms, err error) {
	e := eras.Of(r.Version)
	switch {
	case !e.IsStateless():
		return terms{Era: eras.Legacy}, nil
	case !eras.IsSpoken(r.Version):
		return t, eras.Unsupported(r.Version)
	case !r.HasCapabilities():
		return t, &wire.Error{Code: wire.CodeInvalidParams, Message: "params._meta lacks " + eras.Capabilities + ", an object"}
	}
	t = terms{Era: e, capabilities: bytes.Clone(r.Bytes(r.Capabilities))}
	if r.LogLevel.Present() {
		t.level, _ = wire.Unquote(r.Bytes(r.LogLevel))
		if !slices.Contains(levels(), t.level) {
			return t, &wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("params._meta[%q]: got %s, want one of %v", eras.LogLevel, foreign.NewName(string(r.Bytes(r.LogLevel))), levels())}
		}
	}
	return t, nil
}

// has reports whether the client declared an extension.
func (t *terms) has(extension string) bool { return eras.HasExtension(t.capabilities, extension) }

// notOffered says why a client is not asked what a server wants to know, by what it has declared; "" if it is.
func notOffered(capabilities []byte, m *wire.Message) string {
	if what := eras.Lacking(capabilities, string(m.Bytes(m.Method)), m.Bytes(m.Params)); what != "" {
		return fmt.Sprintf("the client does not offer %s", foreign.NewName(what))
	}
	return ""
}

// levels are the log levels in rising order.
func levels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// wants reports whether a log message is of the level asked for or above.
func wants(level string, m *wire.Message) bool {
	if level == "" {
		return false
	}
	got, _ := m.Text(m.Params, "level")
	return slices.Index(levels(), got) >= slices.Index(levels(), level)
}
