package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/oauth/oauthtest"
)

// The canaries of a gateway and of a remote server. Those in the configuration of servers are in canaries.txtar.
const (
	canaryAccess  = "canary-access-0123456789"
	canaryRefresh = "canary-refresh-0123456789"
	canaryHeader  = "canary-header-0123456789"
	canaryURL     = "canary-url-0123456789"
	canaryPath    = "0c4n4ry1path2with3digits"
	canaryFlag    = "canary-flag-0123456789"
)

// farServer is a remote server that wants a login and repeats what it is told, and says all it knows when it refuses a
// token.
type farServer struct {
	refuses atomic.Bool
	logins  oauthtest.Server
}

func (f *farServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ProtocolVersion string
			Arguments       json.RawMessage
		}
	}
	if r.Header.Get("Authorization") != "Bearer "+canaryAccess || f.refuses.Load() {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="http://%s/.well-known/oauth-protected-resource%s"`, r.Host, r.URL.Path))
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, "not for %s and %s at %s", r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.URL)
		return
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	var result any = map[string]any{}
	switch m.Method {
	case "initialize":
		result = map[string]any{"protocolVersion": m.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "far", "version": "1"}}
	case "tools/list":
		result = map[string]any{"tools": []any{map[string]any{"name": "echo", "inputSchema": map[string]any{"type": "object"}}}}
	case "tools/call":
		result = map[string]any{"content": []any{map[string]any{"type": "text", "text": string(m.Params.Arguments) + r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")}}}
	case "server/discover":
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

// Of the tokens of a login, the headers and the address of a remote server, and of the tokens of a gateway nothing
// stands in the record, its files, the log, the audit log, what commands show, and what the page is sent, when a model
// brings them into a call and the server and its authorization server repeat them.
func TestCanariesOfAGateway(t *testing.T) {
	far := new(farServer)
	far.logins.Change = func(path string, answer map[string]any) {
		if path != "/token" {
			return
		}
		if answer["access_token"] != nil {
			answer["access_token"], answer["refresh_token"] = canaryAccess, canaryRefresh
		} else {
			answer["error_description"] = "the refresh token " + canaryRefresh + " is spent"
		}
	}
	remote := httptest.NewServer(far.logins.Handler(far))
	defer remote.Close()
	dir := t.TempDir()
	do(t, os.WriteFile(filepath.Join(dir, "workbench-config.json"), fmt.Appendf(nil, `{"record": {"mode": "full", "dir": "calls"}, "toolboxes": {"box": {"mcpServers": {
		"far": {"url": "%s/%s/mcp?apiKey=%s", "headers": {"X-Api-Key": %q}},
		"near": {"command": "nothing-of-this-name", "args": ["--header", "Authorization: Bearer %s"]}}}}}`, remote.URL, canaryPath, canaryURL, canaryHeader, canaryFlag), 0o600))
	sockets, err := os.MkdirTemp("", "wb") // the path of a socket is short
	do(t, err)
	defer os.RemoveAll(sockets)
	environ := []string{"HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "XDG_RUNTIME_DIR=" + sockets, "WORKBENCH_CONFIG=" + filepath.Join(dir, "workbench-config.json")}
	do(t, os.Chmod(sockets, 0o700))
	shown := func(args ...string) string {
		var out strings.Builder
		run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, environ)
		return out.String()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	said, in := io.Pipe()
	loggedIn := make(chan int, 1)
	go func() {
		loggedIn <- run(ctx, []string{"login", "box/far"}, cli.Streams{In: strings.NewReader(""), Out: in, Err: in}, environ)
		in.Close()
	}()
	text := ""
	for piece := make([]byte, 4096); ; {
		n, err := said.Read(piece)
		if text += string(piece[:n]); err != nil {
			break
		}
		if at := regexp.MustCompile(`(http://127\.0\.0\.1:\d+/authorize\S+)\n`).FindStringSubmatch(text); at != nil {
			go func() { _, _ = io.Copy(io.Discard, said) }() // it has more to say meanwhile
			do(t, oauthtest.Consent(at[1]))
			break
		}
	}
	if code := <-loggedIn; code != 0 {
		t.Fatalf("login ended with %d: %s", code, text)
	}

	user := tokenFor(t, environ, "ann", "--toolbox", "box")
	gateway := strings.TrimSpace(shown("token"))
	audit := filepath.Join(dir, "audit.jsonl")
	s := serveForTest(t, environ, "--audit-log", audit, "--log-level", "debug")
	canaries := []string{canaryAccess, canaryRefresh, canaryHeader, canaryURL, canaryPath, canaryFlag, user, gateway}
	arguments, err := json.Marshal(map[string]any{"toolbox_name": "box", "tool_name": "far/echo", "arguments": map[string]any{"all": canaries, "header": "Bearer " + gateway}})
	do(t, err)
	got := modernCall(t, s.url, user, "workbench_use_tool", string(arguments))
	for _, canary := range canaries {
		if !strings.Contains(got, canary) {
			t.Fatalf("the call brought %s, want %s in it, as the server said", got, canary)
		}
	}
	modernCall(t, s.url, user, "workbench_use_tool", `{"toolbox_name":"box","tool_name":"near/x","arguments":{}}`)
	far.refuses.Store(true)
	if got := modernCall(t, s.url, gateway, "workbench_use_tool", string(arguments)); !strings.Contains(got, "spent") {
		t.Errorf("got %s, want what the authorization server says", got)
	}
	if status, _ := s.post(t, http.DefaultClient, gateway+"x"); status != 401 {
		t.Errorf("got %d, want a refused token", status)
	}

	// What the page is sent.
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	secret := ""
	ask := func(action, body string) string {
		req, err := http.NewRequestWithContext(ctx, "POST", strings.TrimSuffix(s.url, "mcp")+"ui/api/"+action, strings.NewReader(body))
		do(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Workbench-Secret", secret)
		resp, err := browser.Do(req)
		do(t, err)
		defer resp.Body.Close()
		var all strings.Builder
		for piece := make([]byte, 64<<10); ; {
			n, err := resp.Body.Read(piece)
			all.Write(piece[:n])
			followed := strings.Contains(all.String(), "spent") // of calls and of servers there is more to come, some time
			if err != nil || followed {
				return all.String()
			}
		}
	}
	entered := ask("enter", `{"credential":"`+gateway+`"}`)
	at := regexp.MustCompile(`"secret":"([^"]*)"`).FindStringSubmatch(entered)
	if at == nil {
		t.Fatalf("got %s, want to be let in", entered)
	}
	secret = at[1]
	places := map[string]string{"watch": ask("watch", "{}"), "calls": ask("calls", "{}"), "config": ask("config", "{}"), "toolboxes": ask("toolboxes", "{}"), "tools": ask("tools", `{"toolbox":"box"}`)}
	for _, id := range regexp.MustCompile(`"id":"(\d+-\d+)"`).FindAllStringSubmatch(places["calls"], -1) {
		places["recorded"] += ask("recorded", `{"id":"`+id[1]+`"}`)
		places["calls show"] += shown("calls", "show", id[1])
		places["calls repeat"] += shown("calls", "repeat", id[1])
	}
	if !strings.Contains(places["recorded"], "[masked]") || !strings.Contains(places["config"], "•••") {
		t.Errorf("got %s and %s, want masks in them", places["recorded"], places["config"])
	}
	for _, args := range [][]string{{"calls", "--json"}, {"calls"}, {"status"}, {"status", "--json"}, {"logs", "box/far"}, {"logs", "box/near"}, {"logs", "box/far", "--json"}, {"check"}} {
		places[strings.Join(args, " ")] = shown(args...)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) { // files are written aside
		kept, _ := filepath.Glob(filepath.Join(dir, "calls", "*.jsonl"))
		for _, path := range append(kept, audit) {
			text, err := os.ReadFile(path)
			do(t, err)
			places[filepath.Base(path)] = string(text)
		}
		if len(kept) > 0 && strings.Contains(places[filepath.Base(kept[0])], "spent") && strings.Contains(places["audit.jsonl"], `"status":401`) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the files have %v", places)
		}
	}
	places["log"] = s.log()
	for name, text := range places {
		if i := slices.IndexFunc(canaries, func(canary string) bool { return strings.Contains(text, canary) }); i >= 0 {
			t.Errorf("%s has the canary %s:\n%s", name, canaries[i], text)
		}
	}
}
