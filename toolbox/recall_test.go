package toolbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// spec is a server whose offer is said by a variable, so that it can change while all that names it in the catalogue
// stays as it is.
func spec(spec string) config.Server { return childServer("s", spec) }

func catalogueIn(dir string) *catalogue.Catalogue { return catalogue.New(dir, zerolog.Nop()) }

// see opens a toolbox of one server with an empty past and closes it again.
func see(t *testing.T, opts toolbox.Options, s config.Server) {
	t.Helper()
	opts.Peer = newPeer()
	b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{s}}, opts)
	if err := b.Open(t.Context(), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if st := b.Servers()[0].Status(); st.State != toolbox.Ready || !st.Seen.IsZero() {
		t.Fatalf("got %+v, want ready, from no other run", st)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func allKeys(s *toolbox.Server) map[toolbox.Kind][]string {
	all := make(map[toolbox.Kind][]string)
	for _, k := range []toolbox.Kind{toolbox.Tools, toolbox.Resources, toolbox.Templates, toolbox.Prompts} {
		all[k] = keys(s.Items(k))
	}
	return all
}

// ready waits until the server is.
func ready(t *testing.T, s *toolbox.Server) {
	t.Helper()
	if _, err := s.Request(t.Context(), "tools/list", nil); err != nil {
		t.Fatal(err)
	}
}

// A server that was seen before is spoken of at once, all that it offers, and calls wait until it is ready.
func TestKnownServerIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	offer := "tools=a,b,c prompts=greet resources=a:1 templates=a:{n} page=2 gate=" + gate
	openGate := func() {
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, modern := range []string{"", " modern"} {
		t.Run("server"+modern, func(t *testing.T) {
			opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir())}
			if modern != "" {
				opts.Client.Version = "2026-07-28"
			}
			openGate()
			see(t, opts, spec(offer+modern))
			if err := os.Remove(gate); err != nil {
				t.Fatal(err)
			}
			began := time.Now()

			b := open(t, opts, spec(offer+modern))
			s := server(t, b, "s")
			st := s.Status()
			if st.State != toolbox.Starting || st.Seen.IsZero() || st.Seen.After(began) || st.Tools != 3 {
				t.Errorf("got %+v, want it starting, with 3 tools seen before", st)
			}
			want := map[toolbox.Kind][]string{toolbox.Tools: {"a", "b", "c"}, toolbox.Prompts: {"greet"}, toolbox.Resources: {"a:1"}, toolbox.Templates: {"a:{n}"}}
			if got := allKeys(s); !reflect.DeepEqual(got, want) {
				t.Errorf("got lists %v, want %v", got, want)
			}
			for _, it := range s.Items(toolbox.Prompts) {
				if got, want := string(it.Raw), `{"name":"greet","x":1.0}`; got != want {
					t.Errorf("got prompt %s, want the bytes of the server: %s", got, want)
				}
			}
			if !s.Offers(toolbox.Resources) || !s.Offers(toolbox.Prompts) || !bytes.Contains(s.Capabilities(), []byte(`"logging"`)) {
				t.Errorf("got capabilities %s, want those it declared", s.Capabilities())
			}
			if got, want := s.Era().IsStateless(), modern != ""; got != want {
				t.Errorf("got modern %t, want %t", got, want)
			}
			if modern == "" && !strings.Contains(s.Instructions().String(), "protocolVersion") {
				t.Errorf("got instructions %q, want those it gave", s.Instructions())
			}
			if err := b.Open(t.Context(), 20*time.Second); err != nil || s.Status().State != toolbox.Starting {
				t.Errorf("opened again: got %v and %s, want it starting still", err, s.Status().State)
			}

			call, h := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b","arguments":{}}}`)
			if modern == "" {
				s.Send(call)
			}
			openGate()
			ready(t, s)
			if modern == "" {
				if err := <-h.done; err != nil {
					t.Errorf("the call that waited: %v", err)
				}
			}
			if st := s.Status(); st.State != toolbox.Ready || !st.Seen.IsZero() {
				t.Errorf("got %+v, want it ready, with lists of its own", st)
			}
			if notes := s.Notes(); notes != nil {
				t.Errorf("got notes %q, want none: nothing has changed", notes)
			}
		})
	}
}

