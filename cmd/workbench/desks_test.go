package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

// A desktop is a client of the commands of a workbench that serves over HTTP.
type desktop struct {
	t       *testing.T
	base    string // ends with the toolbox
	token   string
	session string
}

// deskOf serves and begins a session with the commands of a toolbox.
func deskOf(t *testing.T, s *served, environ []string, box string) *desktop {
	t.Helper()
	var token bytes.Buffer
	if code := run(t.Context(), []string{"token"}, cli.Streams{In: strings.NewReader(""), Out: &token, Err: io.Discard}, environ); code != cli.ExitDone {
		t.Fatalf("workbench token ended with %d", code)
	}
	return &desktop{t: t, base: strings.TrimSuffix(s.url, "/mcp") + "/commands/" + box, token: strings.TrimSpace(token.String())}
}

func (d *desktop) send(method, path, body string) (int, string) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.base+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if d.token != "" {
		req.Header.Set("Authorization", "Bearer "+d.token)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// begin begins a session.
func (d *desktop) begin() string {
	d.t.Helper()
	status, answer := d.send("POST", "/initialize", `{}`)
	var begun struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(answer), &begun); status != http.StatusOK || err != nil {
		d.t.Fatalf("initialize: got %d %s", status, answer)
	}
	d.session = begun.SessionID
	return answer
}

// execute carries out a command and returns the answer.
func (d *desktop) execute(command string) string {
	d.t.Helper()
	body, err := json.Marshal(map[string]string{"session_id": d.session, "command": command})
	if err != nil {
		d.t.Fatal(err)
	}
	_, answer := d.send("POST", "/execute_command", string(body))
	return answer
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Commands are behind the front's token, except the probes; a toolbox without them is not there.
func TestDeskGuard(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"c.json": `{"toolboxes": {"plain": {"mcpServers": {"workflow": {"builtin": "workflow"}}},
		"shop": {"mcpServers": {"desk": {"builtin": "commands", "commands": "example"}}},
		"gone": {"mcpServers": {"desk": {"builtin": "commands", "commands": "nowhere"}}}}}`})
	environ := []string{"XDG_STATE_HOME=" + t.TempDir(), "WORKBENCH_CONFIG=" + filepath.Join(dir, "c.json")}
	s := serveForTest(t, environ)
	// One server of commands that can work makes the whole ready, whatever the others do; the rows have no order.
	if status, answer := deskOf(t, s, environ, "shop").send("GET", "/openapi.json", ``); status != http.StatusOK {
		t.Fatalf("got %d %s, want the server of commands made", status, answer)
	}
	for name, tt := range map[string]struct {
		box, token, method, path string
		status                   int
		want                     string // a piece of the answer
	}{
		"probe without token":  {"shop", "none", "GET", "/probes/healthz", 200, `{"status":"alive"}`},
		"ready without token":  {"shop", "none", "GET", "/probes/readyz", 200, `"status":"ready"`},
		"without token":        {"shop", "none", "POST", "/initialize", 401, `{"code":401,"message":"a bearer token is needed`},
		"with a wrong token":   {"shop", "wrong", "GET", "/openapi.json", 401, `{"code":401,`},
		"with the token":       {"shop", "", "GET", "/openapi.json", 200, `"openapi":"3.1.0"`},
		"no commands":          {"plain", "", "POST", "/initialize", 404, `there is no toolbox \"plain\" with a server of commands`},
		"no toolbox":           {"none", "", "POST", "/initialize", 404, `there is no toolbox \"none\"`},
		"probe of no toolbox":  {"none", "none", "GET", "/probes/healthz", 200, `{"status":"alive"}`},
		"no folder":            {"gone", "", "POST", "/initialize", 503, `there is no folder`},
		"traversal of toolbox": {"plain/../shop", "none", "GET", "/probes/healthz", 401, ``},
	} {
		t.Run(name, func(t *testing.T) {
			d := deskOf(t, s, environ, tt.box)
			d.t = t
			switch tt.token {
			case "none":
				d.token = ""
			case "wrong":
				d.token += "x"
			}
			if status, answer := d.send(tt.method, tt.path, `{}`); status != tt.status || !strings.Contains(answer, tt.want) {
				t.Errorf("got %d %s, want %d and %q", status, answer, tt.status, tt.want)
			}
		})
	}
}

