package commandsrv_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

var update = flag.Bool("update", false, "rewrite the transcripts from what is answered")

// TestTranscripts carries out the calls of each archive in testdata through each door that the archive has a file for:
// legacy and modern are the eras of MCP, rest is HTTP. The file must have what is then said, with ids and times
// replaced by their number. Its comment ends with a line that begins with "options:".
//
// A call is the name of an operation and its arguments, in which $1 is the first id that the server gave through this
// door. "as bob" and "as admin" change who calls, "release" lets slow searches through. go test -update writes what is
// said.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range archive.Files[1:] {
			file := &archive.Files[i+1]
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+file.Name, func(t *testing.T) {
				got := converse(t, file.Name, string(archive.Comment), string(archive.Files[0].Data))
				if *update {
					file.Data = []byte(got)
				} else if got != string(file.Data) {
					t.Errorf("got\n%s\nwant\n%s", got, file.Data)
				}
			})
		}
		if *update {
			if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A side is a client of one door.
type side interface {
	// call carries out an operation and returns what was sent and what came.
	call(who principal.Principal, operation, arguments string) (sent, got string)
}

func converse(t *testing.T, door, comment, calls string) string {
	t.Helper()
	b := newBed(t, func(o *commandsrv.Options) {
		_, options, _ := strings.Cut(comment, "options:")
		for option := range strings.FieldsSeq(options) {
			switch option {
			case "agent":
				o.Agent = planner{}
			case "summarizer":
				o.Summarizer = namer{}
			case "failing-summarizer":
				o.Summarizer = namer{errors.New("the model answered with status 500")}
			default:
				t.Fatalf("there is no option %q", option)
			}
		}
	})
	var client side
	switch door {
	case "legacy", "modern":
		client = &mcpSide{t: t, b: b, modern: door == "modern", talks: map[string]*talk{}}
	case "rest":
		client = &restSide{t: t, b: b}
	default:
		t.Fatalf("there is no door %q", door)
	}
	ids := &placeholders{}
	who := principal.Principal{Name: principal.Default}
	var text strings.Builder
	for line := range strings.Lines(calls) {
		line = strings.TrimSpace(line)
		name, arguments, _ := strings.Cut(line, " ")
		switch name {
		case "":
		case "as":
			who = principal.Principal{Name: arguments, Admin: arguments == "admin"}
			fmt.Fprintf(&text, "as %s\n", arguments)
		case "release":
			b.gate.release()
			fmt.Fprintln(&text, "release")
		default:
			sent, got := client.call(who, ids.expand(name), ids.expand(arguments))
			fmt.Fprintf(&text, "> %s\n", ids.replace(sent))
			for line := range strings.Lines(got) {
				fmt.Fprintf(&text, "< %s\n", strings.TrimSuffix(ids.replace(line), "\n"))
			}
		}
	}
	return text.String()
}

// placeholders number ids in the order in which they are seen.
type placeholders struct{ seen []string }

var (
	anID   = regexp.MustCompile(`[0-9a-f]{32}`)
	aTime  = regexp.MustCompile(`("(timestamp|created_at|updated_at|started_at|ended_at)\\?":)[0-9]{13}`)
	aQuote = regexp.MustCompile(`(\\"(timestamp|created_at|updated_at|started_at|ended_at)\\":)[0-9]{13}`)
	aMark  = regexp.MustCompile(`\$[0-9]+`)
)

func (p *placeholders) replace(text string) string {
	text = aQuote.ReplaceAllString(aTime.ReplaceAllString(text, "${1}0"), "${1}0")
	return anID.ReplaceAllStringFunc(text, func(id string) string {
		for i, known := range p.seen {
			if known == id {
				return fmt.Sprintf("$%d", i+1)
			}
		}
		p.seen = append(p.seen, id)
		return fmt.Sprintf("$%d", len(p.seen))
	})
}

func (p *placeholders) expand(text string) string {
	return aMark.ReplaceAllStringFunc(text, func(mark string) string {
		n := 0
		if _, err := fmt.Sscanf(mark, "$%d", &n); err != nil || n < 1 || n > len(p.seen) {
			return mark
		}
		return p.seen[n-1]
	})
}

// mcpSide calls tools.
type mcpSide struct {
	t      *testing.T
	b      *bed
	modern bool
	talks  map[string]*talk // by principal
	last   int
}

func (m *mcpSide) call(who principal.Principal, operation, arguments string) (sent, got string) {
	k := m.talks[who.Name]
	if k == nil {
		k = m.b.talk(m.t, who)
		m.talks[who.Name] = k
		if !m.modern {
			k.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
		}
	}
	m.last++
	operation, streamed := strings.CutSuffix(operation, "_stream")
	var meta []string
	if m.modern {
		meta = append(meta, `"`+mcp.MetaKeyProtocolVersion+`":"2026-07-28","`+mcp.MetaKeyClientInfo+`":{"name":"tester","version":"1"},"`+mcp.MetaKeyClientCapabilities+`":{}`)
	}
	if streamed {
		meta = append(meta, fmt.Sprintf(`"progressToken":"p%d"`, m.last))
	}
	method, params := "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, operation, arguments)
	if arguments == "" {
		params = fmt.Sprintf(`"name":%q`, operation)
	}
	if strings.Contains(operation, "/") { // a method
		method, params = operation, strings.TrimSuffix(strings.TrimPrefix(arguments, "{"), "}")
	}
	if meta != nil {
		if params != "" {
			params += ","
		}
		params += `"_meta":{` + strings.Join(meta, ",") + `}`
	}
	sent = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, m.last, method, params)
	got = k.ask(sent)
	lines := strings.Split(got, "\n")
	m.b.checkTool(m.t, operation, lines[len(lines)-1])
	return sent, got
}