// What changed since a server was last seen is said.
func TestChangesSinceLastSeen(t *testing.T) {
	t.Parallel()
	many := "m1,m2,m3,m4,m5,m6,m7,m8,m9,m10,m11,m12"
	for _, tt := range []struct {
		name, before, now, want string
	}{
		{"nothing", "tools=a,b", "tools=a,b", ""},
		{"order alone", "tools=a,b", "tools=b,a", ""},
		{"a definition", `tools=a,b tool={"name":"c","inputSchema":{"type":"object"}}`, `tools=a,b tool={"name":"c","x":1,"inputSchema":{"type":"object"}}`, "1 changed (c)"},
		{"more", "tools=a,b", "tools=a,x,b,y", "2 added (x, y)"},
		{"fewer", "tools=a,b,c", "tools=b", "2 gone (a, c)"},
		{"all at once", `tools=a,b tool={"name":"c","inputSchema":{"type":"object"}}`, `tools=a,d tool={"name":"c","x":1,"inputSchema":{"type":"object"}}`, "1 changed (c), 1 added (d), 1 gone (b)"},
		{"many", "tools=" + many, "tools=a", "1 added (a), 12 gone (m1, m2, m3, m4, m5, m6, m7, m8, m9, m10 and 2 more)"},
		{"no prompts any more", "tools=a prompts=p", "tools=a", "prompts are not as they were last seen: 1 gone (p)"},
		{"no tools any more", "tools=a", `tools=`, "1 gone (a)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir()), Logger: zerolog.New(zerolog.SyncWriter(&log)).Level(zerolog.InfoLevel)}
			see(t, opts, spec(tt.before))
			p := newPeer()
			opts.Peer = p
			b := open(t, opts, spec(tt.now))
			s := server(t, b, "s")
			ready(t, s)
			got := strings.Join(s.Notes(), "; ")
			want := tt.want
			if want != "" && !strings.HasPrefix(want, "prompts") {
				want = "tools are not as they were last seen: " + want
			}
			if got != want {
				t.Errorf("got notes %q, want %q", got, want)
			}
			if k := <-p.changed; k != toolbox.Tools {
				t.Errorf("got news of %s, want those of the tools", k)
			}
			if k := s.Items(toolbox.Prompts); k != nil {
				t.Errorf("got prompts %v, want none", keys(k))
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if got := log.String(); strings.Contains(got, "not as they were") != (tt.want != "") {
				t.Errorf("got log %q", got)
			}

			// What is there now is what will be known.
			b = open(t, opts, spec(tt.now))
			if s := server(t, b, "s"); !s.Status().Seen.IsZero() {
				ready(t, s)
				if notes := s.Notes(); notes != nil {
					t.Errorf("the third time: got notes %q, want none", notes)
				}
			}
		})
	}
}

