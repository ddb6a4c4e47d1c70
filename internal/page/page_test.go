package page_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/principal"
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

// One user has so many requests carried out at a time, in however many sessions; others are not held up by them.
func TestBusyUser(t *testing.T) {
	begun := make(chan bool)
	p := page.New(page.Options{
		Enter: func(_ context.Context, name string) (page.Viewer, error) {
			return page.Viewer{Principal: principal.Principal{Name: name}}, nil
		},
		Actions: map[string]page.Action{"watch": {Follows: true, Do: func(ctx context.Context, _ *page.Query) (any, error) {
			begun <- true
			<-ctx.Done()
			return nil, nil
		}}},
	})
	srv := httptest.NewServer(p)
	defer srv.Close()
	defer p.Close()
	ask := func(ctx context.Context, action, body, secret, cookie string) *http.Response {
		r, err := http.NewRequestWithContext(ctx, "POST", srv.URL+"/ui/api/"+action, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Workbench-Secret", secret)
		r.Header.Set("Cookie", cookie)
		resp, err := srv.Client().Do(r)
		if err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return &http.Response{Body: http.NoBody}
		}
		return resp
	}
	enter := func(name string) (secret, cookie string) {
		resp := ask(t.Context(), "enter", `{"credential":"`+name+`"}`, "", "")
		defer resp.Body.Close()
		var let struct{ Done struct{ Secret string } }
		if err := json.NewDecoder(resp.Body).Decode(&let); err != nil {
			t.Fatal(err)
		}
		cookie, _, _ = strings.Cut(resp.Header.Get("Set-Cookie"), ";")
		return let.Done.Secret, cookie
	}
	watching, leave := context.WithCancel(t.Context())
	defer leave()
	var left sync.WaitGroup
	watch := func(secret, cookie string) {
		left.Go(func() { _ = ask(watching, "watch", "{}", secret, cookie).Body.Close() })
		<-begun
	}
	secret, cookie := enter("ada")
	for range 64 {
		watch(secret, cookie)
	}
	secret, cookie = enter("ada")
	refused := ask(t.Context(), "watch", "{}", secret, cookie)
	text, _ := io.ReadAll(refused.Body)
	if _ = refused.Body.Close(); refused.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(text), "this user has 64 requests under way") {
		t.Errorf("got %d %s, want 429 and why", refused.StatusCode, text)
	}
	watch(enter("bob"))
	leave()
	left.Wait()
	watching, leave = context.WithCancel(t.Context())
	defer leave()
	for begins := false; !begins; { // as soon as those that left are seen to be gone
		left.Go(func() { _ = ask(watching, "watch", "{}", secret, cookie).Body.Close() })
		select {
		case begins = <-begun:
		case <-time.After(100 * time.Millisecond):
		}
	}
	leave()
	left.Wait()
}

// Whoever comes in again and again ends sessions of their own, and nobody else's.
func TestSessionsOfOneUser(t *testing.T) {
	p := page.New(page.Options{Enter: func(_ context.Context, name string) (page.Viewer, error) {
		return page.Viewer{Principal: principal.Principal{Name: name}}, nil
	}})
	defer p.Close()
	ask := func(action, body, secret, cookie string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/ui/api/"+action, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Workbench-Secret", secret)
		r.Header.Set("Cookie", cookie)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		return w
	}
	enter := func(name string) (secret, cookie string) {
		w := ask("enter", `{"credential":"`+name+`"}`, "", "")
		var let struct{ Done struct{ Secret string } }
		if err := json.NewDecoder(w.Body).Decode(&let); err != nil {
			t.Fatal(err)
		}
		cookie, _, _ = strings.Cut(w.Header().Get("Set-Cookie"), ";")
		return let.Done.Secret, cookie
	}
	adas, adasCookie := enter("ada")
	first, firstCookie := enter("bob")
	second, secondCookie := enter("bob")
	for range 255 {
		enter("bob")
	}
	for _, tt := range []struct {
		name, secret, cookie string
		want                 int
	}{
		{"ada", adas, adasCookie, http.StatusOK},
		{"bob's first", first, firstCookie, http.StatusUnauthorized},
		{"bob's second", second, secondCookie, http.StatusOK},
	} {
		if w := ask("hello", "{}", tt.secret, tt.cookie); w.Code != tt.want {
			t.Errorf("%s: got %d %s, want %d", tt.name, w.Code, w.Body, tt.want)
		}
	}
}
