package meaning_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/meaning"
	"github.com/mcp-workbench/workbench/internal/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// endpoint answers /v1/embeddings with vectors of three numbers: of money, of weather, of anything.
type endpoint struct {
	url    string
	broken func(w http.ResponseWriter, r *http.Request) // answers in its place; nil: it does not

	mu    sync.Mutex
	asked [][]string // the texts of each request
}

func newEndpoint(t *testing.T, broken func(w http.ResponseWriter, r *http.Request)) *endpoint {
	e := &endpoint{broken: broken}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	e.url = server.URL + "/v1"
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/v1/embeddings" || q.Model != "small" || r.Header.Get("Authorization") != "Bearer k" {
		http.Error(w, "what is this?", http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	e.asked = append(e.asked, q.Input)
	e.mu.Unlock()
	if e.broken != nil {
		e.broken(w, r)
		return
	}
	var data []string
	for i, text := range slices.Backward(q.Input) { // the order is theirs
		v := "[0, 0.1, 1e-3]"
		switch {
		case strings.Contains(text, "pay") || strings.Contains(text, "money"):
			v = "[9, 1, 0.5]"
		case strings.Contains(text, "rain"):
			v = "[-1, 5, 0]"
		}
		data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, v))
	}
	fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"small"}`, strings.Join(data, ","))
}

func (e *endpoint) requests() [][]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.asked)
}

// meanings of the endpoint; idle connections end with the test.
func (e *endpoint) meanings(t *testing.T, file string) *meaning.Meanings {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	c, err := model.New(e.url, model.Options{Models: model.Models{Embeddings: "small"}, Key: "k", HTTP: client})
	if err != nil {
		t.Fatal(err)
	}
	m := meaning.New(c, file)
	m.SetWait(2 * time.Minute)
	t.Cleanup(m.Close)
	return m
}

func texts() []string {
	all := []string{"transfer: pays a bill", "forecast: will it rain"}
	for i := range 60 {
		all = append(all, fmt.Sprint("tool ", i))
	}
	return all
}

// What is nearest has the first vote, a text is sent once, and a later run has the vectors from the file.
func TestVotes(t *testing.T) {
	e := newEndpoint(t, nil)
	file := filepath.Join(t.TempDir(), "meanings", "small")
	for run := range 3 {
		if run == 2 { // one that is torn is as good as none
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, data[:len(data)-7], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m := e.meanings(t, file)
		for _, query := range []string{"money to a friend", "rain tomorrow"} {
			votes, err := m.Votes(t.Context(), texts(), query)
			if err != nil {
				t.Fatal(err)
			}
			first := slices.Index(votes, slices.Max(votes))
			if want := map[string]int{"m": 0, "r": 1}[query[:1]]; first != want || votes[first] != 1 {
				t.Errorf("%s: got the votes %v, want the first for text %d", query, votes, want)
			}
		}
		m.Close()
		asked := e.requests()
		e.asked = nil
		if want := []int{4, 2, 4}[run]; len(asked) != want { // 62 texts are two requests
			t.Errorf("run %d: got %d requests, want %d: %q", run, len(asked), want, asked)
		}
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a file for the user alone", info.Mode(), err)
	}
}

// A model that does not work is not waited for, and not asked again at once.
func TestNoVotes(t *testing.T) {
	for name, tt := range map[string]struct {
		broken func(w http.ResponseWriter, r *http.Request)
		want   string
	}{
		"refuses":         {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusNotFound) }, "HTTP 404"},
		"never answers":   {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "read 0 of 62 texts"},
		"is no JSON":      {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "no embeddings"},
		"gives too few":   {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1]}]}`) }, "some are missing"},
		"gives others":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[{"index":-1,"embedding":[1]}]}`) }, "numbers them in another way"},
		"gives words":     {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[{"index":0,"embedding":"x"}]}`) }, "no embeddings"},
		"gives a million": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", 17<<20)) }, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, tt.broken)
			m := e.meanings(t, "")
			if name == "never answers" {
				m.SetWait(50 * time.Millisecond)
			}
			if votes, err := m.Votes(t.Context(), texts(), "money"); votes != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v, want no votes because of %q", votes, err, tt.want)
			}
			for end := time.Now().Add(2 * time.Minute); len(e.requests()) == 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // until the one request has come, which nobody waits for any more
			}
			before := len(e.requests())
			if votes, err := m.Votes(t.Context(), texts(), "money"); votes != nil || err == nil || len(e.requests()) != before {
				t.Errorf("got %v, %v after %d requests, want the same and no request more than %d", votes, err, len(e.requests()), before)
			}
		})
	}
	e := newEndpoint(t, nil)
	m := e.meanings(t, "")
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := m.Votes(gone, texts(), "money"); err == nil {
		t.Error("who has gone got votes")
	}
	if votes, err := m.Votes(t.Context(), texts(), "money"); err != nil || votes[0] != 1 {
		t.Errorf("after another has gone: got %v, %v", votes, err)
	}
}

type refusing struct{}

func (refusing) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("refused")
}

// A search hears of a model's failure whenever it begins to wait: the time of this test is a made-up one, in which a
// search that was not woken sees its two seconds pass.
func TestNobodyWaitsInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 500 {
			m := meaning.New(refusing{}, "")
			var searches sync.WaitGroup
			for range 8 {
				searches.Go(func() {
					if _, err := m.Votes(t.Context(), texts(), "money"); err == nil || err.Error() != "refused" {
						t.Errorf("got %v, want what the model said", err)
					}
				})
			}
			searches.Wait()
			m.Close()
		}
	})
}

// closing is a model that is asked no more after a moment.
type closing struct {
	t    *testing.T
	over atomic.Bool
}

func (c *closing) Embed(ctx context.Context, _ []string) ([][]float32, error) {
	if c.over.Load() && ctx.Err() != nil { // who searches asks under a context of their own
		c.t.Error("the model was asked by what is closed")
	}
	return nil, errors.New("refused")
}

// A search that comes at the moment of the end begins nothing that outlives it.
func TestSearchAtTheEnd(t *testing.T) {
	for range 300 {
		c := &closing{t: t}
		m := meaning.New(c, "")
		var searches sync.WaitGroup
		for range 3 {
			searches.Go(func() { _, _ = m.Votes(t.Context(), texts()[:3], "money") })
		}
		m.Close()
		c.over.Store(true)
		searches.Wait()
	}
}
