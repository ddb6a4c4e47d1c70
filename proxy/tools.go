package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

func isHeld(err error) bool {
	_, held := errors.AsType[*naming.HeldError](err)
	return held
}

// caller makes the calls of tools that a client asks for: by exposed name, through workbench_use_tool, and as pages of
// apps do.
type caller struct {
	desk      *desk
	shelf     *shelf.Shelf
	approvals *approvals
}

// named gives the tool of a name, and reports whether the client is seen for the first time to call one that was added
// to its list.
func (cr *caller) named(c *call, name string) (to naming.Route, first bool, err error) {
	to, err = cr.shelf.Routes().Tools.Meant(naming.Want{Tool: name})
	return to, to.Added && c.terms.ListsMayChange() && !cr.desk.profile.known().habit.Calls, err
}

// callAs sends a call to the tool that is meant, once a person has agreed to it if the configuration wants that.
func (cr *caller) callAs(f *flight, c *call, to naming.Route) {
	if to.Server.Asks(to.Name) {
		cr.agreed(f, c, to, c.Bytes(c.Args), f.callNow)
		return
	}
	f.callNow(c, to)
}

// agreed makes a call once a person has agreed to it. While the question waits, the configuration or the server may
// change: the call is made of the tool as it is by then, and of none that is held back or left out by then.
func (cr *caller) agreed(f *flight, c *call, to naming.Route, arguments []byte, made func(*call, naming.Route)) {
	cr.approvals.approve(f, c, asked(to, arguments), func(c *call) {
		cr.approvals.begin(func(context.Context) { // the server may have to start first
			now, err := to.Server.Offered(f.ctx, to.Key)
			if err == nil && !bytes.Equal(now.Token(), to.Name) {
				err = fmt.Errorf("%q means another tool since the user was asked, so the call was not made: make it again",
					foreign.NewName(to.Key))
			}
			if err != nil {
				f.fail(err)
				return
			}
			to.Server, to.Arguments = now.Server, now.Arguments()
			made(c, to)
		})
	})
}

// asked is what a person is asked about before the tool is called.
func asked(to naming.Route, arguments []byte) approval.Call {
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	return approval.NewCall(to.Server.Toolbox, to.Server.Name, to.Key, arguments)
}

// callNow sends a call to the tool that is meant, with the arguments that it is to have.
func (f *flight) callNow(c *call, to naming.Route) {
	if !f.mayCall(c, to) {
		return
	}
	name := wire.Edit{Span: c.Name, New: to.Name}
	if to.Arguments == nil {
		f.send(c, to.Server, to.Key, name)
		return
	}
	var given []byte
	if c.Args.Present() {
		given = c.Bytes(c.Args)
	}
	arguments, err := to.Arguments.Merge(given)
	switch {
	case err != nil:
		f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params." + err.Error()})
	case c.Args.Present():
		f.send(c, to.Server, to.Key, name, wire.Edit{Span: c.Args, New: arguments})
	default:
		member := append(append([]byte(`"arguments":`), arguments...), ',')
		f.send(c, to.Server, to.Key, wire.Edit{Span: wire.At(c.Params.Start + 1), New: member}, name)
	}
}

// mayCall notes the tool, and whether it may make a task of the call, and refuses the call of one that must where the
// client takes none.
func (f *flight) mayCall(c *call, to naming.Route) bool {
	f.tasks, f.call.Tool = to.Tasks, to.Key
	if to.MustTask && c.terms.DecidesTasks() && !c.terms.has(eras.Tasks) {
		f.fail(eras.Lacks(eras.Tasks))
		return false
	}
	return true
}

// notMeant words why the name of a tool or prompt leads nowhere.
func notMeant(sh *shelf.Shelf, k toolbox.Kind, name string, err error) error {
	if k == toolbox.Tools && isHeld(err) {
		return err // the model is to read it
	}
	msg := err.Error()
	if errors.Is(err, naming.ErrUnknown) || sh.View().IsGone() {
		msg = fmt.Sprintf("%s not found: %q", strings.TrimSuffix(string(k), "s"), foreign.NewName(name))
		absent, again := shelf.Unread(sh, name), "make the call again in some seconds"
		if srv := sh.Absent(name); srv != nil {
			absent, again = []*toolbox.Server{srv}, "make the call again" // it waits
		} else {
			msg += hint(sh, k, name)
		}
		for _, srv := range absent {
			if srv.Status().State.IsStarting() {
				msg += "; " + unknownYet(srv, again)
				continue
			}
			msg += "; " + (&toolbox.UnavailableError{Toolbox: srv.Toolbox, Server: srv.Name, Status: srv.Status()}).Error()
		}
	}
	return &wire.Error{Code: wire.CodeInvalidParams, Message: msg}
}