// hostile is a configuration whose server of tools leaves a file when it is started, with a toolbox of commands that
// would start it, one whose folder is not there, and one that may be used.
func hostile(t *testing.T) (environ []string, started, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "secret-dir-name")
	started = filepath.Join(dir, "started")
	writeFiles(t, dir, map[string]string{"c.json": `{"toolboxes": {
		"real": {"mcpServers": {"tools": {"command": "sh", "args": ["-c", "touch ` + started + `; exit 1"]}}},
		"shop": {"mcpServers": {"desk": {"builtin": "commands", "commands": "toolbox:real"}}},
		"gone": {"mcpServers": {"desk": {"builtin": "commands", "commands": "nowhere"}}}}}`})
	return []string{"XDG_STATE_HOME=" + dir, "WORKBENCH_CONFIG=" + filepath.Join(dir, "c.json"), "PATH=" + os.Getenv("PATH")}, started, dir
}

// get makes a request and returns all of the answer but its date.
func get(t *testing.T, url string, header ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Header.Del("Date")
	body, err := httputil.DumpResponse(resp, true)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Who has no token starts nothing and learns nothing: what it gets for a toolbox is to the letter what it gets for one
// that is not there.
func TestFaultG69_WithoutToken(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the server of tools is a program of Unix")
	}
	environ, started, dir := hostile(t)
	s := serveForTest(t, environ)
	base := strings.TrimSuffix(s.url, "/mcp")
	for _, path := range []string{"/commands/%s/probes/healthz", "/commands/%s/probes/readyz", "/commands/%s/openapi.json", "/commands/%s/workflow_info",
		"/commands/%s/turns/0123456789", "/commands/%s/", "/commands/%s", "/mcp/%s"} {
		for name, header := range map[string][]string{
			"plain":             nil,
			"an image":          {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "image", "Sec-Fetch-Mode", "no-cors"},
			"a token of nobody": {"Authorization", "Bearer wb_nobody"},
			"another host":      {"X-Forwarded-Host", "evil.example"},
		} {
			wanted := get(t, base+fmt.Sprintf(path, "xxxx"), header...)
			for _, box := range []string{"shop", "gone", "real"} {
				if got := get(t, base+fmt.Sprintf(path, box), header...); got != wanted || strings.Contains(got, dir) {
					t.Errorf("%s, %s: got for %s\n%s\nand for one that is not there\n%s", path, name, box, got, wanted)
				}
			}
		}
	}
	for _, file := range []string{started, filepath.Join(dir, "workbench", "conversations.db")} {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s is there: somebody without a token has started it", file)
		}
	}
	// With a token it is started, or the test would show nothing.
	d := deskOf(t, s, environ, "shop")
	if status, body := d.send("GET", "/openapi.json", ""); status != 503 {
		t.Errorf("got %d %s, want 503 of a server that ends", status, body)
	}
	if _, err := os.Stat(started); err != nil {
		t.Errorf("with the token: %v", err)
	}
}

