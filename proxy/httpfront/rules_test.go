package httpfront_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// What is wrong with a request as such, before it is a matter of the session.
func TestFaultC9C12_Refusals(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{MaxBody: 4096}})
	session := w.begin("/mcp", "2025-11-25")
	long := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 4096) + `"}}`
	for _, tt := range []struct {
		name, method, path, body string
		header                   []string
		want, code               int
	}{
		{"fine", "POST", "/mcp", ping, nil, 200, 0},
		{"a path that is not there", "POST", "/", ping, nil, 404, -32600},
		{"a path below", "POST", "/mcp/box/more", ping, nil, 404, -32600},
		{"no toolbox", "POST", "/mcp//", ping, nil, 404, -32600},
		{"an unknown toolbox", "POST", "/mcp/none", ping, nil, 404, -32600},
		{"PUT", "PUT", "/mcp", ping, nil, 405, -32600},
		{"OPTIONS", "OPTIONS", "/mcp", "", nil, 405, -32600},
		{"HEAD", "HEAD", "/mcp", "", nil, 405, 0},
		{"POST to health", "POST", "/healthz", "", nil, 405, -32600},
		{"text", "POST", "/mcp", ping, []string{"Content-Type: text/plain"}, 415, -32600},
		{"a form", "POST", "/mcp", ping, []string{"Content-Type: application/x-www-form-urlencoded"}, 415, -32600},
		{"no type", "POST", "/mcp", ping, []string{"Content-Type:"}, 415, -32600},
		{"nearly JSON", "POST", "/mcp", ping, []string{"Content-Type: application/json-seq"}, 415, -32600},
		{"JSON with parameters", "POST", "/mcp", ping, []string{"Content-Type: Application/JSON; charset=utf-8"}, 200, 0},
		{"compressed", "POST", "/mcp", ping, []string{"Content-Encoding: gzip"}, 415, -32600},
		{"JSON only accepted", "POST", "/mcp", ping, []string{"Accept: application/json"}, 406, -32600},
		{"streams only accepted", "POST", "/mcp", ping, []string{"Accept: text/event-stream"}, 406, -32600},
		{"nothing accepted", "POST", "/mcp", ping, []string{"Accept:"}, 406, -32600},
		{"streams refused", "POST", "/mcp", ping, []string{"Accept: application/json, text/event-stream;q=0"}, 406, -32600},
		{"anything accepted", "POST", "/mcp", ping, []string{"Accept: */*"}, 200, 0},
		{"kinds accepted", "POST", "/mcp", ping, []string{"Accept: application/*;q=0.5, Text/*"}, 200, 0},
		{"too long", "POST", "/mcp", long, nil, 413, -32600},
		{"not JSON", "POST", "/mcp", `{"jsonrpc":`, nil, 400, -32700},
		{"empty", "POST", "/mcp", "", nil, 400, -32700},
		{"a batch", "POST", "/mcp", "[" + ping + "]", nil, 400, -32600},
		{"not a message", "POST", "/mcp", `{"id":1}`, nil, 400, -32600},
		{"a member twice", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, nil, 400, -32600},
		{"_meta twice", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{},"_meta":{}}}`, nil, 400, -32602},
		{"arguments twice", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{},"arguments":{}}}`, nil, 400, -32602},
		{"several lines", "POST", "/mcp", "{\r\n \"jsonrpc\":\"2.0\",\n\"id\":1,\"method\":\"ping\"\n}\n", nil, 200, 0},
		{"a byte order mark", "POST", "/mcp", "\ufeff" + ping, nil, 200, 0},
		{"two byte order marks", "POST", "/mcp", "\ufeff\ufeff" + ping, nil, 400, -32700},
		{"no session", "POST", "/mcp", ping, []string{"Mcp-Session-Id:"}, 400, -32600},
		{"a made-up session", "POST", "/mcp", ping, []string{"Mcp-Session-Id: DRSATBMBNVCKO6ME5EU7AJ5T5H"}, 404, -32600},
		{"a session of another endpoint", "POST", "/mcp/box", ping, nil, 404, -32600},
		{"a session of another endpoint, to end it", "DELETE", "/mcp/box", "", nil, 404, -32600},
		{"a session of another endpoint, to listen", "GET", "/mcp/box", "", nil, 404, -32600},
		{"an unknown revision", "POST", "/mcp", ping, []string{"Mcp-Protocol-Version: 1999-01-01"}, 400, -32022},
		{"an unknown revision, to listen", "GET", "/mcp", "", []string{"Mcp-Protocol-Version: 1999-01-01"}, 400, -32022},
		{"a GET without a session", "GET", "/mcp", "", []string{"Mcp-Session-Id:"}, 400, -32600},
		{"a GET that takes no stream", "GET", "/mcp", "", []string{"Accept: application/json"}, 406, -32600},
		{"a GET of an event of nobody", "GET", "/mcp", "", []string{"Last-Event-ID: 77-1"}, 400, -32600},
		{"a GET of no event", "GET", "/mcp", "", []string{"Last-Event-ID: x"}, 400, -32600},
		{"a GET of the modern era", "GET", "/mcp", "", []string{"Mcp-Protocol-Version: 2026-07-28"}, 405, -32600},
		{"a DELETE of the modern era", "DELETE", "/mcp", "", []string{"Mcp-Protocol-Version: 2026-07-28"}, 405, -32600},
		{"a DELETE without a session", "DELETE", "/mcp", "", []string{"Mcp-Session-Id:"}, 400, -32600},
		{"a response that nobody waits for", "POST", "/mcp", `{"jsonrpc":"2.0","id":"wb-99","result":{}}`, nil, 202, 0},
		{"a notification", "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, nil, 202, 0},
		{"an unknown method is a matter of JSON-RPC", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"x"}`, nil, 200, -32601},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, body := w.status(tt.method, tt.path, tt.body, append([]string{session}, tt.header...)...)
			if got != tt.want {
				t.Errorf("got %d %s, want %d", got, body, tt.want)
			}
			if body != "" && strings.HasPrefix(body, "{") && code(t, body) != tt.code {
				t.Errorf("got %s, want the code %d", body, tt.code)
			}
		})
	}
}

// A refused request that was read is answered under its id, and where it was not read the error is not called a message:
// some clients take the message of any status for the reply, and without an id they would go on waiting for theirs.
func TestRefusalHasID(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{MaxSessions: 1}})
	session := w.begin("/mcp", "2025-11-25")
	const initialize = `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	for _, tt := range []struct {
		name, body string
		header     []string
		want       int
	}{
		{"no session", `{"jsonrpc":"2.0","id":"a","method":"ping"}`, nil, 400},
		{"a made-up session", `{"jsonrpc":"2.0","id":"a","method":"ping"}`, []string{"Mcp-Session-Id: DRSATBMBNVCKO6ME5EU7AJ5T5H"}, 404},
		{"too many sessions", initialize, nil, 503},
		{"an unknown revision", `{"jsonrpc":"2.0","id":"a","method":"ping"}`, []string{session, "Mcp-Protocol-Version: 1999-01-01"}, 400},
		{"a header that differs", `{"jsonrpc":"2.0","id":"a","method":"ping"}`, []string{"Mcp-Protocol-Version: 2026-07-28"}, 400},
		{"a member twice", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"a","name":"b"}}`, []string{session}, 400},
	} {
		if got, body := w.status("POST", "/mcp", tt.body, tt.header...); got != tt.want || !strings.Contains(body, `"id":"a"`) {
			t.Errorf("%s: got %d %s, want %d with the id", tt.name, got, body, tt.want)
		}
	}
	for name, header := range map[string]string{"another origin": "Origin: http://elsewhere.example", "no type": "Content-Type:"} {
		resp := w.do(t.Context(), "POST", "/mcp", ping, session, header)
		_ = resp.Body.Close()
		if kind := resp.Header.Get("Content-Type"); resp.StatusCode < 400 || kind == "application/json" {
			t.Errorf("%s: got %d with %s, want an error that is not called a message", name, resp.StatusCode, kind)
		}
	}
	resp := w.do(t.Context(), "POST", "/mcp", `{"jsonrpc":`, session)
	_ = resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 400 || kind != "application/json" {
		t.Errorf("what is no JSON: got %d with %s, want an error that is a message", resp.StatusCode, kind)
	}
}

// A body that has no length, or one that it does not have.
func TestFaultC5C13_BodyLength(t *testing.T) {
	t.Parallel()
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{MaxBody: 4096}})
	head := "POST /mcp HTTP/1.1\r\nHost: " + w.address + "\r\nContent-Type: application/json\r\nAccept: */*\r\n"
	for _, tt := range []struct{ name, text, want string }{
		{"chunked and too long", head + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("400\r\n"+strings.Repeat("x", 0x400)+"\r\n", 5), "413"},
		{"said to be too long", head + "Content-Length: 4097\r\n\r\n", "413"},
		{"said to be endless", head + "Content-Length: 99999999999999\r\n\r\n", "413"},
		{"negative", head + "Content-Length: -1\r\n\r\n", "400"},
		{"both", head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
		{"an encoding that is none", head + "Transfer-Encoding: gzip\r\n\r\n", "501"},
		{"waiting to be asked for it", head + "Expect: 100-continue\r\nContent-Length: 4097\r\n\r\n", "413"},
		{"chunked", head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "400"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := w.raw(tt.text); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// The header of a request of revision 2026-07-28 says what its body says.
func TestFaultC11_ModernHeader(t *testing.T) {
	w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{"s":{"command":"inside","args":["tools=echo,größe"]},"m":{"command":"inside","args":["tools=echo"]}}}}}`, webOptions{})
	request := func(method, params string) string {
		if params != "" {
			params += ","
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":%q,"params":{%s%s}}`, method, params, meta(""))
	}
	good := []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: s__echo"}
	call := request("tools/call", `"name":"s__echo","arguments":{}`)
	for _, tt := range []struct {
		name, body string
		change     []string
		want, code int
	}{
		{"fine", call, nil, 200, 0},
		{"names in any case", call, []string{"Mcp-Method:", "mcp-METHOD: tools/call"}, 200, 0},
		{"spaces around a value", call, []string{"Mcp-Name:    s__echo   "}, 200, 0},
		{"name in base64", call, []string{"Mcp-Name: =?base64?c19fZWNobw==?="}, 200, 0},
		{"another name in base64", call, []string{"Mcp-Name: =?base64?c19fZWNoeA==?="}, 400, -32020},
		{"broken base64", call, []string{"Mcp-Name: =?base64?c19f*?="}, 400, -32020},
		{"a prefix in capitals is part of the name", call, []string{"Mcp-Name: =?BASE64?c19fZWNobw==?="}, 400, -32020},
		{"no version", call, []string{"Mcp-Protocol-Version:"}, 400, -32020},
		{"a version of the legacy era", call, []string{"Mcp-Protocol-Version: 2025-11-25"}, 400, -32020},
		{"another version", call, []string{"Mcp-Protocol-Version: 2027-01-01"}, 400, -32020},
		{"no method", call, []string{"Mcp-Method:"}, 400, -32020},
		{"another method", call, []string{"Mcp-Method: tools/list"}, 400, -32020},
		{"the method in capitals", call, []string{"Mcp-Method: TOOLS/CALL"}, 400, -32020},
		{"no name", call, []string{"Mcp-Name:"}, 400, -32020},
		{"another name", call, []string{"Mcp-Name: m__echo"}, 400, -32020},
		{"the name in capitals", call, []string{"Mcp-Name: S__ECHO"}, 400, -32020},
		{"no name in the body", request("tools/call", `"arguments":{}`), nil, 400, -32020},
		{"a name that is no string", request("tools/call", `"name":1`), nil, 400, -32020},
		{"a name in escapes", request("tools/call", `"name":"s_\u005fecho","arguments":{}`), nil, 200, 0},
		{"a name that needs base64", request("tools/call", `"name":"größe","arguments":{}`), []string{"Mcp-Name: =?base64?Z3LDtsOfZQ==?="}, 200, 0},
		{"a name that needs base64 and has none", request("tools/call", `"name":"größe","arguments":{}`), []string{"Mcp-Name: größe"}, 400, -32020},
		{"a name for a list is not looked at", request("tools/list", ""), []string{"Mcp-Method: tools/list", "Mcp-Name: x"}, 200, 0},
		{"a list", request("tools/list", ""), []string{"Mcp-Method: tools/list", "Mcp-Name:"}, 200, 0},
		{"discovery", request("server/discover", ""), []string{"Mcp-Method: server/discover", "Mcp-Name:"}, 200, 0},
		{"a session id is not looked at", call, []string{"Mcp-Session-Id: made-up"}, 200, 0},
		{"a uri", request("resources/read", `"uri":"x:1"`), []string{"Mcp-Method: resources/read", "Mcp-Name: x:1"}, 200, -32602},
		{"another uri", request("resources/read", `"uri":"x:1"`), []string{"Mcp-Method: resources/read", "Mcp-Name: x:2"}, 400, -32020},
		{"the name where the uri belongs", request("resources/read", `"uri":"x:1","name":"x:2"`), []string{"Mcp-Method: resources/read", "Mcp-Name: x:2"}, 400, -32020},
		{"a prompt", request("prompts/get", `"name":"p"`), []string{"Mcp-Method: prompts/get", "Mcp-Name: p"}, 200, -32602},
		{"an unknown method", request("no/method", ""), []string{"Mcp-Method: no/method", "Mcp-Name:"}, 404, -32601},
		{"a method that is gone", request("initialize", ""), []string{"Mcp-Method: initialize", "Mcp-Name:"}, 404, -32601},
		{"another that is gone", request("resources/subscribe", ""), []string{"Mcp-Method: resources/subscribe", "Mcp-Name:"}, 404, -32601},
		{"a list that is gone", request("tasks/list", ""), []string{"Mcp-Method: tasks/list", "Mcp-Name:"}, 404, -32601},
		{"a result that is gone", request("tasks/result", `"taskId":"t"`), []string{"Mcp-Method: tasks/result", "Mcp-Name:"}, 404, -32601},
		{"no metadata", `{"jsonrpc":"2.0","id":"q","method":"tools/list","params":{}}`, []string{"Mcp-Method: tools/list"}, 400, -32602},
		{"no params", `{"jsonrpc":"2.0","id":"q","method":"tools/list"}`, []string{"Mcp-Method: tools/list"}, 400, -32602},
		{"no capabilities", `{"jsonrpc":"2.0","id":"q","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, []string{"Mcp-Method: tools/list"}, 400, -32602},
		{"a version that is not known", strings.Replace(call, "2026-07-28", "2027-01-01", 1), []string{"Mcp-Protocol-Version: 2027-01-01"}, 400, -32022},
		{"a version that is none", strings.Replace(call, "2026-07-28", "v1", 1), []string{"Mcp-Protocol-Version: v1"}, 400, -32022},
		{"a response", `{"jsonrpc":"2.0","id":"q","result":{}}`, nil, 400, -32600},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/x"}`, nil, 202, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, body := w.status("POST", "/mcp/box", tt.body, append(good[:3:3], tt.change...)...)
			if got != tt.want {
				t.Errorf("got %d %s, want %d", got, body, tt.want)
			}
			if body != "" && code(t, body) != tt.code {
				t.Errorf("got %s, want the code %d", body, tt.code)
			}
			if tt.code == -32020 && !strings.Contains(body, `"id":"q"`) {
				t.Errorf("got %s, want the id of the request", body)
			}
		})
	}
	for _, name := range []string{"Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		text := fmt.Sprintf("POST /mcp/box HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: */*\r\n%s\r\n%s: x\r\nContent-Length: %d\r\n\r\n%s", w.address, strings.Join(good, "\r\n"), name, len(call), call)
		if got := w.raw(text); got != "400" {
			t.Errorf("%s twice: got %s, want 400", name, got)
		}
	}
}

// Arguments that a tool's schema has repeated in the header are the same there.
func TestHTTPMirroredArguments(t *testing.T) {
	tool := `{"name":"sql","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"Count"}}}}`
	w := newWeb(t, oneBox, webOptions{inside: fixed(tool)})
	for _, tt := range []struct {
		name, arguments string
		header          []string
		want            int
	}{
		{"the same", `{"region":"eu","n":3}`, []string{"Mcp-Param-Region: eu", "Mcp-Param-Count: 3"}, 200},
		{"the same number, written otherwise", `{"region":"eu","n":3}`, []string{"Mcp-Param-Region: eu", "Mcp-Param-Count: 3.0"}, 200},
		{"in base64", `{"region":"größe"}`, []string{"Mcp-Param-Region: =?base64?Z3LDtsOfZQ==?="}, 200},
		{"absent in both", `{}`, nil, 200},
		{"null", `{"region":null}`, nil, 200},
		{"another", `{"region":"eu"}`, []string{"Mcp-Param-Region: us"}, 400},
		{"missing", `{"region":"eu"}`, nil, 400},
		{"too many", `{}`, []string{"Mcp-Param-Region: eu"}, 400},
		{"broken base64", `{"region":"eu"}`, []string{"Mcp-Param-Region: =?base64?*?="}, 400},
		{"characters that a header has not", `{"region":"größe"}`, []string{"Mcp-Param-Region: größe"}, 400},
		{"of no argument", `{"region":"eu"}`, []string{"Mcp-Param-Region: eu", "Mcp-Param-Other: x"}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, header := modernCall(1, "sql", tt.arguments, "")
			got, text := w.status("POST", "/mcp/box", body, append(header, tt.header...)...)
			if got != tt.want || got == 400 && code(t, text) != -32020 {
				t.Errorf("got %d %s, want %d", got, text, tt.want)
			}
		})
	}
}

// What mcp-go says of a header that has one plain value of each kind is what is decided here, and nothing panics.
func FuzzHTTPHeader(f *testing.F) {
	for _, method := range []string{"tools/call", "prompts/get", "resources/read", "tools/list", "no/method"} {
		f.Add(method, "name", method, "name", "2026-07-28")
		f.Add(method, "größe", method, "=?base64?Z3LDtsOfZQ==?=", "2026-07-28")
		f.Add(method, "a", "x", "=?base64?*?=", "2025-11-25")
		f.Add(method, "", method, "", "")
		f.Add(method, "=?base64?YQ==?=", method, "=?base64?YQ==?=", "v1")
	}
	h, err := newFront(httpfront.Options{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7777}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, name, headerMethod, headerName, version string) {
		params := map[string]any{"name": name, "uri": name, "_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "http://localhost:7777/mcp", strings.NewReader(string(body)))
		r.RequestURI = "/mcp"
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"*/*"},
			"Mcp-Protocol-Version": {version}, "Mcp-Method": {headerMethod}, "Mcp-Name": {headerName}}
		rec := httptest.NewRecorder()
		if method == "subscriptions/listen" || strings.ContainsAny(method, "\\\"\u2028\u2029<>&\x7f") || method != strings.ToValidUTF8(method, "") || strings.ContainsFunc(method, func(c rune) bool { return c < ' ' }) {
			return // stays open; or is written with escapes, which the scanner refuses in a method
		}
		h.ServeHTTP(rec, r)
		var decoded struct {
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(body, &decoded); err != nil {
			t.Fatal(err)
		}
		wrong := version != "2026-07-28" || !plain(headerMethod) || !plain(headerName) ||
			mcp.ValidateStandardHeaders(r.Header.Get, version, mcp.MCPMethod(method), decoded.Params) != nil
		if refused := rec.Code == 400 && code(t, rec.Body.String()) == -32020; refused != wrong {
			t.Errorf("got %d %s; want it refused: %t", rec.Code, rec.Body, wrong)
		}
	})
}

