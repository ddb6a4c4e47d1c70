package proxy_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy"
)

// withProject connects a client to a front whose project has a configuration that nobody trusted.
func withProject(t *testing.T, u *config.Untrusted, trust func(*config.Untrusted) error) *talk {
	t.Helper()
	cfg := readConfig(t, `{"toolboxes":{"box":{"mcpServers":{"s":{"command":"inside"}}}}}`)
	cfg.Untrusted = u
	return talkTo(t, newFrontWith(t, cfg, proxy.Options{Trust: trust}))
}

func project(shown ...string) *config.Untrusted {
	return &config.Untrusted{Path: "/src/app/workbench-config.json", Why: "nobody has trusted it", Digest: strings.Repeat("ab", 32), Shown: shown}
}

// The user of a client is asked whether a project's file is to be used, and it is when the user says so and not else.
func TestConsiderInLegacyClient(t *testing.T) {
	for _, tt := range []struct {
		answer string
		want   bool
	}{
		{`"result":{"action":"accept","content":{"decision":"trust"}}`, true},
		{`"result":{"action":"accept","content":{"decision":"refuse"}}`, false},
		{`"result":{"action":"accept","content":{}}`, false},
		{`"result":{"action":"decline","content":{"decision":"trust"}}`, false},
		{`"error":{"code":-32601,"message":"no"}`, false},
	} {
		t.Run(tt.answer, func(t *testing.T) {
			var trusted atomic.Pointer[config.Untrusted]
			u := project("files", "  fs: starts \"npx\"")
			c := withProject(t, u, func(u *config.Untrusted) error { trusted.Store(u); return nil })
			c.say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`)
			c.hear(`"id":"init"`)
			c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			question := c.hear("elicitation/create", "/src/app/workbench-config.json", `fs: starts \"npx\"`)
			c.say(`{"jsonrpc":"2.0","id":%s,%s}`, field(t, question, "id"), tt.answer)
			if tt.want {
				waitFor(t, "the trust of what was shown", func() bool { return trusted.Load() == u })
			}
			c.front.Reload(withUntrusted(t, u)) // the same content is not asked about again
			c.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			if got := c.hear(`"id":2`); strings.Contains(got, "elicitation") || !tt.want && trusted.Load() != nil {
				t.Errorf("got %s and trusted %v, want no question and nothing trusted", got, trusted.Load())
			}
			other := *u
			other.Digest, other.Changes = strings.Repeat("cd", 32), []string{"+ new"}
			c.front.Reload(withUntrusted(t, &other)) // another is
			c.hear("elicitation/create", "+ new")
		})
	}
}

// withUntrusted is a configuration that has changed in nothing but what is not trusted.
func withUntrusted(t *testing.T, u *config.Untrusted) *config.Config {
	cfg := readConfig(t, `{"toolboxes":{"box":{"mcpServers":{"s":{"command":"inside"}}}}}`)
	cfg.Untrusted = u
	return cfg
}

// The user of a modern client is asked in the answer to workbench_status, and the state of the question is good for
// that file alone.
func TestConsiderInModernClient(t *testing.T) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	for _, tt := range []struct {
		name, decision string
		changed, full  bool
		want           string
	}{
		{"agreed", "trust", false, false, "is trusted; its toolboxes will be there"},
		{"refused", "refuse", false, false, "nobody has trusted it"},
		{"changed meanwhile", "trust", true, false, "was changed while its user read it"},
		{"on a full disk", "trust", false, true, "could not be trusted: no space"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var trusted atomic.Bool
			u := project("files")
			c := withProject(t, u, func(*config.Untrusted) error {
				if tt.full {
					return errors.New("no space")
				}
				trusted.Store(true)
				return nil
			})
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_status","arguments":{},%s}}`, meta)
			asked := c.hear(`"id":1`, `"input_required"`, "/src/app/workbench-config.json")
			if tt.changed {
				other := *u
				other.Digest = strings.Repeat("cd", 32)
				c.front.Reload(withUntrusted(t, &other))
			}
			c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_status","arguments":{},"inputResponses":{"trust":{"action":"accept","content":{"decision":%q}}},"requestState":%s,%s}}`,
				tt.decision, field(t, asked, "result", "requestState"), meta)
			if got := c.hear(`"id":2`); !strings.Contains(got, tt.want) || trusted.Load() != (tt.name == "agreed") {
				t.Errorf("got %s and trusted %v, want %q", got, trusted.Load(), tt.want)
			}
		})
	}
}

// Nobody is asked about what cannot be shown whole, or by clients that cannot ask.
func TestConsiderNobody(t *testing.T) {
	unread := project("files")
	unread.Digest = ""
	for name, tt := range map[string]struct {
		u            *config.Untrusted
		capabilities string
	}{
		"many lines":          {project(strings.Split(strings.Repeat("x\n", 41), "\n")...), `{"elicitation":{}}`},
		"long lines":          {project(strings.Repeat("x", 5000)), `{"elicitation":{}}`},
		"a file with a fault": {unread, `{"elicitation":{}}`},
		"no elicitation":      {project("files"), `{}`},
		"no forms":            {project("files"), `{"elicitation":{"url":{}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := withProject(t, tt.u, func(*config.Untrusted) error { t.Error("it was trusted"); return nil })
			c.say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"c","version":"1"}}}`, tt.capabilities)
			c.hear(`"id":"init"`)
			c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_status","arguments":{}}}`)
			if got := c.hear(`"id":2`); !strings.Contains(got, "workbench trust") {
				t.Errorf("got %s, want the command", got)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := c.session.Close(ctx); err != nil { // it waits for what was begun
				t.Fatal(err)
			}
			for len(c.got) > 0 {
				if got := <-c.got; strings.Contains(got, "elicitation") {
					t.Errorf("got %s, want no question", got)
				}
			}
		})
	}
}
