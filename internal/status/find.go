package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/syserr"
)

// getTime bounds the answer of a workbench, which has it at hand.
const getTime = 3 * time.Second

// recordTime bounds an answer that may have 16 MiB of calls in it, and one that many servers are restarted for.
const recordTime = 10 * time.Second

// Peer is the socket of a workbench.
type Peer struct {
	path string
	dial *dial // in tests, in place of connecting to path
}

// A dial makes a connection to a workbench.
type dial func(ctx context.Context) (net.Conn, error)

// FindPeriod is how often one that watches looks for new workbenches.
const FindPeriod = time.Second

// Sort puts workbenches into the order of their starts.
func Sort(all []Workbench) {
	slices.SortFunc(all, func(a, b Workbench) int { return a.Since.Compare(b.Since) })
}

// Find gives the sockets that are in the folders that are the user's alone, of which some may be dead.
func Find(dirs []string) []Peer {
	var peers []Peer
	for _, dir := range dirs {
		if isPrivate(dir) != nil {
			continue // it is not there, or somebody else may have put into it what answers
		}
		for _, path := range sockets(dir) {
			peers = append(peers, Peer{path: path})
		}
	}
	return peers
}

// Path is where the socket is.
func (p Peer) Path() string { return p.path }

// ErrGone says that nobody answers on a socket: its process has ended.
var ErrGone = errors.New("the workbench has ended")

// Get asks the workbench where it stands.
func (p Peer) Get(ctx context.Context) (w Workbench, err error) {
	err = p.get(ctx, getTime, "/status", &w)
	foreign.CleanAll(&w)
	return w, err
}

// Watch asks the workbench where it stands and hands on the answer, and each one after it, until ctx or the workbench
// ends.
func (p Peer) Watch(ctx context.Context, changed func(Workbench)) error {
	return p.follow(ctx, "/status?watch", func(body io.Reader) error {
		return each(body, func(w Workbench) error {
			foreign.CleanAll(&w) // for it is shown
			changed(w)
			return nil
		})
	})
}

// each hands on the documents that come one after the other, until said returns an error or no more come, which is
// ErrGone.
func each[T any](body io.Reader, said func(T) error) error {
	for d := json.NewDecoder(body); ; {
		var one T
		if d.Decode(&one) != nil {
			return ErrGone
		}
		if err := said(one); err != nil {
			return err
		}
	}
}

// ErrNone says that a workbench does not have what was asked for.
var ErrNone = errors.New("the workbench does not have that")

// Visit makes a request of what a workbench answers guests, a POST if there is a body, and has the answer read.
func (p Peer) Visit(ctx context.Context, resource string, body []byte, read func(io.Reader) error) error {
	return p.ask(ctx, "/guests"+resource, body, read)
}

// get reads one resource, a document whose end comes in time. What another process says is cleaned where it is shown.
func (p Peer) get(ctx context.Context, within time.Duration, resource string, to any) error {
	return p.bounded(ctx, within, true, resource, nil, decode(to))
}

func decode(to any) func(io.Reader) error {
	return func(body io.Reader) error {
		if err := json.NewDecoder(body).Decode(to); err != nil {
			return foreign.Misread(err, to)
		}
		return nil
	}
}

// follow reads one resource, whose beginning comes in time and whose end when it comes.
func (p Peer) follow(ctx context.Context, resource string, read func(io.Reader) error) error {
	return p.bounded(ctx, getTime, false, resource, nil, read)
}

// bounded makes a request whose answer comes in time, all of it or only its beginning. A process that hangs, or was
// stopped with its client in a terminal, takes requests and answers none.
func (p Peer) bounded(ctx context.Context, within time.Duration, all bool, resource string, body []byte, read func(io.Reader) error) error {
	asked, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(within, func() {
		cancel(fmt.Errorf("%s: no answer within %s: its process hangs or is stopped", p.path, within))
	})
	defer late.Stop()
	err := p.ask(asked, resource, body, func(answer io.Reader) error {
		if !all {
			late.Stop()
		}
		return read(answer)
	})
	if hangs := context.Cause(asked); err != nil && hangs != nil && ctx.Err() == nil {
		return hangs
	}
	return err
}

