package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// httpClient speaks streamable HTTP over connections that it keeps, without net/http's client, which would cost more
// than the server that is measured.
type httpClient struct {
	addr, path, token string
	session           string // Mcp-Session-Id, once the server gave one
	last              int
	conns             []*httpConn
	stream            *httpConn      // of what belongs to no request; nil before listen
	listening         sync.WaitGroup // on the stream, until close at the latest
}

// httpConn is one connection; it belongs to one goroutine at a time.
type httpConn struct {
	net.Conn
	in   *bufio.Reader
	out  []byte
	body bytes.Buffer
}

// overHTTP are the fronts that serve HTTP: one of mcp-go's typed parts, and workbench, whose command for standard input
// and output is given.
func (p programs) overHTTP(serve, server []string) ([]front, error) {
	addresses, err := freeAddresses(2)
	if err != nil {
		return nil, err
	}
	typed, own := addresses[0], p.gateway(serve, addresses[1])
	own.box = true
	return []front{{name: typedHTTPFront, argv: p.behind(server, "typed", "--http", typed), url: "http://" + typed + "/mcp"}, own}, nil
}

// freeAddresses are some on this machine that nothing listens on now.
func freeAddresses(n int) (addresses []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // when all are known, so that they differ
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

// dialHTTP connects to a server that may still be starting. token is the file of its bearer token, or "".
func dialHTTP(ctx context.Context, address, token string) (*httpClient, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	c := &httpClient{addr: u.Host, path: u.Path}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		_, err := c.dial()
		if err == nil {
			break
		}
		if time.Since(begun) > patience || ctx.Err() != nil {
			return nil, err
		}
	}
	if token != "" {
		text, err := os.ReadFile(token)
		if err != nil {
			return nil, err
		}
		c.token = strings.TrimSpace(string(text))
	}
	return c, nil
}

// dial makes one more connection.
func (c *httpClient) dial() (*httpConn, error) {
	conn, err := c.connect()
	if err == nil {
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

// connect makes a connection that the caller closes.
func (c *httpClient) connect() (*httpConn, error) {
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		return nil, err
	}
	return &httpConn{Conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (c *httpClient) close() {
	for _, conn := range c.conns {
		_ = conn.Close() // nothing that matters is on its way
	}
	if c.stream != nil {
		_ = c.stream.Close()
	}
	c.listening.Wait()
}

func (c *httpClient) Call(method, params string) ([]byte, error) {
	c.last++
	line, err := c.exchange(c.conns[0], c.message(method, params, c.last))
	if err != nil {
		return nil, err
	}
	if id, _, ok := replyID(line); !ok || id != uint64(c.last) {
		return nil, fmt.Errorf("the answer to request %d is another's: %s", c.last, clip(line))
	}
	return bytes.Clone(line), nil
}

func (c *httpClient) Notify(method string) error {
	_, err := c.exchange(c.conns[0], fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q}`, method))
	return err
}

func (c *httpClient) message(method, params string, id int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

func (c *httpClient) Sequence(q *request, e effort) ([]time.Duration, error) {
	var took []time.Duration
	for begun := time.Now(); !e.done(len(took), time.Since(begun)); {
		c.last++
		sent := time.Now()
		if err := c.one(c.conns[0], q, c.last); err != nil {
			return nil, err
		}
		took = append(took, time.Since(sent))
	}
	return took, nil
}

// Crowd makes calls on as many connections.
func (c *httpClient) Crowd(q *request, width int, e effort) (calls int, took time.Duration, err error) {
	for len(c.conns) < width {
		if _, err := c.dial(); err != nil {
			return 0, 0, err
		}
	}
	counts, errs := make([]int, width), make([]error, width)
	share := effort{(e.calls + width - 1) / width, e.time}
	begun := time.Now()
	var work sync.WaitGroup
	for i, conn := range c.conns[:width] {
		first := c.last + 1 + i
		work.Go(func() {
			for id := first; errs[i] == nil && !share.done(counts[i], time.Since(begun)); id += width {
				errs[i] = c.one(conn, q, id)
				counts[i]++
			}
		})
	}
	work.Wait()
	took = time.Since(begun)
	most := 0
	for _, n := range counts {
		calls += n
		most = max(most, n)
	}
	c.last += most * width
	return calls, took, errors.Join(errs...)
}

// one makes a call and checks its answer.
func (c *httpClient) one(conn *httpConn, q *request, id int) error {
	line, err := c.exchange(conn, c.message(q.method, q.params, id))
	if err != nil {
		return err
	}
	got, digits, ok := replyID(line)
	if !ok || got != uint64(id) || len(line)-digits != q.rest {
		return fmt.Errorf("the answer to request %d is other than the first one: %s", id, clip(line))
	}
	return nil
}

// exchange posts one message and returns the answer to it, valid until the next; nil where the server only took note.
func (c *httpClient) exchange(conn *httpConn, message []byte) ([]byte, error) {
	b := append(conn.out[:0], "POST "+c.path+" HTTP/1.1\r\nHost: "+c.addr+
		"\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n"...)
	if c.token != "" {
		b = append(b, "Authorization: Bearer "+c.token+"\r\n"...)
	}
	if c.session != "" {
		b = append(b, "Mcp-Session-Id: "+c.session+"\r\n"...)
	}
	b = append(strconv.AppendInt(append(b, "Content-Length: "...), int64(len(message)), 10), "\r\n\r\n"...)
	conn.out = append(b, message...)
	if _, err := conn.Write(conn.out); err != nil {
		return nil, err
	}
	r, err := http.ReadResponse(conn.in, nil)
	if err != nil {
		return nil, err
	}
	conn.body.Reset()
	if _, err := io.Copy(&conn.body, r.Body); err != nil {
		return nil, err
	}
	body := bytes.TrimSpace(conn.body.Bytes())
	if r.StatusCode/100 != 2 {
		return nil, fmt.Errorf("HTTP status %s: %s", r.Status, clip(body))
	}
	if id := r.Header.Get("Mcp-Session-Id"); id != "" && c.session == "" {
		c.session = id
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		return body, nil
	}
	// The answer is the last event of the stream; what comes before it are notifications.
	_, data, _ := bytes.Cut(body[max(0, bytes.LastIndex(body, []byte("\ndata:"))):], []byte("data:"))
	return bytes.TrimSpace(data), nil
}