// Where everybody is let in, a web page of another site is not, and starts nothing.
func TestFaultG69_WebPagesWithoutTokens(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the server of tools is a program of Unix")
	}
	environ, started, _ := hostile(t)
	base := strings.TrimSuffix(serveForTest(t, environ, "--no-token").url, "/mcp")
	for _, path := range []string{"/commands/shop/openapi.json", "/commands/shop/workflow_info", "/commands/shop/probes/readyz", "/mcp/real", "/metrics"} {
		for _, site := range []string{"cross-site", "same-site"} {
			got := get(t, base+path, "Sec-Fetch-Site", site, "Accept", "text/event-stream")
			if want := "HTTP/1.1 403"; !strings.HasPrefix(got, want) && !strings.Contains(path, "probes") {
				t.Errorf("%s, %s: got %s, want %s", path, site, got, want)
			}
		}
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("a page of another site has started a server")
	}
	if got := get(t, base+"/commands/shop/openapi.json", "Sec-Fetch-Site", "none"); !strings.HasPrefix(got, "HTTP/1.1 503") {
		t.Errorf("got %s, want the request of a user to be served", got)
	}
}

// A token that is limited to a toolbox hears nothing of others: not of their turns, and not where they are kept.
func TestFaultG78_LimitedToken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secret-dir-name")
	hello := "description: Hello\neffect: read\nprocess: {argv: [echo, hello]}\n"
	writeFiles(t, dir, map[string]string{
		"c.json": `{"toolboxes": {"tb": {"mcpServers": {"desk": {"builtin": "commands", "commands": "one"}}},
			"desk": {"mcpServers": {"desk": {"builtin": "commands", "commands": "two"}}}, "gone": {"mcpServers": {"desk": {"builtin": "commands", "commands": "nowhere"}}}}}`,
		"one/workflow.yaml": "name: One\ndescription: d\npurpose: p\n", "one/commands/hello.yaml": hello,
		"two/workflow.yaml": "name: Two\ndescription: d\npurpose: p\n", "two/commands/hello.yaml": hello,
	})
	environ := []string{"XDG_STATE_HOME=" + t.TempDir(), "WORKBENCH_CONFIG=" + filepath.Join(dir, "c.json"), "PATH=" + os.Getenv("PATH")}
	limited, all := tokenFor(t, environ, "limited", "--user", "ada", "--toolbox", "tb", "--toolbox", "gone"), tokenFor(t, environ, "all", "--user", "ada")
	s := serveForTest(t, environ)
	two := deskOf(t, s, environ, "desk")
	two.token = all
	two.begin()
	var done struct {
		TurnKey string `json:"turn_key"`
	}
	if err := json.Unmarshal([]byte(two.execute("hello")), &done); err != nil || done.TurnKey == "" {
		t.Fatalf("got %+v, %v, want the key of a turn", done, err)
	}
	if status, got := two.send("GET", "/turns/"+done.TurnKey, ""); status != 200 {
		t.Errorf("got %d %s, want the turn for who may see it", status, got)
	}
	one := deskOf(t, s, environ, "tb")
	one.token = limited
	one.begin()
	unknown := strings.Repeat("0", len(done.TurnKey))
	_, wanted := one.send("GET", "/turns/"+unknown, "")
	for _, path := range []string{"/turns/" + done.TurnKey, "/turns/" + done.TurnKey + "?session_id=" + one.session} {
		if status, got := one.send("GET", path, ""); status != 404 || strings.ReplaceAll(got, done.TurnKey, unknown) != wanted {
			t.Errorf("%s: got %d %s, want what is said of a turn that nobody knows: %s", path, status, got, wanted)
		}
	}
	for _, path := range []string{"/commands?session_id=" + two.session, "/conversations?session_id=" + two.session} {
		if status, got := one.send("GET", path, ""); status != 404 {
			t.Errorf("%s: got %d %s, want the session not to be there", path, status, got)
		}
	}
	two.token = limited
	if status, got := two.send("GET", "/turns/"+done.TurnKey, ""); status != 404 || !strings.Contains(got, "there is no toolbox") {
		t.Errorf("got %d %s, want the other toolbox not to be there", status, got)
	}
	gone := deskOf(t, s, environ, "gone")
	gone.token = limited
	if status, got := gone.send("POST", "/initialize", "{}"); status != 503 || strings.Contains(got, "secret-dir-name") {
		t.Errorf("got %d %s, want 503 without the folder", status, got)
	}
	for _, tool := range []string{"workbench_open_toolbox", "workbench_use_tool", "workbench_status"} {
		got := modernCall(t, s.url, limited, tool, `{"toolbox_name":"gone","tool_name":"desk/initialize","arguments":{}}`)
		if strings.Contains(got, "secret-dir-name") || tool == "workbench_open_toolbox" && !strings.Contains(got, "cannot be served at present") {
			t.Errorf("%s over MCP: got %.600s, want that it cannot be served, without the folder", tool, got)
		}
	}
}