// What decides what a server offers, decides whether it is known.
func TestWhoIsKnown(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "program")
	for _, tt := range []struct {
		name  string
		alter func(*config.Server, *toolbox.Options)
		want  bool
	}{
		{"the same", func(*config.Server, *toolbox.Options) {}, true},
		{"another time-out", func(s *config.Server, _ *toolbox.Options) { s.Timeouts.CallIdle++ }, true},
		{"another value of a variable", func(s *config.Server, _ *toolbox.Options) { s.Env["DECLARED"] = "other" }, true},
		{"another variable", func(s *config.Server, _ *toolbox.Options) { s.Env["MORE"] = "1" }, false},
		{"other arguments", func(s *config.Server, _ *toolbox.Options) { s.Args = []string{"x"} }, false},
		{"another directory", func(s *config.Server, _ *toolbox.Options) { s.Cwd = filepath.Dir(link) }, false},
		{"another program", func(s *config.Server, _ *toolbox.Options) { s.Command = link }, false},
		{"a client that can do more", func(_ *config.Server, o *toolbox.Options) { o.Client.Capabilities = []byte(`{"roots":{}}`) }, false},
		{"a client of the other era", func(_ *config.Server, o *toolbox.Options) { o.Client.Version = "2026-07-28" }, false},
		{"a client of another name", func(_ *config.Server, o *toolbox.Options) { o.Client.Info = []byte(`{"name":"x","version":"1"}`) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gate := filepath.Join(t.TempDir(), "gate")
			s := spec("tools=a")
			if err := os.Symlink(s.Command, link); err != nil && !errors.Is(err, os.ErrExist) {
				t.Skip(err)
			}
			opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir())}
			see(t, opts, s)
			s.Env["FAKESERVER"] += " gate=" + gate
			tt.alter(&s, &opts)
			opts.Peer = newPeer()
			b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{s}}, opts)
			t.Cleanup(func() { _ = b.Close() })
			ctx, cancel := context.WithCancel(t.Context())
			if !tt.want {
				cancel() // else the open would wait for the server, which does not start
			}
			defer cancel()
			if err := b.Open(ctx, 20*time.Second); err != nil {
				t.Fatal(err)
			}
			if got := len(server(t, b, "s").Items(toolbox.Tools)) == 1; got != tt.want {
				t.Errorf("got known %t, want %t", got, tt.want)
			}
		})
	}
}

// A program that was replaced is another server: nothing of the one before is offered, and how they differ is said at
// the first open.
func TestFaultG11_ReplacedProgram(t *testing.T) {
	self, err := os.ReadFile(childServer("", "").Command)
	if err != nil {
		t.Fatal(err)
	}
	s := spec("tools=a")
	s.Command = filepath.Join(t.TempDir(), "server.exe")
	if err := os.WriteFile(s.Command, self, 0o700); err != nil {
		t.Fatal(err)
	}
	opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir()), Peer: newPeer()}
	see(t, opts, s)
	known := func() int {
		b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{s}}, opts)
		toolbox.Recall(b)
		return len(b.Servers()[0].Items(toolbox.Tools))
	}
	if got := known(); got != 1 {
		t.Errorf("got %d tools, want the one that was seen", got)
	}
	if err := os.Chtimes(s.Command, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := known(); got != 0 {
		t.Errorf("got %d tools of another program, want none", got)
	}
	s.Env["FAKESERVER"] = "tools=b"
	const want = "tools are not as they were last seen: 1 added (b), 1 gone (a)"
	if got := server(t, open(t, opts, s), "s").Notes(); !slices.Equal(got, []string{want}) {
		t.Errorf("got notes %q, want %q", got, want)
	}
}

// A known server that cannot be started keeps its tools, and its calls say why they fail; whoever opens again waits for
// the outcome.
func TestKnownServerThatFails(t *testing.T) {
	t.Parallel()
	opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir())}
	s := childServer("s", "")
	see(t, opts, s)
	s.Env["FAKESERVER"] = "exit=7"
	failed := make(chan struct{}, 100)
	opts.Event = func(e toolbox.Event) {
		if e.Status.State == toolbox.Backoff {
			failed <- struct{}{}
		}
	}
	b := open(t, opts, s)
	srv := server(t, b, "s")
	want := len(mcptest.DefaultTools())
	if got := srv.Status(); got.Tools != want {
		t.Errorf("got %+v, want %d tools", got, want)
	}
	<-failed
	for range 2 { // what calls wait for is a short rest; this makes it a long one
		if err := b.Open(t.Context(), 20*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	st := srv.Status()
	if st.State != toolbox.Backoff && st.State != toolbox.Open || st.Cause == nil || st.Seen.IsZero() || st.Tools != want {
		t.Errorf("got %+v, want it resting with a cause, and its tools", st)
	}
	var unavailable *toolbox.UnavailableError
	_, err := callTool(t, srv, "echo", "{}")
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "licence file") || !strings.Contains(err.Error(), "tried again in") {
		t.Errorf("got %v, want an UnavailableError with what went wrong and when it is tried again", err)
	}
}

