package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/signature"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// usage is what the arguments of workbench_use_tool ask for.
type usage struct {
	naming.Want
	arguments wire.Span // of the tool
}

// wanted reads the arguments in either form.
func wanted(c *call, sh *shelf.Shelf) (usage, error) {
	var w usage
	if !c.Args.Present() {
		return w, fmt.Errorf("%s needs arguments: toolbox_name, tool_name and the tool's own arguments", meta.UseTool)
	}
	var out [7]wire.Span
	if err := c.findArgs(c.Args, []string{"toolbox_name", "toolbox", "tool_name", "arguments", "tool", "server_name", "server"}, out[:]); err != nil {
		return w, fmt.Errorf("%s: %s", meta.UseTool, text(err))
	}
	w.Toolbox = toolboxName(sh.View().Cfg, c.Bytes(cmp.Or(out[0], out[1])))
	w.Tool, _ = wire.Unquote(c.Bytes(out[2]))
	w.Server, _ = wire.Unquote(c.Bytes(cmp.Or(out[5], out[6])))
	w.arguments = out[3]
	if out[4].Present() {
		if c.Raw[out[4].Start] != '{' {
			return w, fmt.Errorf(`%s: tool is an object of "toolbox", "server" and "name"; or leave it out and give toolbox_name and tool_name`, meta.UseTool)
		}
		var in [3]wire.Span
		if err := c.findArgs(out[4], []string{"toolbox", "server", "name"}, in[:]); err != nil {
			return w, fmt.Errorf("%s: tool: %s", meta.UseTool, text(err))
		}
		if in[0].Present() {
			w.Toolbox = toolboxName(sh.View().Cfg, c.Bytes(in[0]))
		}
		if in[1].Present() {
			w.Server, _ = wire.Unquote(c.Bytes(in[1]))
		}
		w.Tool, _ = wire.Unquote(c.Bytes(in[2]))
	}
	if w.Toolbox == "" { // a full name says it
		w.Toolbox, _, _ = naming.Whose(sh.View().Cfg, w.Tool)
	}
	switch {
	case w.Toolbox == "":
		return w, fmt.Errorf("%s needs toolbox_name (or tool.toolbox)%s", meta.UseTool, owners(sh, w.Tool))
	case w.Tool == "":
		return w, fmt.Errorf("%s needs tool_name (or tool.name)", meta.UseTool)
	case w.arguments.Present() && c.Raw[w.arguments.Start] == '"':
		return w, fmt.Errorf("%s: arguments must be an object, and not a string that holds one", meta.UseTool)
	case w.arguments.Present() && c.Raw[w.arguments.Start] != '{':
		return w, fmt.Errorf("%s: arguments must be an object", meta.UseTool)
	}
	return w, nil
}

// owners names the open toolboxes that have a tool of that name, or else all toolboxes, for who did not say which is
// meant.
func owners(sh *shelf.Shelf, tool string) string {
	var names []string
	for _, b := range sh.Opened() {
		if slices.ContainsFunc(b.Servers(), func(srv *toolbox.Server) bool {
			return slices.ContainsFunc(srv.Items(toolbox.Tools), func(it toolbox.Item) bool { return it.Key.Verbatim() == tool })
		}) {
			names = append(names, fmt.Sprintf("%q", b.Name))
		}
	}
	if names == nil {
		server, _, _ := strings.Cut(tool, "/")
		return "; " + sh.View().Available(server)
	}
	return fmt.Sprintf("; %q is a tool of toolbox %s", foreign.NewName(tool), strings.Join(names, " and of "))
}

// toolboxName reads the name of a toolbox, without white space around it: no toolbox has any there. Of one that there
// is it is the configuration's own, so that nothing is allocated for it.
func toolboxName(cfg *config.Config, token []byte) string {
	if len(token) > 2 {
		for i := range cfg.Toolboxes {
			if name := cfg.Toolboxes[i].Name; name == string(token[1:len(token)-1]) && token[0] == '"' {
				return name
			}
		}
	}
	name, _ := wire.Unquote(token)
	return strings.TrimSpace(name)
}

// useTool forwards the call that stands in the arguments. Where the tool is known that happens on the caller's
// goroutine, as for a registered name; else the toolbox is opened first.
func (cr *caller) useTool(c *call) {
	w, err := wanted(c, cr.shelf)
	var b *shelf.Box
	if err == nil {
		b, err = cr.shelf.Box(w.Toolbox)
	}
	if err != nil {
		cr.desk.refuse(c, w.Tool, err)
		return
	}
	if b.Opened() {
		if to, err := cr.shelf.Routes().Tools.Meant(w.Want); err == nil && !to.Server.Asks(to.Name) && !cr.desk.turns.waited(of(to.Server)) {
			if f := cr.desk.take(c); f != nil {
				cr.use(f, c, w, to)
			}
			return
		}
	}
	whole := cr.shelf.Routes().Whole(w.Want)
	cr.opening(c, b, w.Want, whole, func(f *flight, later *call, to naming.Route, err error) {
		switch {
		case errors.Is(err, naming.ErrUnknown):
			f.fail(missing(cr.shelf, b, whole))
		case err != nil:
			f.fail(err)
		default:
			cr.use(f, later, w, to)
		}
	})
}

