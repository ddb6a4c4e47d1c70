package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// mistakes is where their scripts are.
const mistakes = "testdata/mistakes"

// manyMistakes is how many there are: what people did wrong when they tried workbench and MCP servers, numbered.
const manyMistakes = 58

// TestMistakes makes each mistake and compares what workbench says with the transcript that is kept: the cause, and
// what to do next. "try COMMAND…" runs a command and writes down what is printed, and the exit code if it is not 0;
// "web", "gateway", "request", "logged" and "write" are below. A script ends with "said", which compares.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for n := range manyMistakes {
		if found, err := filepath.Glob(filepath.Join(mistakes, fmt.Sprintf("%02d_*.txtar", n+1))); err != nil || len(found) != 1 {
			t.Errorf("mistake %d: got the scripts %q, want one", n+1, found)
		}
	}
	said := new(transcripts)
	playScripts(t, testscript.Params{Dir: mistakes, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"try": said.try, "said": said.compare, "request": said.request, "logged": said.logged, "web": web, "gateway": gateway, "token": makeToken, "write": writeQuoted}})
}

// transcripts are what scripts have seen so far.
type transcripts struct{ of sync.Map }

func (s *transcripts) add(ts *testscript.TestScript, text string) {
	at, _ := s.of.LoadOrStore(ts.Name(), new(strings.Builder))
	at.(*strings.Builder).WriteString(text)
}

// try runs a command of the program.
func (s *transcripts) try(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	s.add(ts, "$ "+strings.Join(args, " ")+"\n"+ts.ReadFile("stdout")+ts.ReadFile("stderr"))
	if exit != nil {
		s.add(ts, fmt.Sprintf("[exit code %d]\n", exit.ExitCode()))
	}
	ts.Check(nil)
}

// varying is what differs from one run to the next, and what a transcript has for it.
var varying = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d{4,5}\b`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`"(time|session|dur|pid|workbench)":("[^"]*"|[0-9.]+)`), `"$1":…`},
	{regexp.MustCompile(`"capabilities":\{.*\},"serverInfo":\{[^}]*\}`), `"capabilities":…`},
	{regexp.MustCompile(`(?m)^\{"jsonrpc":"2.0","method":"notifications/.*\n`), ""},
	{regexp.MustCompile(`is asked again in [0-9.]+m?s`), "is asked again in …"},
	{regexp.MustCompile(`is not available \(starting\)`), "is not available (backoff)"}, // it failed, and may be started again by now
}

// compare compares the transcript of a script with its file want.
func (s *transcripts) compare(ts *testscript.TestScript, _ bool, _ []string) {
	at, _ := s.of.LoadOrStore(ts.Name(), new(strings.Builder))
	got := strings.ReplaceAll(at.(*strings.Builder).String(), ts.Getenv("WORK"), "$WORK")
	if token := ts.Getenv("TOKEN"); token != "" {
		got = strings.ReplaceAll(got, token, "$TOKEN")
	}
	for _, v := range varying {
		got = v.pattern.ReplaceAllString(got, v.instead)
	}
	if *update {
		rewrite(ts, filepath.Join(mistakes, ts.Name()+".txtar"), "want", got)
		return
	}
	if want := ts.ReadFile("want"); got != want {
		ts.Fatalf("%s", diff.Diff("want", []byte(want), "got", []byte(got)))
	}
}

// rewrite puts text into a file of a script.
func rewrite(ts *testscript.TestScript, script, file, text string) {
	archive, err := txtar.ParseFile(script)
	ts.Check(err)
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == file })
	if i < 0 {
		ts.Fatalf("no file %s", file)
	}
	archive.Files[i].Data = []byte(text)
	ts.Check(os.WriteFile(script, txtar.Format(archive), 0o644))
}

// writeQuoted writes a file of bytes that a script cannot hold as they are: "write FILE TEXT", TEXT with the escapes of
// Go.
func writeQuoted(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// web answers requests as servers do that are no right MCP server for who asks: "web STATUS [BODY]", "web login", "web
// tls", "web sse". URL is its address afterwards.
func web(ts *testscript.TestScript, _ bool, args []string) {
	var handler http.HandlerFunc
	start := (*httptest.Server).Start
	switch args[0] {
	case "sse":
		handler = oldServer()
	case "tls":
		start = (*httptest.Server).StartTLS
		handler = http.NotFound
	case "redirect":
		handler = func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example/mcp", http.StatusMovedPermanently)
		}
	case "none":
		start = func(server *httptest.Server) {
			server.Start()
			server.Close()
		}
	default:
		status, err := strconv.Atoi(args[0])
		ts.Check(err)
		handler = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			if len(args) > 1 && strings.HasPrefix(args[1], "<") {
				w.Header().Set("Content-Type", "text/html")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.Join(args[1:], " "))
		}
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(server)
	ts.Defer(server.Close)
	setURL(ts, server.URL)
}

