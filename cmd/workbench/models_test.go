package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/model/modeltest"
)

// A configuration with models has its commands worked by them: planned and
// carried out, chosen, and summed up. The key of the endpoint goes there and
// nowhere else.
func TestModels(t *testing.T) {
	const key = "sk-canary-271828"
	endpoint := modeltest.New(t,
		modeltest.Text("1. open_order"), modeltest.Calls("open_order", `{"order_id":"44821"}`), modeltest.Calls("Order__cancel_order", `{"reason":"late"}`), modeltest.Text("It is cancelled."),
		modeltest.Calls("search_books", `{"words":"Woolf"}`),
		modeltest.Body(500, "no "+key), modeltest.Body(500, ""), modeltest.Body(500, ""),
		modeltest.Calls("keep_conversation", `{"topic":"A late order","summary":"Order 44821 was cancelled."}`),
	)
	config := filepath.Join(t.TempDir(), "workbench-config.json")
	if err := os.WriteFile(config, []byte(`{"models": {"baseUrl": "`+endpoint.URL+`", "apiKey": "${KEY}", "default": "m"},
		"toolboxes": {"shop": {"mcpServers": {"desk": {"builtin": "commands", "commands": "example"}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"XDG_STATE_HOME=" + t.TempDir(), "WORKBENCH_CONFIG=" + config, "KEY=" + key}
	var s *served
	t.Cleanup(func() { // when it has ended
		log := s.log()
		if strings.Contains(log, "canary") || !strings.Contains(log, "a model was asked") {
			t.Errorf("the log must tell of the model and not its key:\n%s", log)
		}
	})
	s = serveForTest(t, environ, "--log-level", "debug")
	var token bytes.Buffer
	if code := run(t.Context(), []string{"token"}, streams{strings.NewReader(""), &token, io.Discard}, environ); code != exitDone {
		t.Fatalf("workbench token ended with %d", code)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	base := strings.TrimSuffix(s.url, "/mcp") + "/commands/shop/"
	session := ""
	for _, tt := range []struct {
		operation, body string
		status          int
		want            string // a piece of the answer
	}{
		{"initialize", `{}`, 200, `"session_id":"`},
		{"invoke_agent", `"user_query":"` + strings.Repeat("a", 32<<10+1) + `"`, 422, "user_query is longer than 32768 bytes"},
		{"invoke_agent", `"user_query":"cancel the order of Ada Reed, it is late"`, 200, `"form":{"properties":{"confirm":`},
		{"invoke_agent", `"user_query":"yes"`, 200, `"response":"It is cancelled."`},
		{"invoke_assistant", `"user_query":"would there be anything by Woolf for me"`, 200, "The Waves"},
		{"new_conversation", ``, 500, "HTTP 500"},
		{"new_conversation", ``, 200, `"status":"ok"`},
		{"conversations", ``, 200, `"topic":"A late order","summary":"Order 44821 was cancelled."`},
	} {
		body := tt.body
		if session != "" {
			body = strings.TrimSuffix(`{"session_id":"`+session+`",`+body, ",") + "}"
		}
		method, address := "POST", base+tt.operation
		if tt.operation == "conversations" {
			method, address = "GET", address+"?session_id="+session
		}
		req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token.String()))
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != tt.status || !strings.Contains(string(answer), tt.want) || strings.Contains(string(answer), "canary") {
			t.Errorf("%s %s: got %d %s\nwant %d and %q, without the key", tt.operation, body, resp.StatusCode, answer, tt.status, tt.want)
		}
		if _, rest, ok := strings.Cut(string(answer), `"session_id":"`); ok && session == "" {
			session, _, _ = strings.Cut(rest, `"`)
		}
	}
	for _, r := range endpoint.Requests() {
		if r.Key != "Bearer "+key {
			t.Errorf("got the Authorization %q at the endpoint", r.Key)
		}
	}
}