func plain(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c != '\t' && (c < ' ' || c > '~') })
}

// waited is a connection that takes note of how long the rest of a request is waited for.
type waited struct {
	*httptest.ResponseRecorder
	until []time.Time
}

func (w *waited) SetReadDeadline(at time.Time) error {
	w.until = append(w.until, at)
	return nil
}

// Who takes workbench for a proxy is not told that a host is wrong, which may be the right one.
func TestRequestForProxy(t *testing.T) {
	h, err := newFront(httpfront.Options{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7777}})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"http://localhost:7777/mcp", "http://localhost:7777/healthz", "http://elsewhere.example/mcp"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", address, strings.NewReader(ping)))
		if w.Code != 403 || !strings.Contains(w.Body.String(), "as for a proxy") {
			t.Errorf("%s: got %d %s", address, w.Code, w.Body)
		}
	}
}

// Whatever a request is for, the body that it announces is not waited for without end.
func TestBodyIsAwaited(t *testing.T) {
	h, err := newFront(httpfront.Options{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7777}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/healthz", "/readyz", "/mcp", "/mcp/none", "/ui/", "/metrics", "/none"} {
		for _, method := range []string{"GET", "POST"} {
			r := httptest.NewRequest(method, "http://localhost:7777"+path, strings.NewReader("{}"))
			r.RequestURI = path
			w := &waited{ResponseRecorder: httptest.NewRecorder()}
			if h.ServeHTTP(w, r); len(w.until) == 0 || w.until[0].IsZero() {
				t.Errorf("%s %s: got no bound", method, path)
			}
		}
	}
}
