package page_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/page"
)

// At the end of the program what goes on while somebody looks is ended, and what was asked for is finished.
func TestClose(t *testing.T) {
	begun, finish := make(chan string, 2), make(chan struct{})
	p := page.New(page.Options{
		Enter: func(context.Context, string) (page.Viewer, error) { return page.Viewer{}, nil },
		Actions: map[string]page.Action{
			"call": {Do: func(ctx context.Context, _ *page.Query) (any, error) {
				begun <- "call"
				select {
				case <-finish:
					return "called", nil
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			}},
			"watch": {Follows: true, Do: func(ctx context.Context, _ *page.Query) (any, error) {
				begun <- "watch"
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}},
		},
	})
	srv := httptest.NewServer(p)
	defer srv.Close()
	secret, cookie := "", ""
	ask := func(action string) string {
		r, err := http.NewRequest("POST", srv.URL+"/ui/api/"+action, strings.NewReader("{}"))
		if err != nil {
			t.Error(err)
			return ""
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Workbench-Secret", secret)
		r.Header.Set("Cookie", cookie)
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Error(err)
			return ""
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body) // what is missing of it is seen by who asks
		if action == "enter" {
			cookie, _, _ = strings.Cut(resp.Header.Get("Set-Cookie"), ";")
		}
		return string(text)
	}
	var let struct{ Done struct{ Secret string } }
	if text := ask("enter"); json.Unmarshal([]byte(text), &let) != nil {
		t.Fatalf("got %s", text)
	}
	secret = let.Done.Secret
	watched, called := make(chan string), make(chan string)
	go func() { watched <- ask("watch") }()
	go func() { called <- ask("call") }()
	<-begun
	<-begun
	p.Close()
	if got := <-watched; strings.Contains(got, "done") {
		t.Errorf("who looks was told %s", got)
	}
	close(finish)
	if got := <-called; !strings.Contains(got, `{"done":"called"}`) {
		t.Errorf("who called was told %q, want its answer", got)
	}
}

// A browser that was not let in yet may say no more than who it is.
func TestLongEntry(t *testing.T) {
	p := page.New(page.Options{Enter: func(context.Context, string) (page.Viewer, error) { return page.Viewer{}, nil }})
	defer p.Close()
	r := httptest.NewRequest("POST", "/ui/api/enter", strings.NewReader(`{"credential":"`+strings.Repeat("x", 40_000)+`"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d %s, want 413", w.Code, w.Body)
	}
}
