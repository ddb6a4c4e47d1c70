package servers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// note keeps something that other servers do not do.
func (o *observation) note(format string, args ...any) {
	o.oddities = append(o.oddities, fmt.Sprintf(format, args...))
}

// noteHandshake notes a revision other than the usual, and how the other handshake was refused where that was unusual.
func (o *observation) noteHandshake(version string, refusal *wiretest.Error) {
	switch version {
	case wiretest.Legacy:
	case wiretest.ModernOnly:
		o.note("speaks %s too", version)
	default:
		o.note("speaks %s", version)
	}
	if refusal != nil && refusal.Code != -32601 {
		o.note("unknown method %d", refusal.Code)
	}
}

// noteTools notes what is unusual in a list of tools.
func (o *observation) noteTools(result []byte) {
	if n := len(result); n > 30_000 {
		o.note("%d KB of tools", n/1000)
	}
	if bytes.Contains(result, []byte(`"$ref"`)) {
		o.note("$ref in its schemas")
	}
}

// noteCapabilities notes how many tools there are for a client that can do nothing.
func (o *observation) noteCapabilities(tb testing.TB, b *bed) {
	tb.Helper()
	d := b.start(tb, o.server)
	d.hello(tb, false, noCapabilities)
	result := decode[struct{ Tools []json.RawMessage }](tb, "tools/list", d.Client.In(tb).Result("tools/list", ""))
	d.leave()
	o.note("%d tools for this client, %d for one that can nothing", len(o.items["tools"]), len(result.Tools))
}

// noteTalk notes what the server said unasked.
func (o *observation) noteTalk(talk []wiretest.Entry) {
	seen := make(map[string]bool)
	for _, entry := range talk {
		m := entry.Message
		if entry.Sent || m.Method == "" || seen[m.Method] {
			continue
		}
		seen[m.Method] = true
		if m.IsRequest() {
			o.note("asks %s", m.Method)
		} else {
			o.note("says %s", strings.TrimPrefix(m.Method, "notifications/"))
		}
	}
}

// noteProcess notes what the process did besides, which is known when it has ended.
func (o *observation) noteProcess(d *direct) {
	if len(d.out.noise) > 0 {
		o.note("noise on stdout")
	}
	if n := d.stderr.Len(); n >= 1000 {
		o.note("%d KB of stderr", n/1000)
	}
	switch {
	case d.took >= noExit:
		o.note("no exit at EOF")
	case d.took > time.Second:
		o.note("slow to exit")
	}
}