// callUnlisted makes a call that came before the toolboxes were opened which are open without being asked for, or while
// the server installs whose names begin as this one: clients that know a tool from before need not list it first.
func (cr *caller) callUnlisted(c *call, name string) {
	f := cr.desk.ownAndNarrate(c)
	if f == nil {
		return
	}
	later := c.own()
	cr.desk.awaitMarked(f, cr.shelf, func(done func()) {
		defer done()
		to, err := cr.shelf.Routes().Tools.Meant(naming.Want{Tool: name})
		if srv := installs(cr.shelf, name); err != nil && srv != nil {
			done() // that takes long
			f.narrate(srv)
			toolbox.Settle(f.ctx, srv)
			cr.shelf.Refresh()
			to, err = cr.shelf.Routes().Tools.Meant(naming.Want{Tool: name})
		}
		if b, srv := cr.desk.unopened(cr.shelf, name); err != nil && b != nil {
			wait, opened := cr.desk.turns.take(of(srv))
			defer opened()
			done() // so does that
			w := naming.Want{Toolbox: b.Name, Server: srv.Name, Tool: name}
			to, err = cr.open(f, b, w, w)
			wait()
		}
		if err == nil && to.Server.Asks(to.Name) {
			done() // so does a person
		}
		cr.callFound(f, later, name, to, err)
	})
}

// callFound sends a call to the tool that its name was found to mean, or says why that is none.
func (cr *caller) callFound(f *flight, c *call, name string, to naming.Route, err error) {
	if err != nil {
		f.fail(notMeant(cr.shelf, toolbox.Tools, name, err))
		return
	}
	cr.callAs(f, c, to)
}

// hint says why a tool of a full name is not offered, or which names that clients see are like one that is not known.
func hint(sh *shelf.Shelf, k toolbox.Kind, name string) string {
	if _, srv := sh.Named(name); srv != nil && k == toolbox.Tools {
		if left := leftOut([]*toolbox.Server{srv}, name); left != "" {
			return left
		}
	}
	near := nearest.Names(name, sh.Routes().Directory(k).Names(), mostNear)
	if near == nil {
		switch {
		case sh.View().IsGone():
			return fmt.Sprintf("; toolbox %q, which this client uses, is no longer in the configuration", sh.View().Direct)
		case sh.View().Direct != "":
			return ""
		}
		if _, srv := sh.Named(name); srv != nil {
			return fmt.Sprintf("; server %q of toolbox %q has no such %s", srv.Name, srv.Toolbox, strings.TrimSuffix(string(k), "s"))
		}
		return "; open a toolbox with " + meta.OpenTool + " first, or see its result for the names"
	}
	return "; did you mean " + strings.Join(foreign.Quoted(near), ", ") + "?"
}

// wakeAndCall calls a tool whose toolbox is dormant.
func (cr *caller) wakeAndCall(c *call, name string, srv *toolbox.Server) {
	cr.desk.serve(c, func(f *flight, later *call) {
		if b, err := cr.shelf.Box(srv.Toolbox); err == nil {
			cr.shelf.Wake(f.ctx, b, true, srv.Name)
		}
		to, err := cr.shelf.Routes().Tools.Meant(naming.Want{Tool: name})
		cr.callFound(f, later, name, to, err)
	})
}

// installs returns a server that may have what a name stands for if that is to be waited for, because it installs.
func installs(sh *shelf.Shelf, name string) *toolbox.Server {
	for _, srv := range append(shelf.Unread(sh, name), sh.Absent(name)) {
		if srv != nil && srv.Status().State == toolbox.Installing {
			return srv
		}
	}
	return nil
}