// callUnopened calls a tool by a full name whose toolbox is to be opened first, or whose server is starting: the client
// knows the name from another session, or from a list that it read before this one. It reports false if there is nothing
// to open or to wait for.
func (cr *caller) callUnopened(c *call, name string) bool {
	b, srv := cr.desk.unopened(cr.shelf, name)
	if b == nil {
		if srv = cr.shelf.Absent(name); srv == nil || !srv.Status().State.IsStarting() {
			return false
		}
		b = cr.shelf.Find(srv.Toolbox)
	}
	w := naming.Want{Toolbox: b.Name, Server: srv.Name, Tool: name}
	cr.opening(c, b, w, w, func(f *flight, later *call, to naming.Route, err error) {
		cr.callFound(f, later, name, to, err)
	})
	return true
}

// opening opens the toolbox of a tool that is wanted, and has the call go on with what is meant, in its turn. whole says
// whose the tool is, as far as its name does.
func (cr *caller) opening(c *call, b *shelf.Box, w, whole naming.Want, goOn func(*flight, *call, naming.Route, error)) {
	f := cr.desk.ownAndNarrate(c, b.Servers()...)
	if f == nil {
		return
	}
	later := c.own()
	wait, done := cr.desk.turns.take(naming.Want{Toolbox: whole.Toolbox, Server: whole.Server})
	f.serve(func() {
		defer done()
		to, err := cr.open(f, b, w, whole)
		wait()
		if err == nil && to.Server.Asks(to.Name) {
			done() // a person takes long
		}
		goOn(f, later, to, err)
	})
}

// open opens the toolbox, or waits until it has opened, and gives the tool that is meant. It waits for no other server
// than the one that is named; where none is, several might have the tool.
func (cr *caller) open(f *flight, b *shelf.Box, w, whole naming.Want) (to naming.Route, err error) {
	var names []string
	if srv, ok := b.Server(whole.Server); ok {
		names = append(names, whole.Server)
		f.narrate(srv)
	}
	if b.Opened() {
		// Only an open has servers tried again: a model that calls and calls what is not there is not to start a
		// process each time.
		b.Await(f.ctx, cr.shelf.View().Cfg.OpenTimeout, names...)
		cr.shelf.Refresh() // what it waited for may not have told its lists yet
	} else if _, err := cr.shelf.Open(f.ctx, b, true, names...); err != nil {
		return to, err
	}
	to, err = cr.shelf.Routes().Tools.Meant(w)
	if errors.Is(err, naming.ErrUnknown) && b.AwaitInstall(f.ctx, whole.Server) {
		cr.shelf.Refresh()
		to, err = cr.shelf.Routes().Tools.Meant(w)
	}
	return to, err
}

// use makes the inner call, once a person has agreed to it if the configuration wants that.
func (cr *caller) use(f *flight, c *call, w usage, to naming.Route) {
	if err := misplaced(c, w.arguments, to); err != nil {
		f.fail(err)
		return
	}
	if to.Server.Asks(to.Name) {
		cr.agreed(f, c, to, c.Bytes(w.arguments), func(c *call, to naming.Route) {
			w, err := wanted(c, cr.shelf) // it may stand elsewhere now
			if err != nil {
				f.fail(err)
				return
			}
			f.useNow(c, w, to)
		})
		return
	}
	f.useNow(c, w, to)
}

// useNow sends the inner call in place of the outer one.
func (f *flight) useNow(c *call, w usage, to naming.Route) {
	arguments := c.Bytes(w.arguments)
	if arguments == nil {
		arguments = []byte("{}")
	}
	if !f.mayCall(c, to) {
		return
	}
	f.inner = newInner(&f.request, to.Server, to.Key, arguments)
	if !w.arguments.Present() {
		f.inner.beside, _ = strayArguments(c, nil)
	}
	f.record.arguments(&f.request, arguments)
	arguments, err := to.Arguments.Merge(arguments)
	if err != nil {
		f.fail(err)
		return
	}
	f.send(c, to.Server, to.Key, wire.Edit{Span: c.Name, New: to.Name}, wire.Edit{Span: c.Args, New: arguments})
}

