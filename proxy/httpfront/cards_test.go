package httpfront_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// cardOf is a card as clients read it.
type cardOf struct {
	Schema      string `json:"$schema"`
	Name        string
	Version     string
	Title       string
	Description string
	Remotes     []struct {
		Type, URL string
		Headers   []struct {
			Name       string
			IsRequired bool
			IsSecret   bool
		}
		SupportedProtocolVersions []string
	}
}

// got makes a request and gives the response's header with its status and body.
func (w *web) got(method, path string, header ...string) (*http.Response, string) {
	w.t.Helper()
	m := w.open(method, path, "", header...)
	defer m.close()
	text, _ := m.next()
	return m.resp, text
}

const asksCard = "Accept: application/mcp-server-card+json"

// Each toolbox has a card that leads to it, whatever it is called, and the catalogue leads to the cards.
func TestHTTPCards(t *testing.T) {
	names := []string{"box", "server-card", "a b", "a-b", "ünï {x}", strings.Repeat("y", 64), `<script>"`, "..", "%2e%2e", "a-b-0123456789ab"}
	boxes := make(map[string]any)
	for _, name := range names {
		boxes[name] = map[string]any{"description": strings.Repeat("long\n\u202e words ", 40), "mcpServers": map[string]any{"s": map[string]any{"command": "inside"}}}
	}
	cfg, _ := json.Marshal(map[string]any{"toolboxes": boxes})
	w := newWeb(t, string(cfg), webOptions{})

	resp, text := w.got("GET", "/.well-known/ai-catalog.json")
	var catalog struct {
		SpecVersion string
		Entries     []struct{ Identifier, Type, URL string }
	}
	if err := json.Unmarshal([]byte(text), &catalog); err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/ai-catalog+json" {
		t.Fatalf("got %d %v %s (%v)", resp.StatusCode, resp.Header, text, err)
	}
	if len(catalog.Entries) != len(names)+1 || catalog.SpecVersion != "1.0" {
		t.Fatalf("got %d entries of %q, want %d of 1.0", len(catalog.Entries), catalog.SpecVersion, len(names)+1)
	}
	seen := make(map[string]bool)
	for _, e := range catalog.Entries {
		path, ok := strings.CutPrefix(e.URL, "http://"+w.address)
		if !ok || e.Type != "application/mcp-server-card+json" || !regexp.MustCompile(`^urn:air:127\.0\.0\.1:mcp:[a-zA-Z0-9._-]+$`).MatchString(e.Identifier) {
			t.Errorf("got the entry %+v", e)
			continue
		}
		resp, text := w.got("GET", path, asksCard)
		var card cardOf
		if err := json.Unmarshal([]byte(text), &card); err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != e.Type {
			t.Errorf("%s: got %d %v %s", e.URL, resp.StatusCode, resp.Header, text)
			continue
		}
		if seen[card.Name] || seen[e.Identifier] {
			t.Errorf("%s and %s are there twice", card.Name, e.Identifier)
		}
		seen[card.Name], seen[e.Identifier] = true, true
		if !regexp.MustCompile(`^[a-zA-Z0-9.-]{1,100}/[a-zA-Z0-9._-]{1,99}$`).MatchString(card.Name) ||
			!regexp.MustCompile(`^.{1,100}$`).MatchString(card.Description) || !regexp.MustCompile(`^.{1,100}$`).MatchString(card.Title) ||
			strings.Contains(text, "\u202e") || card.Version != "test" || !strings.HasSuffix(card.Schema, "/v1/server-card.schema.json") {
			t.Errorf("%s: got %+v", e.URL, card)
		}
		if len(card.Remotes) != 1 || len(card.Remotes[0].Headers) != 0 || !slices.Contains(card.Remotes[0].SupportedProtocolVersions, "2026-07-28") {
			t.Errorf("%s: got remotes %+v", e.URL, card.Remotes)
			continue
		}
		at, _ := strings.CutPrefix(card.Remotes[0].URL, "http://"+w.address)
		if strings.ContainsAny(at, "{} ") || at+"/server-card" != path {
			t.Errorf("%s: the card leads to %s", e.URL, at)
		}
		w.begin(at, "2025-11-25") // what the card says is true
	}

	// It is asked for by its tag again.
	resp, _ = w.got("GET", "/mcp/box/server-card")
	tag := resp.Header.Get("ETag")
	if resp.Header.Get("Cache-Control") != "public, max-age=300" || resp.Header.Get("Access-Control-Allow-Origin") != "*" || resp.Header.Get("Access-Control-Expose-Headers") != "ETag" {
		t.Errorf("got the header %v", resp.Header)
	}
	for given, want := range map[string]int{tag: 304, `"x", W/` + tag: 304, `"x"`: 200} {
		if resp, text := w.got("GET", "/mcp/box/server-card", "If-None-Match: "+given); resp.StatusCode != want || want == 304 && text != "" {
			t.Errorf("If-None-Match %s: got %d %q, want %d", given, resp.StatusCode, text, want)
		}
	}
	for what, want := range map[string]int{"HEAD /mcp/box/server-card": 200, "HEAD /.well-known/ai-catalog.json": 200, "GET /mcp/none/server-card": 404, "GET /mcp//server-card": 404,
		"GET /mcp/box/x/server-card": 404, "POST /mcp/box/server-card": 405, "DELETE /.well-known/ai-catalog.json": 405, "OPTIONS /mcp/box/server-card": 204, "GET /mcp/server-card/server-card": 200} {
		method, path, _ := strings.Cut(what, " ")
		if resp, text := w.got(method, path, asksCard); resp.StatusCode != want {
			t.Errorf("%s: got %d %s, want %d", what, resp.StatusCode, text, want)
		}
	}
	if got, _ := w.status("GET", "/mcp/box/server-card", "", asksCard, "Origin: https://evil.example"); got != 403 {
		t.Errorf("a page of another site got %d, want 403", got)
	}
}