// Filters decide what is shown of what was seen.
func TestFiltersOfKnownTools(t *testing.T) {
	opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir())}
	s := spec("tools=a,b,c")
	s.ToolFilters = []string{"a"}
	see(t, opts, s)
	s.ToolFilters = []string{"!a"}
	b := open(t, opts, s)
	srv := server(t, b, "s")
	if got, want := keys(srv.Items(toolbox.Tools)), []string{"b", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	ready(t, srv)
	if notes := srv.Notes(); notes != nil {
		t.Errorf("got notes %q, want none", notes)
	}
}

// A server that ends when it is asked which era it is of is not asked again, however late it ends.
func TestProbeIsRemembered(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"unprobed", "unprobed=late"} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir()), Client: toolbox.Client{Version: "2026-07-28"}}
			for i, want := range []int32{2, 1, 1} {
				var spawned atomic.Int32
				opts.Spawn = func(s child.Spec) (*child.Process, error) { spawned.Add(1); return child.Start(s) }
				opts.Peer = newPeer()
				b := open(t, opts, childServer("s", spec))
				ready(t, server(t, b, "s"))
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
				if got := spawned.Load(); got != want {
					t.Errorf("run %d: got %d processes, want %d", i, got, want)
				}
			}
			// One that has become modern, with the same command line, is found to be so.
			s := childServer("s", "modern")
			b := open(t, opts, s)
			ready(t, server(t, b, "s"))
			if st := server(t, b, "s").Status(); st.State != toolbox.Ready || !server(t, b, "s").Era().IsStateless() {
				t.Errorf("got %+v, want a modern server that is ready", st)
			}
		})
	}
}

// Recall shows what any client saw, and starts nothing.
func TestRecall(t *testing.T) {
	opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir()), Client: toolbox.Client{Capabilities: []byte(`{"roots":{}}`)}}
	see(t, opts, spec("tools=a,b"))
	off, other := spec("tools=a,b"), spec("tools=a,b")
	off.Name, off.Disabled = "off", true
	other.Name, other.Args = "other", []string{"never seen"}
	b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{spec("tools=x"), off, other}}, toolbox.Options{
		Catalogue: opts.Catalogue, Peer: newPeer(),
		Spawn: func(child.Spec) (*child.Process, error) { t.Error("a process was started"); return nil, io.EOF },
	})
	toolbox.Recall(b)
	for name, want := range map[string][]string{"s": {"a", "b"}, "off": nil, "other": nil} {
		s := server(t, b, name)
		if got := keys(s.Items(toolbox.Tools)); !slices.Equal(got, want) {
			t.Errorf("%s: got tools %v, want %v", name, got, want)
		}
		if st := s.Status(); st.Seen.IsZero() != (want == nil) {
			t.Errorf("%s: got %+v, want it seen: %t", name, st, want != nil)
		}
	}
}

// A server of which a list could not be read when it was seen, as when its client left meanwhile, is waited for.
func TestServerKnownInPart(t *testing.T) {
	opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir())}
	see(t, opts, spec("tools=a prompts=p refuse=prompts/list"))
	b := open(t, opts, spec("tools=a prompts=p"))
	if got := keys(server(t, b, "s").Items(toolbox.Prompts)); !slices.Equal(got, []string{"p"}) {
		t.Errorf("got prompts %v of the server that was opened, want p", got)
	}
}

// A server whose list is longer than is taken is known by what is taken of it, which is the same each time.
func TestServerWithTooMuchIsKnown(t *testing.T) {
	var names []string
	for i := range 120 {
		names = append(names, fmt.Sprint("t", i))
	}
	offer := spec("prompts=p page=1 tools=" + strings.Join(names, ","))
	opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir())}
	see(t, opts, offer)
	opts.Peer, opts.Spawn = newPeer(), func(child.Spec) (*child.Process, error) { t.Error("a process was started"); return nil, io.EOF }
	b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{offer}}, opts)
	toolbox.Recall(b)
	s := server(t, b, "s")
	if got, prompts := keys(s.Items(toolbox.Tools)), keys(s.Items(toolbox.Prompts)); !slices.Equal(got, names[:100]) || !slices.Equal(prompts, []string{"p"}) {
		t.Errorf("got tools %v and prompts %v, want t0 to t99 and p", got, prompts)
	}
}