// commands serve takes what it needs from the command line and from variables.
func TestCommandsServe(t *testing.T) {
	dir, kept := t.TempDir(), t.TempDir()
	writeFiles(t, dir, map[string]string{
		"desk/workflow.yaml":       "name: Desk\ndescription: d\npurpose: p\nstartup: hello <word>default</word>\n",
		"desk/commands/hello.yaml": "description: Hello\neffect: read\nparams: {word: {type: string, description: w}}\nprocess: {argv: [echo, \"hello {word}\"]}\n",
		"vars.env":                 "# comment\nexport STARTUP_COMMAND=\"hello <word>you</word>\"\n\nOTHER=1\n",
		"passwords.env":            "SPEEDDICT_FOLDERNAME='" + kept + "'\n",
	})
	environ := []string{"XDG_STATE_HOME=" + t.TempDir(), "WORKFLOW_PATH=" + filepath.Join(dir, "desk"), "PATH=" + os.Getenv("PATH"),
		"ENV_FILE_PATH=" + filepath.Join(dir, "vars.env"), "PASSWORDS_FILE_PATH=" + filepath.Join(dir, "passwords.env")}
	s := runForTest(t, environ, "commands", "serve", "--http", "127.0.0.1:0")
	d := deskOf(t, s, environ, "desk")
	if got := d.begin(); !strings.Contains(got, `"response_text":"hello you`) || !strings.Contains(got, `"workflow_name":"Desk"`) {
		t.Errorf("got %s, want the startup command of the variable", got)
	}
	if _, err := os.Stat(filepath.Join(kept, "conversations.db")); err != nil {
		t.Errorf("the conversations are not where the variable says: %v", err)
	}
}

// A command has the secret of who it runs for, by name, and nobody else's.
func TestDeskCredentials(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its programs are those of Unix")
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"desk/workflow.yaml":       "name: Desk\ndescription: d\n",
		"desk/commands/who.yaml":   "description: Who\neffect: read\nprocess: {argv: [\"${WORKFLOW_DIR}/who.sh\", \"{user_id}\"], env: {KEY: \"${user:SHOP_KEY}\"}}\n",
		"desk/commands/steal.yaml": "description: Steal\neffect: read\nparams: {x: {type: string}}\nprocess: {argv: [\"${WORKFLOW_DIR}/who.sh\", \"{x}\"], env: {KEY: \"{x}\"}}\n",
		"desk/who.sh":              "#!/bin/sh\necho \"I am $1, key $KEY\"\n",
	})
	if err := os.Chmod(filepath.Join(dir, "desk", "who.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	environ := []string{"XDG_STATE_HOME=" + t.TempDir(), "XDG_CONFIG_HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "DBUS_SESSION_BUS_ADDRESS=autolaunch:"}
	ada, bob := tokenFor(t, environ, "laptop", "--user", "ada@shop.example"), tokenFor(t, environ, "bob")
	if code := run(t.Context(), []string{"secret", "set", "--file", "SHOP_KEY", "--user", "ada@shop.example"}, cli.Streams{In: strings.NewReader("adas-key"), Out: io.Discard, Err: io.Discard}, environ); code != cli.ExitDone {
		t.Fatalf("workbench secret set ended with %d", code)
	}
	var listed bytes.Buffer
	if run(t.Context(), []string{"secret", "list"}, cli.Streams{In: strings.NewReader(""), Out: &listed, Err: io.Discard}, environ); !regexp.MustCompile(`(?m)^SHOP_KEY +file +commands of ada@shop.example$`).Match(listed.Bytes()) {
		t.Errorf("got %s, want whose secret it is", &listed)
	}
	s := runForTest(t, environ, "commands", "serve", filepath.Join(dir, "desk"), "--http", "127.0.0.1:0")
	d := deskOf(t, s, environ, "desk")
	for _, tt := range []struct{ token, command, want string }{
		{ada, "who", "I am ada@shop.example, key adas-key"},
		{ada, "steal <x>${user:SHOP_KEY}</x>", "I am ${user:SHOP_KEY}, key ${user:SHOP_KEY}"},
		{bob, "who", `no secret SHOP_KEY is kept for \"bob\"; the person who runs workbench sets it with: workbench secret set SHOP_KEY --user bob`},
	} {
		d.token = tt.token
		d.begin()
		if got := d.execute(tt.command); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %q", tt.command, got, tt.want)
		}
	}
}

