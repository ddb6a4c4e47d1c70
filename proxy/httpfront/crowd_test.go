package httpfront_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// Many clients at once, whose ids all start at 1, each with a server of its own and one that all share and that crashes
// again and again: every call has one outcome, which is its own.
func TestHTTPCrowd(t *testing.T) {
	t.Parallel()
	clients, calls := 1000, 10
	if raceEnabled || testing.Short() {
		clients = 200
	}
	w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{
		"own":{"command":"inside","args":["tools=echo,progress"]},
		"all":{"command":"child","args":["tools=echo,exit"],"shared":true}}}}}`, webOptions{http: httpfront.Options{MaxSessions: 2000}})
	// The shared server crashes as often as the first client can make it.
	var over atomic.Bool
	var crashes int
	var crasher sync.WaitGroup
	session := w.begin("/mcp/box", "2025-11-25")
	crasher.Go(func() {
		for i := 1; !over.Load(); i++ {
			_, text := w.status("POST", "/mcp/box", callOf(i, "exit", `{"n":3}`), session)
			if strings.Contains(text, "exit status 3") {
				crashes++
			}
		}
	})
	var answered, crashed atomic.Int64
	var g errgroup.Group
	g.SetLimit(64)
	for c := range clients {
		g.Go(func() error {
			modern, session := c%2 == 0, ""
			if !modern {
				session = w.begin("/mcp/box", "2025-11-25")
			}
			for id := 1; id <= calls; id++ {
				tool := "own__echo"
				if id%2 == 0 {
					tool = "all__echo"
				}
				nonce := fmt.Sprintf("n-%d-%d-", c, id)
				body, header := callOf(id, tool, fmt.Sprintf(`{"nonce":%q}`, nonce)), []string{session}
				if modern {
					body, header = modernCall(id, tool, fmt.Sprintf(`{"nonce":%q}`, nonce), "")
				}
				got, err := w.all(body, header...)
				if err != nil {
					return fmt.Errorf("client %d call %d: %w", c, id, err)
				}
				// While its server starts, a call with a progress token hears so.
				for len(got) > 1 && strings.Contains(got[0], fmt.Sprintf(`"progressToken":%d,`, id)) && strings.Contains(got[0], " is starting, ") {
					got = got[1:]
				}
				switch {
				case len(got) != 1 || strings.Count(got[0], fmt.Sprintf(`"id":%d,`, id)) != 1:
					return fmt.Errorf("client %d call %d: got %q, want one reply", c, id, got)
				case strings.Contains(got[0], nonce):
					answered.Add(1)
				case tool == "all__echo" && strings.Contains(got[0], `"isError":true`) && strings.Contains(got[0], `server \"all\"`):
					crashed.Add(1)
				default:
					return fmt.Errorf("client %d call %d: got %s, want its nonce %s", c, id, got[0], nonce)
				}
			}
			return nil
		})
	}
	err := g.Wait()
	over.Store(true)
	crasher.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if n := answered.Load() + crashed.Load(); n != int64(clients*calls) || answered.Load() < int64(clients*calls/2) || crashes == 0 {
		t.Errorf("of %d calls %d were answered and %d met a crash; there were %d crashes", clients*calls, answered.Load(), crashed.Load(), crashes)
	}
	t.Logf("%d calls answered, %d met one of %d crashes", answered.Load(), crashed.Load(), crashes)
}

// all posts a message and returns the messages of the response; it may be called from any goroutine.
func (w *web) all(body string, header ...string) (got []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), peerWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", "http://"+w.address+"/mcp/box", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range header {
		if name, value, ok := strings.Cut(h, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.Header.Get("Content-Type") == "application/json" {
		return []string{string(text)}, nil
	}
	for event := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n\n"), "\n\n") {
		_, data, ok := strings.Cut(event, "data: ")
		if !ok {
			return nil, errors.New("no data in the event " + event)
		}
		if data != "" {
			got = append(got, data)
		}
	}
	return got, nil
}