func setURL(ts *testscript.TestScript, url string) {
	_, hostPort, _ := strings.Cut(url, "://")
	ts.Setenv("URL", url)
	ts.Setenv("HOSTPORT", hostPort)
}

// oldServer speaks the HTTP+SSE transport of 2024-11-05 alone: a stream at /sse, which names the address for messages.
func oldServer() http.HandlerFunc {
	stream := make(chan string, 16)
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/sse":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: endpoint\ndata: /messages\n\n")
			w.(http.Flusher).Flush()
			for {
				select {
				case <-r.Context().Done():
					return
				case text := <-stream:
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
					w.(http.Flusher).Flush()
				}
			}
		case r.Method == http.MethodPost && r.URL.Path == "/messages":
			var m struct {
				ID     json.RawMessage
				Method string
			}
			_ = json.NewDecoder(r.Body).Decode(&m)
			w.WriteHeader(http.StatusAccepted)
			result := map[string]string{
				"initialize": `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`,
				"tools/list": `{"tools":[{"name":"echo","description":"Say it again.","inputSchema":{"type":"object"}}]}`,
			}[m.Method]
			switch {
			case m.ID == nil:
			case result == "":
				stream <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not here"}}`, m.ID)
			default:
				stream <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
			}
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, "<!DOCTYPE html><pre>Cannot %s %s</pre>", r.Method, r.URL.Path)
		}
	}
}

// gateway serves over HTTP until the end of the script: "gateway FLAG…". URL is its address afterwards, and gateway.log
// its log.
func gateway(ts *testscript.TestScript, _ bool, args []string) {
	var environ []string
	for _, name := range []string{"PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "WORKBENCH_CONFIG", "GORACE", "TMPDIR"} {
		environ = append(environ, name+"="+ts.Getenv(name))
	}
	program, err := exec.LookPath("workbench")
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, filepath.Base(program)); fileExists(path) {
			program = path
			break
		}
	}
	ts.Check(err)
	cmd := exec.Command(program, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	cmd.Env, cmd.Dir = environ, ts.Getenv("WORK")
	read, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	file, err := os.Create(ts.MkAbs("gateway.log"))
	ts.Check(err)
	url, copied := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(copied)
		defer file.Close()
		lines := bufio.NewScanner(read)
		for lines.Scan() {
			fmt.Fprintf(file, "%s\n", lines.Bytes())
			var line struct{ URL string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.URL != "" {
				url <- line.URL
			}
		}
		close(url)
	}()
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		<-copied
		_ = cmd.Wait()
	})
	at, ok := <-url
	if !ok {
		ts.Fatalf("the gateway ended: %s", ts.ReadFile("gateway.log"))
	}
	setURL(ts, at)
}

// makeToken makes a token for a client of the gateway: "token FLAG… NAME". TOKEN is it afterwards.
func makeToken(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("workbench", append([]string{"token", "create"}, args...)...))
	ts.Setenv("TOKEN", strings.TrimSpace(ts.ReadFile("stdout")))
}

// request posts an initialize: "request URL HEADER…".
func (s *transcripts) request(ts *testscript.TestScript, _ bool, args []string) {
	r, err := http.NewRequest(http.MethodPost, args[0], strings.NewReader(greeting))
	ts.Check(err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, header := range args[1:] {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	ts.Check(err)
	text := fmt.Sprintf("> POST %s\n%s\n", strings.Join(args, ", "), answer.Status)
	if challenge := answer.Header.Get("WWW-Authenticate"); challenge != "" {
		text += "WWW-Authenticate: " + challenge + "\n"
	}
	s.add(ts, text+strings.TrimSpace(string(body))+"\n")
}

// logged waits for a line of the gateway's log: "logged WORD".
func (s *transcripts) logged(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for line := range bytes.Lines([]byte(ts.ReadFile("gateway.log"))) {
			if bytes.Contains(line, []byte(args[0])) && bytes.HasSuffix(line, []byte("\n")) {
				s.add(ts, "log: "+string(line))
				return
			}
		}
	}
	ts.Fatalf("no line with %q in the log: %s", args[0], ts.ReadFile("gateway.log"))
}