// Who may not come in learns nothing of what is there, and others of what they may use.
func TestHTTPCardsAreForThoseWhoMay(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, Tokens: newBook(), Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
	paths := []string{"/.well-known/ai-catalog.json", "/mcp/server-card", "/mcp/box/server-card", "/mcp/other/server-card", "/mcp/none/server-card"}
	for _, auth := range []string{"Authorization:", bearer("mallory")} {
		var first string
		for _, path := range paths {
			for _, method := range []string{"GET", "POST"} {
				resp, text := w.got(method, path, auth, asksCard)
				resp.Header.Del("Date")
				resp.Header.Del("Connection")
				// Without a card /mcp/server-card is what any name below /mcp is.
				for _, name := range []string{"Origin", "Methods", "Headers"} {
					resp.Header.Del("Access-Control-Allow-" + name)
				}
				resp.Header.Del("Access-Control-Expose-Headers")
				header, _ := json.Marshal(resp.Header)
				got := resp.Status + string(header) + text
				if first == "" {
					first = got
				}
				if resp.StatusCode != 401 || got != first {
					t.Errorf("%s %s: got %s, want %s", method, path, got, first)
				}
			}
		}
	}
	for who, want := range map[string]string{"alice-box": "200 200 200 404 404", "alice": "200 200 200 200 404", "carol-none": "200 200 404 404 404"} {
		var got []string
		for _, path := range paths {
			resp, text := w.got("GET", path, bearer(who), asksCard)
			got = append(got, resp.Status[:3])
			if who != "alice" && strings.Contains(text, "workbench.other") {
				t.Errorf("%s is told of a toolbox of others: %s", who, text)
			}
			if resp.StatusCode == 200 && (resp.Header.Get("Vary") != "Authorization" || resp.Header.Get("Cache-Control") != "private, max-age=300") {
				t.Errorf("%s %s: got the header %v", who, path, resp.Header)
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got %s, want %s", who, got, want)
		}
	}
	_, text := w.got("GET", "/mcp/box/server-card", bearer("alice"), asksCard, "X-Forwarded-Proto: https")
	if want := `"url":"https://` + w.address + `/mcp/box","headers":[{"name":"Authorization"`; !strings.Contains(text, want) {
		t.Errorf("got %s, want %s in it", text, want)
	}
}
