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

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

// A client that lends its model has an agent without any in the configuration, and answers for its user meanwhile.
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
				code := run(t.Context(), []string{"serve", "--log-level", "off"}, cli.Streams{In: in, Out: out, Err: io.Discard}, environ)
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
				case string(m.ID) == "2", strings.Contains(messages.Text(), "(starting)"): // which a disk at work can make long
					use("3", "invoke_agent", `{"user_query":"cancel the order of Ada Reed, it is late"}`)
				default:
					if got := messages.Text(); !strings.Contains(got, tt.want) {
						t.Errorf("got %s\nwant %s in it", got, tt.want)
					}
					_ = toServer.Close()
				}
			}
			if code := <-ended; code != cli.ExitDone || len(tt.answers) > 0 {
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
		code = run(t.Context(), append([]string{"find"}, query...), cli.Streams{In: strings.NewReader(""), Out: &o, Err: &e},
			[]string{"HOME=" + dir, "XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "WORKBENCH_CONFIG=" + config, "KEY=sk-canary"})
		return o.String(), e.String(), code
	}
	write("")
	if out, errs, code := find("frobnicate"); code != cli.ExitFault || !strings.Contains(errs, "no known tool fits") {
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
	if out, errs, code := answered("frobnicate"); code != cli.ExitDone || !strings.HasPrefix(out, "sums/a ") || strings.Contains(out, "post/b") {
		t.Errorf("with embeddings: got %d, %q, %q, want sums/a alone", code, out, errs)
	}
	if out, errs, _ := answered("--explain", "frobnicate"); !strings.Contains(out, "what it means (") {
		t.Errorf("got the reason %q, %q, want what it means", out, errs)
	}
	server.Close()
	if out, errs, code := find("letters"); code != cli.ExitDone || !strings.HasPrefix(out, "post/b ") || !strings.Contains(errs, "found by words alone") || strings.Contains(errs, "canary") {
		t.Errorf("the model is gone: got %d, %q, %q, want what the words find and a note", code, out, errs)
	}
}