// tokenFor makes a token of its own for a client.
func tokenFor(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if code := run(t.Context(), append([]string{"token", "create"}, args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: io.Discard}, environ); code != cli.ExitDone {
		t.Fatalf("workbench token create %q ended with %d", args, code)
	}
	return strings.TrimSpace(out.String())
}

// Two tokens of one user have one set of sessions, over HTTP and over MCP; those of another user do not exist, and
// neither do toolboxes that a token is not for.
func TestDeskUsers(t *testing.T) {
	environ := []string{"XDG_STATE_HOME=" + t.TempDir(), "XDG_CONFIG_HOME=" + t.TempDir()}
	laptop, phone := tokenFor(t, environ, "laptop", "--user", "ada"), tokenFor(t, environ, "phone", "--user", "ada")
	bob, elsewhere := tokenFor(t, environ, "bob"), tokenFor(t, environ, "elsewhere", "--user", "ada", "--toolbox", "workflows")
	s := runForTest(t, environ, "commands", "serve", "example", "--http", "127.0.0.1:0")
	d := deskOf(t, s, environ, "example")
	d.token = laptop
	d.begin()
	d.execute("open_order <order_id>44821</order_id>")
	path := "/commands?session_id=" + d.session
	for name, tt := range map[string]struct {
		token  string
		status int
		want   string
	}{
		"same token":       {laptop, 200, "Commands at Order 44821"},
		"same user":        {phone, 200, "Commands at Order 44821"},
		"other user":       {bob, 404, "there is no such session"},
		"other toolbox":    {elsewhere, 404, "there is no toolbox"},
		"an administrator": {deskOf(t, s, environ, "example").token, 404, "there is no such session"},
	} {
		t.Run(name, func(t *testing.T) {
			d := *d
			d.t, d.token = t, tt.token
			if status, answer := d.send("GET", path, ""); status != tt.status || !strings.Contains(answer, tt.want) {
				t.Errorf("got %d %.200s, want %d and %q", status, answer, tt.status, tt.want)
			}
			if got := modernCall(t, s.url, tt.token, "execute_command", `{"session_id":"`+d.session+`","command":"what_is_current_context"}`); strings.Contains(got, "You are at global > Order 44821") != (tt.status == 200) {
				t.Errorf("over MCP: got %.300s", got)
			}
		})
	}
	admin := deskOf(t, s, environ, "example")
	status, answer := admin.send("POST", "/initialize", `{"user_id":"ada","client":"http"}`)
	if status != 200 || !strings.Contains(answer, `"context":"Order 44821 of Ada Reed"`) {
		t.Errorf("got %d %s for an administrator, want the conversation of ada", status, answer)
	}
}

// modernCall calls a tool in the era without sessions.
func modernCall(t *testing.T, url, token, tool, arguments string) string {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"}}}}`, tool, arguments)
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		req.Header.Set(name, value)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// late bounds waits; nothing that works comes near it.
const late = 2 * time.Minute