// What was read of a server that ends before all of its lists came is kept, and of a list that did not come what was
// known of it.
func TestServerThatEndsBeforeItsLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := insideOptions()
		opts.Catalogue, opts.Peer = catalogueIn(t.TempDir()), newPeer()
		answers := opts.Builtins["test"]
		made := func(spec string) *toolbox.Toolbox {
			opts.Builtins = map[string]toolbox.Builtin{"test": func(p principal.Principal, s config.Server) (wire.Endpoint, error) {
				s.Args = strings.Fields(spec)
				return answers(p, s)
			}}
			return toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{inside("s")}}, opts)
		}
		for _, tt := range []struct{ spec, tools, prompts string }{
			{"tools=a prompts=p silent=prompts/list", "a", ""},
			{"tools=a,b prompts=p", "a b", "p"},
			{"tools=a,c prompts=p,q silent=prompts/list", "a c", "p"},
		} {
			b := made(tt.spec)
			if err := b.Open(t.Context(), 20*time.Second); err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			b = made("")
			toolbox.Recall(b)
			s := server(t, b, "s")
			tools, prompts := strings.Join(keys(s.Items(toolbox.Tools)), " "), strings.Join(keys(s.Items(toolbox.Prompts)), " ")
			if tools != tt.tools || prompts != tt.prompts {
				t.Errorf("after %q: got tools %q and prompts %q, want %q and %q", tt.spec, tools, prompts, tt.tools, tt.prompts)
			}
		}
	})
}

