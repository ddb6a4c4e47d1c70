package faults

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/internal/oauth/oauthtest"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// badremote is a sick server over HTTP: one that is well, and before it what a case puts there.
type badremote struct {
	*httptest.Server
	// take may answer a request in place of the server, and reports whether it did; r is zero for what is no message.
	take func(w http.ResponseWriter, req *http.Request, r request) bool
	// fault, if not nil, is what the server does in place of answering the call of the tool fault; becomes changes it.
	fault handling
	// logins, if not nil, guard the server; scope is what they want for the tool fault.
	logins *oauthtest.Server
	scope  string

	mu      sync.Mutex
	modern  bool           // of revision 2026-07-28
	session int            // the number of the newest session; those before it are unknown
	came    map[string]int // requests by their method, and by the tool that they call
}

// handling answers a request over HTTP, which has the message r.
type handling func(w http.ResponseWriter, req *http.Request, r request)

// request is a message that came.
type request struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		Arguments json.RawMessage
	}
}

// isFault reports whether the request is the call that has the server do what it does.
func (r request) isFault() bool { return r.Params.Name == "fault" }

// serve starts the server.
func (b *badremote) serve(t *testing.T) *badremote { return b.begin(t, (*httptest.Server).Start) }

func (b *badremote) begin(t *testing.T, start func(*httptest.Server)) *badremote {
	t.Helper()
	b.came = make(map[string]int)
	var h http.Handler = http.HandlerFunc(b.answer)
	if b.logins != nil {
		h = b.logins.Handler(h)
	}
	b.Server = httptest.NewUnstartedServer(h)
	b.Config.ErrorLog = nil
	start(b.Server)
	t.Cleanup(b.Close)
	return b
}

// newRemoteBed is newBed with a server over HTTP in the place of the sick one.
func newRemoteBed(t *testing.T, r *badremote, how setup) *bed {
	t.Helper()
	if how.sick == nil {
		how.sick = entry{}
	}
	if how.sick["url"] == nil {
		how.sick["url"] = r.URL + "/mcp"
	}
	b := newBed(t, "", how)
	t.Cleanup(r.CloseClientConnections) // those that are kept for later are no descriptors too many
	return b
}

// count returns how often a method, or the call of a tool, came.
func (b *badremote) count(what string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.came[what]
}

// becomes gives the server another fault, for another case of the same bed, and counts anew what comes.
func (b *badremote) becomes(fault handling) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault, b.came = fault, make(map[string]int)
}

// forget ends the session.
func (b *badremote) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session++
}

// turn makes the server one of the other era.
func (b *badremote) turn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.modern = !b.modern
}

func (b *badremote) answer(w http.ResponseWriter, req *http.Request) {
	var r request
	if data, err := io.ReadAll(req.Body); err == nil && len(data) > 0 {
		if err := json.Unmarshal(data, &r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	b.mu.Lock()
	b.came[r.Method]++
	b.came["tool "+r.Params.Name]++
	if r.Method == "initialize" && !b.modern {
		b.session++
	}
	modern, session, fault := b.modern, fmt.Sprint("s", b.session), b.fault
	b.mu.Unlock()
	if b.take != nil && b.take(w, req, r) {
		return
	}
	scope := ""
	if r.isFault() {
		if fault != nil {
			fault(w, req, r)
			return
		}
		scope = b.scope
	}
	switch {
	case b.logins != nil && !b.logins.Guard(w, req, scope):
	case req.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case modern:
		b.answerModern(w, req, r)
	case r.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", session)
		result(w, r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"badremote","version":"1"}}`)
	case req.Header.Get("Mcp-Session-Id") == "":
		refuse(w, http.StatusBadRequest, "null", `{"code":-32000,"message":"no session"}`)
	case req.Header.Get("Mcp-Session-Id") != session:
		w.WriteHeader(http.StatusNotFound)
	case req.Method == http.MethodDelete:
	case r.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		work(w, r, "")
	}
}

func (b *badremote) answerModern(w http.ResponseWriter, req *http.Request, r request) {
	switch {
	case req.Header.Get("MCP-Protocol-Version") != "2026-07-28":
		refuse(w, http.StatusBadRequest, string(r.ID), `{"code":-32022,"message":"unsupported","data":{"supported":["2026-07-28"]}}`)
	case r.Method == "server/discover":
		result(w, r, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	case r.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		work(w, r, `"resultType":"complete",`)
	}
}

// work answers what both eras have; first is how a result begins.
func work(w http.ResponseWriter, r request, first string) {
	switch {
	case r.Method == "tools/list":
		result(w, r, `{`+first+`"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"fault","inputSchema":{"type":"object"}}]}`)
	case r.isFault():
		result(w, r, `{`+first+`"content":[{"type":"text","text":"done"}]}`)
	case r.Params.Name == "echo":
		result(w, r, `{`+first+`"content":[{"type":"text","text":`+wiretest.JSON(string(r.Params.Arguments))+`}]}`)
	case r.Method == "ping":
		result(w, r, `{}`)
	default:
		refuse(w, http.StatusOK, string(r.ID), `{"code":-32601,"message":"Method not found"}`)
	}
}

func result(w http.ResponseWriter, r request, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, reply(string(r.ID), result))
}

func reply(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

func refuse(w http.ResponseWriter, status int, id, failure string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+id+`,"error":`+failure+`}`)
}

// login does as the error of a call says: it runs workbench login and consents.
func (b *bed) login() {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), wiretest.Program("workbench"), "login", "box/sick", "--config", b.path("workbench-config.json"))
	cmd.Env = b.environ()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err == nil {
		err = oauthtest.Consent(strings.TrimSpace(address))
	}
	if failed := cmd.Wait(); failed != nil || err != nil {
		b.t.Fatalf("login: %v, %v: %s", failed, err, stderr.String())
	}
}
