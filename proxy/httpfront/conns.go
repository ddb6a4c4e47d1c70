package httpfront

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/mcp-workbench/workbench/internal/syserr"
)

// limitedListener leaves connections beyond its limit waiting in the kernel. Of strangers, on whose connections nobody
// was let in yet, it has a part of that alone: beyond it the oldest of the address that has most makes place for the
// newest, so that connections that say nothing keep nobody out.
type limitedListener struct {
	net.Listener
	misled func(from string) // hears of a client that speaks TLS to a port without it; nil for a port with TLS
	full   func(why error)   // hears that clients wait until others have gone
	room   chan struct{}
	closed chan struct{}
	once   sync.Once

	mu        sync.Mutex
	most      int // strangers at a time
	number    int
	strangers map[string]*list.List // of *limitedConn, the oldest first, by address
}

func limitConns(ln net.Listener, n int, misled func(from string), full func(why error)) net.Listener {
	return &limitedListener{
		Listener:  ln,
		misled:    misled,
		full:      full,
		room:      make(chan struct{}, n),
		closed:    make(chan struct{}),
		most:      max(n/10, min(n, 100)),
		strangers: make(map[string]*list.List),
	}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.room <- struct{}{}:
	default:
		l.full(fmt.Errorf("%d connections are open, which are as many as are taken", cap(l.room)))
		select {
		case l.room <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		if syserr.IsNoFiles(err) {
			l.full(fmt.Errorf("%w; raise the number of files that workbench may have open (ulimit -n), or lower --max-sessions", err))
		}
		return nil, err
	}
	lc := &limitedConn{Conn: c, l: l}
	if old := l.receive(lc); old != nil {
		_ = old.Close()
	}
	return lc, nil
}

// receive notes a stranger, and returns the one that is to go for it, if any.
func (l *limitedListener) receive(c *limitedConn) (old *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.number == l.most {
		var longest *list.List
		for _, of := range l.strangers {
			if longest == nil || of.Len() > longest.Len() {
				longest = of
			}
		}
		old = longest.Front().Value.(*limitedConn)
		l.forgetLocked(old)
	}
	c.from = c.RemoteAddr().String()
	if host, _, err := net.SplitHostPort(c.from); err == nil {
		c.from = host
	}
	of := l.strangers[c.from]
	if of == nil {
		of = list.New()
		l.strangers[c.from] = of
	}
	c.stranger = of.PushBack(c)
	l.number++
	return old
}

// forgetLocked notes that c is no stranger any more.
func (l *limitedListener) forgetLocked(c *limitedConn) {
	if c.stranger == nil {
		return
	}
	of := l.strangers[c.from]
	of.Remove(c.stranger)
	if of.Len() == 0 {
		delete(l.strangers, c.from)
	}
	c.stranger = nil
	l.number--
}

// Close implements net.Listener.
func (l *limitedListener) Close() (err error) {
	l.once.Do(func() {
		close(l.closed)
		err = l.Listener.Close()
	})
	return err
}

type limitedConn struct {
	net.Conn
	l     *limitedListener
	once  sync.Once
	begun bool // something was read

	// Guarded by l.mu.
	from     string // its address
	stranger *list.Element
}

// handshake is the first byte of a client that speaks TLS (RFC 8446, section 5.1), and of no request of HTTP.
const handshake = 0x16

// Read implements net.Conn. To net/http the first message of TLS looks like a request whose end is to come, for which it
// waits; the client is told at once, in the way from which it knows what it has met.
func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.begun || n == 0 {
		return n, err
	}
	c.begun = true
	if p[0] != handshake || c.l.misled == nil {
		return n, err
	}
	c.l.misled(c.from)
	_, _ = io.WriteString(c.Conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"+spokeTLS+"\n")
	return 0, io.EOF
}

// spokeTLS is what a client is told that speaks TLS to a port without it.
const spokeTLS = "this address is served without TLS: its URL begins with http:// and not with https://"

// known says that somebody was let in on the connection.
func (c *limitedConn) known() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.forgetLocked(c)
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.known()
		<-c.l.room
	})
	return err
}

// CloseWrite lets the last response reach a client that is still sending: net/http looks for it.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type connKey struct{}

// withConn has the requests of a connection know it.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = over.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// welcome notes that somebody was let in on the connection of a request.
func welcome(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*limitedConn); ok {
		c.known()
	}
}