// Nothing that is secret reaches the disk.
func TestNoSecretsInTheCatalogue(t *testing.T) {
	dir := t.TempDir()
	s := spec("tools=a")
	s.Env["PASSWORD"] = "canary"
	s.Args = []string{"--token=canary"}
	see(t, toolbox.Options{Catalogue: catalogueIn(dir)}, s)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("got %v, %v, want one file", entries, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, entries[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("canary")) || strings.Contains(entries[0].Name(), "canary") {
		t.Errorf("%s has a secret: %s", entries[0].Name(), data)
	}
}

// A server that repeats its secrets in what it says of itself brings them neither into the catalogue nor into the lock
// file, where their names stand, so that a new value is no change.
func TestRepeatedSecretsAreNotKept(t *testing.T) {
	dir := t.TempDir()
	locked := func(tool, secret string) ([]lock.Item, error) {
		like := spec(tool)
		cfg := secretServer(t, map[string]any{"command": like.Command, "env": like.Env})
		b := open(t, toolbox.Options{Catalogue: catalogueIn(dir), Secret: func(context.Context, config.Secret) (string, error) { return secret, nil }}, cfg)
		return b.Servers()[0].Lockable(t.Context())
	}
	const tool = `tool={"name":"a","description":"It-uses-${secret:K}-alone"}`
	one, err := locked(tool, "one-canary")
	if err != nil {
		t.Fatal(err)
	}
	two, err := locked(tool, "another-canary")
	if err != nil {
		t.Fatal(err)
	}
	if changes := lock.Compare(one, two); len(changes) != 0 {
		t.Errorf("got the changes %v, want none: it is the same but for the secret", changes)
	}
	for _, it := range one {
		if bytes.Contains(it.Text, []byte("canary")) || it.Kind == lock.Tool && !bytes.Contains(it.Text, []byte("-${secret:K}-alone")) {
			t.Errorf("got %s, want the name of the secret in its place", it.Text)
		}
	}
	if items, err := locked(`tool={"name":"${secret:K}"}`, "canary"); err == nil {
		t.Errorf("a secret in a name: got %d items, want an error", len(items))
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		t.Errorf("got %v in the catalogue, want nothing", entries)
	}
}

// Without a folder that can be used all is as without a catalogue.
func TestUnusableCatalogue(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	opts := toolbox.Options{Catalogue: catalogueIn(filepath.Join(file, "x"))}
	see(t, opts, spec("tools=a"))
	see(t, opts, spec("tools=a"))
}

// Closing a toolbox that known servers are starting in ends them.
func TestCloseWhileKnownServersStart(t *testing.T) {
	opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir()), Peer: newPeer()}
	see(t, opts, spec("tools=a"))
	b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{spec("tools=a gate=never")}}, opts)
	if err := b.Open(t.Context(), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	call, h := newCall(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}`)
	b.Servers()[0].Send(call)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-h.done; !errors.As(err, new(*toolbox.UnavailableError)) {
		t.Errorf("got %v, want an UnavailableError", err)
	}
	late := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{spec("tools=a")}}, opts)
	if err := late.Close(); err != nil {
		t.Fatal(err)
	}
	if err := late.Open(t.Context(), time.Second); !errors.Is(err, toolbox.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if _, err := callTool(t, late.Servers()[0], "a", "{}"); !errors.As(err, new(*toolbox.UnavailableError)) {
		t.Errorf("got %v, want an UnavailableError", err)
	}
}

// A server that hangs and was never seen holds up an open once: not the next one of its toolbox, nor one in another
// run, before it was ready for once.
func TestFaultH10_HangingServerHoldsUpOneOpen(t *testing.T) {
	t.Parallel()
	const shortest = 3 * time.Second // and an open that waits for nothing is shorter on any machine
	for name, limit := range map[string]struct{ start, wait time.Duration }{
		"longer than the open": {5 * time.Minute, shortest},
		"until its time-out":   {shortest, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := filepath.Join(t.TempDir(), "gate")
			hung := spec("tools=a gate=" + gate)
			hung.Timeouts.Start = limit.start
			opts := toolbox.Options{Catalogue: catalogueIn(t.TempDir()), Client: toolbox.Client{Version: "2025-11-25"}}
			opened := func(b *toolbox.Toolbox) time.Duration {
				t.Helper()
				began := time.Now()
				if err := b.Open(t.Context(), limit.wait); err != nil {
					t.Fatal(err)
				}
				return time.Since(began)
			}
			box := func() *toolbox.Toolbox {
				opts.Peer = newPeer()
				b := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{hung}}, opts)
				t.Cleanup(func() { _ = b.Close() })
				return b
			}
			b := box()
			if took := opened(b); took < shortest {
				t.Errorf("the first open took %v, want at least %v", took, shortest)
			}
			if took := opened(b); took >= shortest {
				t.Errorf("the second open took %v, want none", took)
			}
			if took := opened(box()); took >= shortest {
				t.Errorf("the open in another run took %v, want none", took)
			}
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			hung.Timeouts.Start = 2 * time.Minute
			limit.wait = 2 * time.Minute
			b = box()
			opened(b)
			ready(t, server(t, b, "s"))
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			b = box()
			opened(b)
			if st := server(t, b, "s").Status(); st.Seen.IsZero() {
				t.Errorf("got %+v, want a server that was seen", st)
			}
		})
	}
}

// Each setting of a server decides by what it is known, but for those that are named here, and values that are secret.
func TestAllThatDecidesIsInTheKey(t *testing.T) {
	others := []string{"Name", "ToolFilters", "Tools", "Disabled", "Shared", "Timeouts", "IdleTimeout", "MaxInFlight", "Pins", "Written", "LargeResults", "ReadOnly", "Approve", "AnyHTTP", "Problem"}
	known := toolbox.KeyOf(config.Server{})
	kind := reflect.TypeFor[config.Server]()
	for i := range kind.NumField() {
		var cfg config.Server
		name, field := kind.Field(i).Name, reflect.ValueOf(&cfg).Elem().Field(i)
		switch field.Interface().(type) {
		case config.EnvFiles:
			cfg.EnvFile = config.EnvFiles{"x"}
		case config.Sandbox:
			cfg.Sandbox.Preset = config.SandboxStrict
		case []config.Tool:
			cfg.Tools = []config.Tool{{Name: "x"}}
		case config.Timeouts:
			cfg.Timeouts.Start = time.Second
		case config.LargeResults:
			cfg.LargeResults.Over = 1
		case config.Approve:
			cfg.Approve = config.Approve{{Tools: "*", When: config.ApproveAlways}}
		case config.InheritEnv:
			cfg.InheritEnv.All = true
		case config.OAuth:
			cfg.OAuth.ClientID = "x"
		case lock.Pins:
			cfg.Pins.Mode = lock.Hold
		case json.RawMessage:
			field.Set(reflect.ValueOf(json.RawMessage("{}")))
		case map[string][]string:
			cfg.SecretCommands = map[string][]string{"x": {"y"}}
		case map[string]string:
			field.Set(reflect.ValueOf(map[string]string{"A": "1"}))
		case []string:
			field.Set(reflect.ValueOf([]string{"x"}))
		default:
			switch field.Kind() {
			case reflect.String:
				field.SetString("x")
			case reflect.Bool:
				field.SetBool(true)
			case reflect.Int, reflect.Int64:
				field.SetInt(1)
			default:
				if name != "Problem" {
					t.Fatalf("%s: this test has no value of type %s", name, field.Type())
				}
				cfg.Problem = errors.New("x")
			}
		}
		if decides := toolbox.KeyOf(cfg) != known; decides == slices.Contains(others, name) {
			t.Errorf("%s: it decides by what a server is known: %v", name, decides)
		}
	}
	one, other := config.Server{Env: map[string]string{"A": "1"}}, config.Server{Env: map[string]string{"A": "2"}}
	if toolbox.KeyOf(one) != toolbox.KeyOf(other) {
		t.Error("the value of a variable decides by what a server is known")
	}
	one, other = config.Server{OAuth: config.OAuth{ClientSecret: "a"}}, config.Server{OAuth: config.OAuth{ClientSecret: "b"}}
	if toolbox.KeyOf(one) != toolbox.KeyOf(other) {
		t.Error("the secret of a login decides by what a server is known")
	}
}

// What is known last is what is kept, however close together it becomes known.
func TestKeptTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := catalogueIn(t.TempDir())
		var version, spun atomic.Int64
		var say func([]byte)
		r := &reluctant{Server: &mcptest.Server{}}
		r.do = func(_ int, m *wire.Message, pass func(), answer func([]byte)) {
			list := func(kind, entry string) {
				answer(wire.AppendResult(nil, m.Bytes(m.ID), fmt.Appendf(nil, `{%q:[{"name":"%s%d"%s}]}`, kind, kind, version.Load(), entry)))
			}
			switch string(m.Bytes(m.Method)) {
			case "initialize":
				say = answer
				answer(wire.AppendResult(nil, m.Bytes(m.ID), []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"s","version":"1"}}`)))
			case "tools/list":
				list("tools", `,"inputSchema":{"type":"object"}`)
			case "prompts/list":
				list("prompts", "")
			default:
				pass()
			}
		}
		var key string
		b, _ := within(t, toolbox.Options{Catalogue: kept, Peer: toolbox.Nobody{}}, func(int) (wire.Endpoint, error) { return r, nil },
			func(cfg *config.Server) { key = toolbox.KeyOf(*cfg) })
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			time.Sleep(time.Minute)
			version.Add(1)
			go say([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
			for range i % 50 * 10000 { // which takes about as long as a file is written
				spun.Add(1)
			}
			go say([]byte(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`))
			time.Sleep(time.Minute)
			got := kept.List().Newest(key)
			for _, kind := range []string{"tools", "prompts"} {
				if want := fmt.Sprintf("%s%d\"", kind, version.Load()); got == nil || !strings.Contains(string(got.Lists[kind][0]), want) {
					t.Fatalf("round %d: got %s, want %s in it", i, got.Lists[kind], want)
				}
			}
		}
	})
}