// restSide sends requests over HTTP.
type restSide struct {
	t *testing.T
	b *bed
}

// routes give the method and path of each operation.
func routes() map[string][2]string {
	return map[string][2]string{
		"initialize": {"POST", "/initialize"}, "get_workflow_info": {"GET", "/workflow_info"}, "get_commands": {"GET", "/commands"},
		"invoke_agent": {"POST", "/invoke_agent"}, "invoke_agent_stream": {"POST", "/invoke_agent_stream"}, "invoke_assistant": {"POST", "/invoke_assistant"},
		"execute_command": {"POST", "/execute_command"}, "run_command": {"POST", "/run_command"}, "new_conversation": {"POST", "/new_conversation"}, "list_conversations": {"GET", "/conversations"},
		"activate_conversation": {"POST", "/activate_conversation"}, "post_feedback": {"POST", "/post_feedback"},
	}
}

func (s *restSide) call(who principal.Principal, operation, arguments string) (sent, got string) {
	route, known := routes()[operation]
	if !known {
		route = [2]string{"GET", operation} // a path
	}
	path, body := route[1], arguments
	if route[0] == "GET" {
		body = ""
		query := url.Values{}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(arguments), &object) == nil {
			for name, raw := range object {
				query.Set(name, strings.Trim(string(raw), `"`))
			}
		}
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(route[0], path, strings.NewReader(body)).WithContext(principal.With(context.WithoutCancel(s.t.Context()), who))
	s.b.ServeHTTP(w, r)
	answer, err := io.ReadAll(w.Result().Body)
	if err != nil {
		s.t.Fatal(err)
	}
	status := fmt.Sprintf("%d %s", w.Code, w.Header().Get("Content-Type"))
	if http.StatusText(w.Code) == "" {
		s.t.Errorf("%s: got status %d", path, w.Code)
	}
	if !strings.HasSuffix(path, "_stream") {
		s.b.checkAnswer(s.t, route[0], route[1], w.Code, answer)
	}
	return strings.TrimSpace(route[0] + " " + path + " " + body), status + "\n" + string(answer)
}