// A client that lends its model has an agent without any in the configuration,
// and answers for its user meanwhile.
func TestLentModel(t *testing.T) {
	config := filepath.Join(t.TempDir(), "workbench-config.json")
	if err := os.WriteFile(config, []byte(`{"toolboxes": {"shop": {"mcpServers": {"desk": {"builtin": "commands", "commands": "example"}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"XDG_STATE_HOME=" + t.TempDir(), "WORKBENCH_CONFIG=" + config}
	for _, tt := range []struct {
		name, capabilities string
		answers            []string // to what the server asks, in its order
		want               string   // a piece of what the agent answers
	}{
		{"it can", `{"sampling":{},"elicitation":{}}`, []string{
			`{"role":"assistant","model":"m","content":{"type":"text","text":"1. open_order"}}`,
			`{"role":"assistant","model":"m","content":{"type":"text","text":"{\"tool\":\"open_order\",\"arguments\":{\"order_id\":\"44821\"}}"}}`,
			`{"role":"assistant","model":"m","content":{"type":"text","text":"{\"tool\":\"Order__cancel_order\",\"arguments\":{\"reason\":\"late\"}}"}}`,
			`{"action":"accept","content":{"confirm":true}}`,
			`{"role":"assistant","model":"m","content":{"type":"text","text":"It is cancelled."}}`,
		}, `\"response\":\"It is cancelled.\"`},
		{"it cannot", `{"elicitation":{}}`, nil, `503: no model is configured`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, toServer := io.Pipe()
			fromServer, out := io.Pipe()
			ended := make(chan int, 1)
			go func() {
				code := run(t.Context(), []string{"serve", "--log-level", "off"}, streams{in, out, io.Discard}, environ)
				_ = out.Close()
				ended <- code
			}()
			say := func(msg string) {
				if _, err := io.WriteString(toServer, msg+"\n"); err != nil {
					t.Error(err)
				}
			}
			use := func(id, tool, arguments string) {
				say(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"shop","tool_name":"` + tool + `","arguments":` + arguments + `}}}`)
			}
			say(strings.Replace(greeting, `"capabilities":{}`, `"capabilities":`+tt.capabilities, 1))
			var asked []string
			messages := bufio.NewScanner(fromServer)
			messages.Buffer(nil, 1<<20)
			for messages.Scan() {
				var m struct {
					ID     json.RawMessage
					Method string
				}
				if err := json.Unmarshal(messages.Bytes(), &m); err != nil {
					t.Fatal(err)
				}
				switch {
				case m.Method != "" && m.ID != nil && len(tt.answers) == 0:
					t.Errorf("the client is asked once too often: %s", messages.Text())
					say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-1,"message":"no"}}`)
				case m.Method != "" && m.ID != nil:
					asked = append(asked, m.Method)
					say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + tt.answers[0] + `}`)
					tt.answers = tt.answers[1:]
				case m.Method != "":
				case string(m.ID) == "1":
					say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
					use("2", "initialize", `{}`)
				case string(m.ID) == "2":
					use("3", "invoke_agent", `{"user_query":"cancel the order of Ada Reed, it is late"}`)
				default:
					if got := messages.Text(); !strings.Contains(got, tt.want) {
						t.Errorf("got %s\nwant %s in it", got, tt.want)
					}
					_ = toServer.Close()
				}
			}
			if code := <-ended; code != exitDone || len(tt.answers) > 0 {
				t.Errorf("the exit code is %d, and the client was asked %q, want %d questions more", code, asked, len(tt.answers))
			}
		})
	}
}

// A model for embeddings has a vote in what is found, and one that does not answer costs nothing but that.
func TestFindByMeaning(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input []string }
		if json.NewDecoder(r.Body).Decode(&q) != nil || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer sk-canary" {
			http.Error(w, "", http.StatusBadRequest)
			return
		}
		var data []string
		for i, text := range q.Input {
			v := "[0,1]"
			if strings.Contains(text, "frobnicate") || strings.Contains(text, "Mathematics") {
				v = "[1,0]"
			}
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, v))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	defer server.Close()
	dir := t.TempDir()
	config := filepath.Join(dir, "workbench-config.json")
	write := func(models string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(`{`+models+`"toolboxes": {"sums": {"description": "Mathematics", "mcpServers": {"a": {"command": "none"}}},
			"post": {"description": "Letters", "mcpServers": {"b": {"command": "none"}}}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	find := func(query ...string) (out, errs string, code int) {
		var o, e bytes.Buffer
		code = run(t.Context(), append([]string{"find"}, query...), streams{strings.NewReader(""), &o, &e},
			[]string{"HOME=" + dir, "XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "WORKBENCH_CONFIG=" + config, "KEY=sk-canary"})
		return o.String(), e.String(), code
	}
	write("")
	if out, errs, code := find("frobnicate"); code != exitFault || !strings.Contains(errs, "no tool is known") {
		t.Errorf("by words alone: got %d, %q, %q, want that nothing is known", code, out, errs)
	}
	write(`"models": {"baseUrl": "` + server.URL + `/v1", "apiKey": "${KEY}", "embeddings": "small"},`)
	// On a busy machine the model may take longer than is waited for it.
	answered := func(query ...string) (out, errs string, code int) {
		for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); {
			if out, errs, code = find(query...); errs == "" {
				break
			}
		}
		return out, errs, code
	}
	if out, errs, code := answered("frobnicate"); code != exitDone || !strings.HasPrefix(out, "sums/a ") || strings.Contains(out, "post/b") {
		t.Errorf("with embeddings: got %d, %q, %q, want sums/a alone", code, out, errs)
	}
	if out, errs, _ := answered("--explain", "frobnicate"); !strings.Contains(out, "what it means (") {
		t.Errorf("got the reason %q, %q, want what it means", out, errs)
	}
	server.Close()
	if out, errs, code := find("letters"); code != exitDone || !strings.HasPrefix(out, "post/b ") || !strings.Contains(errs, "found by words alone") || strings.Contains(errs, "canary") {
		t.Errorf("the model is gone: got %d, %q, %q, want what the words find and a note", code, out, errs)
	}
}