// missing says why a tool is not found: its server is unknown or not there, or has no such tool. The names that it gives
// instead are those by which a tool can be called.
func missing(sh *shelf.Shelf, b *shelf.Box, w naming.Want) error {
	var servers, names, absent []string
	var meant []*toolbox.Server
	var tools []toolbox.Item
	for _, srv := range b.Servers() {
		servers = append(servers, srv.Name)
		if w.Server != "" && srv.Name != w.Server {
			continue
		}
		meant = append(meant, srv)
		for _, it := range srv.Items(toolbox.Tools) {
			tools = append(tools, it)
			names = append(names, it.Key.Verbatim())
		}
		// Of a server whose tools are known it makes no difference that it is only starting.
		st := srv.Status()
		switch {
		case st.State == toolbox.Ready || st.Tools > 0 && (st.State.IsStarting() || st.State == toolbox.Stopped):
			if err := srv.Unread(toolbox.Tools); err != nil {
				absent = append(absent, fmt.Sprintf("server %q of toolbox %q: %v", srv.Name, b.Name, err))
			}
		case st.State.IsStarting() && w.Server == "":
			absent = append(absent, unknownYet(srv, fmt.Sprintf("call it as %q, which waits for the server", foreign.NewName(srv.Name+"/"+w.Tool))))
		case st.State.IsStarting():
			absent = append(absent, unknownYet(srv, "make the call again"))
		default:
			absent = append(absent, (&toolbox.UnavailableError{Toolbox: b.Name, Server: srv.Name, Status: st}).Error())
		}
	}
	cfg := sh.View().Cfg
	if _, ok := b.Server(w.Server); w.Server != "" && !ok {
		msg := fmt.Sprintf("toolbox %q has no server %q; its servers: %s", b.Name, foreign.NewName(w.Server), strings.Join(servers, ", "))
		if whose := meta.Holder(cfg, w.Server); whose != "" {
			msg += "; " + whose
		}
		return errors.New(msg)
	}
	where := fmt.Sprintf("toolbox %q", b.Name)
	if w.Server != "" {
		where = fmt.Sprintf("server %q of %s", w.Server, where)
	}
	msg := fmt.Sprintf("tool not found: %q in %s", foreign.NewName(w.Tool), where)
	server, _, _ := strings.Cut(w.Tool, "/")
	switch whose, left := meta.Holder(cfg, server), leftOut(meant, w.Tool); {
	case left != "":
		return errors.New(msg + left)
	case meta.Reserved(w.Tool) && sh.View().HasMeta(w.Tool):
		return errors.New(msg + "; it is a tool of workbench itself: call it directly")
	case server != w.Tool && w.Server == "" && whose != "":
		return fmt.Errorf("%s; %s: name that toolbox", msg, whose)
	}
	called := func(it *toolbox.Item) string {
		return signature.Name(sh.Routes().Tools.Called(naming.Identity{Server: it.Server, Key: it.Key.Verbatim()}))
	}
	if near := nearest.Names(w.Tool, names, mostNear); near != nil {
		var like []string
		for _, name := range near {
			for i := range tools {
				if tools[i].Key.Verbatim() == name && len(like) < mostNear {
					like = append(like, called(&tools[i])+signature.Of(definition(&tools[i])[inputSchema]))
				}
			}
		}
		msg += "; did you mean " + strings.Join(like, ", or ") + "?"
	} else if len(tools) > 0 {
		var shown []string
		for i := range tools[:min(len(tools), 20)] {
			shown = append(shown, called(&tools[i]))
		}
		msg += "; it has " + strings.Join(shown, ", ")
		if len(tools) > 20 {
			msg += fmt.Sprintf(" and %d more, which %s tells", len(tools)-20, meta.OpenTool)
		}
	}
	if len(absent) > 0 {
		msg += "; " + strings.Join(absent, "; ")
	}
	return errors.New(msg)
}

// leftOut says which of the servers have a tool that is not offered, and why. The name of the tool is the servers', or,
// of a single server, the one that clients would see.
func leftOut(servers []*toolbox.Server, tool string) (said string) {
	if len(servers) == 1 {
		tool = strings.TrimPrefix(tool, servers[0].Toolbox+"__"+servers[0].Name+"__")
	}
	for x := range toolbox.Excluded(servers, tool) {
		said += fmt.Sprintf("; server %q has it, but %s", x.Server.Name, x.Why)
	}
	return said
}

// mostNear is how many names are told that are like one that is not known.
const mostNear = 3

// unknownYet says that a server is only starting, so that nothing is known of its tools, and what to do.
func unknownYet(srv *toolbox.Server, what string) string {
	return fmt.Sprintf("server %q of toolbox %q is starting, %s, and its tools are not known yet: %s", srv.Name, srv.Toolbox, srv.Status().When(), what)
}