// Approvals asks the workbench which calls wait for a person.
func (p Peer) Approvals(ctx context.Context) (calls []approval.Call, err error) {
	err = p.get(ctx, getTime, "/approvals", &calls)
	return calls, err
}

// Answer answers a call that waits. It returns [ErrNone] if it waits no longer.
func (p Peer) Answer(ctx context.Context, id string, agree bool) error {
	resource := fmt.Sprintf("/approvals/%s?agree=%t", url.PathEscape(id), agree)
	return p.bounded(ctx, getTime, true, resource, []byte("{}"), func(io.Reader) error { return nil })
}

// Calls asks the workbench for the calls that a filter wants.
func (p Peer) Calls(ctx context.Context, f calls.Filter) ([]calls.Call, error) {
	var list calls.List
	err := p.get(ctx, recordTime, "/calls?"+f.Query().Encode(), &list)
	return list.Calls, err
}

// Call asks the workbench for one call. It returns [ErrNone] if that is not kept.
func (p Peer) Call(ctx context.Context, id string) (c calls.Call, err error) {
	err = p.get(ctx, recordTime, "/calls/"+url.PathEscape(id), &c)
	return c, err
}

// FollowCalls hands on each call that ends, or how many were missed, until ctx or the workbench ends, or said returns
// an error. ready, if it is not nil, is called when no call is missed any more.
func (p Peer) FollowCalls(ctx context.Context, f calls.Filter, ready func(), said func(calls.Said) error) error {
	return p.follow(ctx, "/calls?follow&"+f.Query().Encode(), func(body io.Reader) error {
		if ready != nil {
			ready()
		}
		return each(body, said)
	})
}

// Lines hands on what servers of a name wrote to standard error, the oldest first, the last n of each workbench if n is
// not 0, and where follow says so each line that is written then, until ctx or the workbench ends. It returns [ErrNone]
// if the workbench has no such server.
func (p Peer) Lines(ctx context.Context, toolbox, server string, n int, follow bool, said func(Line) error) error {
	q := url.Values{"toolbox": {toolbox}, "server": {server}, "n": {strconv.Itoa(n)}}
	tell := func(body io.Reader) error {
		for d := json.NewDecoder(body); ; {
			var l Line
			if err := d.Decode(&l); err == io.EOF {
				return nil
			} else if err != nil {
				return ErrGone
			}
			if err := said(l); err != nil {
				return err
			}
		}
	}
	if follow {
		return p.follow(ctx, "/servers/lines?follow&"+q.Encode(), tell)
	}
	return p.bounded(ctx, recordTime, true, "/servers/lines?"+q.Encode(), nil, tell)
}

// Restart has servers of a name started anew. It returns [ErrNone] if the workbench has no such server.
func (p Peer) Restart(ctx context.Context, toolbox, server string) (done []Restart, err error) {
	var all Restarts
	q := url.Values{"toolbox": {toolbox}, "server": {server}}
	err = p.bounded(ctx, recordTime, true, "/servers/restart?"+q.Encode(), []byte("{}"), decode(&all))
	return all.Restarts, err
}

func (p Peer) ask(ctx context.Context, resource string, body []byte, read func(io.Reader) error) error {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		if p.dial != nil {
			return (*p.dial)(ctx)
		}
		return connect(ctx, p.path)
	}}
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://workbench"+resource, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := transport.RoundTrip(req)
	switch {
	case syserr.IsRefused(err) || errors.Is(err, os.ErrNotExist):
		return ErrGone
	case err != nil:
		return fmt.Errorf("%s: %w", p.path, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
	case http.StatusNotFound:
		return ErrNone
	default:
		return fmt.Errorf("%s: got status %d", p.path, resp.StatusCode)
	}
	if err := read(resp.Body); err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	return nil
}

// Own reports whether the socket is that of this process.
func (p Peer) Own() bool { return filepath.Base(p.path) == fmt.Sprint(os.Getpid(), suffix) }
