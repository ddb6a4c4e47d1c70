package httpfront_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// answering makes servers that answer every call with the same 200 bytes.
func answering(principal.Principal, config.Server) (wire.Endpoint, error) { return answerer{}, nil }

type answerer struct{}

func (answerer) Connect(send func([]byte)) wire.Session { return &answers{send: send} }

type answers struct{ send func([]byte) }

func (s *answers) Receive(raw []byte) {
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		panic(err)
	}
	switch {
	case m.IsMethod("tools/call"):
		s.send(wire.AppendResult(nil, m.Bytes(m.ID), []byte(`{"content":[{"type":"text","text":"`+strings.Repeat("x", 140)+`"}]}`)))
	case m.IsMethod("initialize"):
		s.send(wire.AppendResult(nil, m.Bytes(m.ID), []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}`)))
	case m.IsMethod("tools/list"):
		s.send(wire.AppendResult(nil, m.Bytes(m.ID), []byte(`{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)))
	case m.Kind == wire.Request:
		s.send(wire.AppendError(nil, m.Bytes(m.ID), wire.CodeMethodNotFound, "no", nil))
	}
}

func (s *answers) Close(context.Context) error { return nil }

// BenchmarkHTTPCall is one call of 200 bytes over a connection that is kept, with 64 clients at once in this same
// process.
func BenchmarkHTTPCall(b *testing.B) {
	for _, modern := range []bool{false, true} {
		b.Run(fmt.Sprintf("modern=%t", modern), func(b *testing.B) {
			w := newWeb(b, oneBox, webOptions{inside: answering})
			address := w.address
			header := []string{w.begin("/mcp/box", "2025-11-25")}
			body := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"path":"/some/where","n":12}}}`
			if modern {
				body, header = modernCall(0, "t", `{"path":"/some/where","n":12}`, "")
				body = strings.Replace(body, `"id":0`, `"id":%d`, 1)
			}
			const clients = 64
			var work sync.WaitGroup
			b.ReportAllocs()
			b.ResetTimer()
			for c := range clients {
				work.Go(func() {
					conn, err := net.Dial("tcp", address)
					if err != nil {
						b.Error(err)
						return
					}
					defer conn.Close()
					r := bufio.NewReader(conn)
					text := fmt.Sprintf(body, c+1)
					request := fmt.Appendf(nil, "POST /mcp/box HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%s\r\nContent-Length: %d\r\n\r\n%s", address, strings.Join(header, "\r\n"), len(text), text)
					for range b.N / clients {
						if _, err := conn.Write(request); err != nil {
							b.Error(err)
							return
						}
						if err := skipResponse(r); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			work.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

// skipResponse reads a response of status 200 without parsing more of it than that and its length.
func skipResponse(r *bufio.Reader) error {
	length := 0
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		switch {
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")):
			return fmt.Errorf("got %s", line)
		case bytes.HasPrefix(line, []byte("Content-Length: ")):
			for _, c := range bytes.TrimSpace(line[len("Content-Length: "):]) {
				length = length*10 + int(c-'0')
			}
		case len(line) == 2:
			_, err := r.Discard(length)
			return err
		}
	}
}
