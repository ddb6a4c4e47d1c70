package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Rows of what the sessions of clients over HTTP cost.
func activeWhat(sessions int) string  { return fmt.Sprintf("%d active sessions", sessions) }
func restingWhat(sessions int) string { return fmt.Sprintf("%d idle sessions", sessions) }

// sessions measures what is resident of a gateway with many clients: active ones, each with a connection, a stream for
// what belongs to no request, an open toolbox and calls behind it, and idle ones, which were greeted and left. The
// server is one for all of them.
func (b *bench) sessions(ctx context.Context) error {
	server := entry(b.child())
	server["shared"] = true
	path, err := b.write("sessions", toolboxes(map[string]any{}, server))
	if err != nil {
		return err
	}
	for _, crowd := range []struct {
		what  string
		n     int
		begin func(first *httpClient) (*httpClient, error)
	}{
		{activeWhat(b.active), b.active, beginActive},
		{restingWhat(b.resting), b.resting, beginResting},
	} {
		if !b.wanted(crowd.what, httpFront) {
			continue
		}
		b.say(crowd.what)
		for range b.series {
			addresses, err := freeAddresses(1)
			if err != nil {
				return err
			}
			f := b.gateway(b.serving(path), addresses[0], "--max-sessions", fmt.Sprint(crowd.n+1))
			if err := b.populated(ctx, crowd.what, f, crowd.n, crowd.begin); err != nil {
				return fmt.Errorf("%s: %w", crowd.what, err)
			}
		}
	}
	return nil
}

// populated weighs a front with n sessions.
func (b *bench) populated(ctx context.Context, what string, f front, n int, begin func(first *httpClient) (*httpClient, error)) (err error) {
	c, err := f.begin(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := c.close(); err == nil {
			err = cerr
		}
	}()
	for range n {
		session, err := begin(c.caller.(*httpClient))
		if err != nil {
			return c.fault(err)
		}
		defer session.close()
	}
	if mb, ok := resident(c.cmd.Process.Pid); ok {
		b.report.row(what, f.name).add(memory, mb)
	}
	return nil
}

// another is a client of the same server that has no session and no connection.
func (c *httpClient) another() *httpClient {
	return &httpClient{addr: c.addr, path: c.path, token: c.token}
}

// beginResting begins a session on a connection that others use as well.
func beginResting(first *httpClient) (*httpClient, error) {
	c := first.another()
	c.conns = first.conns
	err := greet(c)
	c.conns = nil // which it does not close
	return c, err
}

// beginActive begins a session on two connections of its own, and uses it.
func beginActive(first *httpClient) (c *httpClient, err error) {
	c = first.another()
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if _, err := c.dial(); err != nil {
		return nil, err
	}
	if err := greet(c); err != nil {
		return nil, err
	}
	if err := c.listen(); err != nil {
		return nil, err
	}
	if err := open(c); err != nil {
		return nil, err
	}
	q, err := answerOf(c, useTool, "200 B")
	if err == nil {
		_, err = c.Sequence(q, effort{calls: 3})
	}
	return c, err
}

// listen opens the stream of what belongs to no request, on a connection of its own. When the server says there that its
// tools have changed, they are listed again, as clients do: the answer to an open waits for that.
func (c *httpClient) listen() error {
	conn, err := c.connect()
	if err != nil {
		return err
	}
	c.stream = conn
	request := "GET " + c.path + " HTTP/1.1\r\nHost: " + c.addr + "\r\nAccept: text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n" +
		"Authorization: Bearer " + c.token + "\r\nMcp-Session-Id: " + c.session + "\r\n\r\n"
	if _, err := conn.Write([]byte(request)); err != nil {
		return err
	}
	r, err := http.ReadResponse(conn.in, nil)
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("the stream: HTTP status %s", r.Status)
	}
	c.listening.Go(func() { c.relist(r.Body) })
	return nil
}

// relist lists the tools once the stream says that they have changed. What the stream says after that waits in the
// connection, and a stream that ends before ends the wait. Whoever needs the list fails by itself where it does not come.
func (c *httpClient) relist(stream io.Reader) {
	for lines := bufio.NewScanner(stream); lines.Scan(); {
		if !bytes.Contains(lines.Bytes(), []byte(`"notifications/tools/list_changed"`)) {
			continue
		}
		// The first connection is that of the open, which is under way, and one more is not to be weighed with the session.
		conn, err := c.connect()
		if err != nil {
			return
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(patience))            // close waits for this
		_, _ = c.exchange(conn, c.message("tools/list", "{}", 0)) // Call gives no request the id 0
		return
	}
}
