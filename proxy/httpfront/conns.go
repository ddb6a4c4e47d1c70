package httpfront

import (
	"container/list"
	"context"
	"net"
	"sync"
)

// limitedListener leaves connections beyond its limit waiting in the kernel. Of strangers, on whose connections nobody
// was let in yet, it has a part of that alone: beyond it the oldest of the address that has most makes place for the
// newest, so that connections that say nothing keep nobody out.
type limitedListener struct {
	net.Listener
	room   chan struct{}
	closed chan struct{}
	once   sync.Once

	mu        sync.Mutex
	most      int // strangers at a time
	number    int
	strangers map[string]*list.List // of *limitedConn, the oldest first, by address
}

func limitConns(ln net.Listener, n int) net.Listener {
	return &limitedListener{
		Listener:  ln,
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
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.room
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
	l    *limitedListener
	once sync.Once

	// Guarded by l.mu.
	from     string // its address
	stranger *list.Element
}

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
