package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// A talk is a session with a command workflow inside this process.
type talk struct {
	server  *commandsrv.Server
	session string
	// begun is what the workflow is, and what its first command said.
	begun struct {
		SessionID string  `json:"session_id"`
		Context   string  `json:"context"`
		Restored  bool    `json:"restored"`
		Question  string  `json:"question"`
		Startup   *spoken `json:"startup_output"`
		Failed    string  `json:"startup_error"`
		Info      struct {
			Name        string `json:"workflow_name"`
			Description string `json:"description"`
		} `json:"workflow_info"`
	}
}

// spoken is the answer to one thing that was said.
type spoken struct {
	Status    command.Status `json:"status"`
	Context   string         `json:"context"`
	Command   *string        `json:"command_name"`
	Question  string         `json:"question"`
	Success   bool           `json:"success"`
	Responses []struct {
		Response string `json:"response"`
	} `json:"command_responses"`
	// Response is that of an operation which answers with one text.
	Response string `json:"response_text"`
}

// reply is what is said to the person.
func (s *spoken) reply() string {
	texts := []string{s.Response}
	for _, r := range s.Responses {
		texts = append(texts, r.Response)
	}
	switch said := strings.Join(texts, "\n"); {
	case s.Question != "" && !s.Success:
		texts = []string{s.Question} // which says what the others say
	case !strings.Contains(said, s.Question):
		texts = append(texts, s.Question) // what was carried out in between is told first
	}
	lines := strings.Split(strings.TrimSpace(strings.Join(texts, "\n")), "\n")
	for i, line := range lines {
		lines[i] = foreign.NewText(line).String()
	}
	return strings.Join(lines, "\n")
}

// command is the name of the command that was meant, "" for none.
func (s *spoken) command() string {
	if s.Command == nil {
		return ""
	}
	return *s.Command
}

// newTalk begins a session with a workflow, as commands serve names it. change is made to the configuration before.
func newTalk(ctx context.Context, e *opening.Environment, workflow string, change func(*config.Config)) (*talk, error) {
	box, err := deskToolbox(workflow)
	if err != nil {
		return nil, err
	}
	log, err := e.Logger()
	if err != nil {
		return nil, err
	}
	if log.GetLevel() == zerolog.InfoLevel {
		log = log.Level(zerolog.ErrorLevel) // what is printed says enough
	}
	cfg, err := e.LoadOnce()
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(cfg)
	}
	e.Use(cfg, "", log)
	t := new(talk)
	if t.server, err = e.Hosts.Commands.Get(ctx, box.Servers[0].Commands); err != nil {
		return nil, cli.Advised(err)
	}
	return t, t.begin(ctx)
}

// begin begins the session.
func (t *talk) begin(ctx context.Context) error {
	t.session, t.begun.Startup, t.begun.Question = "", nil, ""
	err := t.do(ctx, http.MethodPost, "/initialize", map[string]any{"client": "workbench commands chat"}, &t.begun)
	t.session = t.begun.SessionID
	return err
}

// say says something, by the operation of that path.
func (t *talk) say(ctx context.Context, path, text string) (*spoken, error) {
	s := new(spoken)
	return s, t.do(ctx, http.MethodPost, path, map[string]any{"user_query": text, "timeout_seconds": 3600}, s)
}

// commands lists the commands of the place.
func (t *talk) commands(ctx context.Context) (list command.Listing, err error) {
	return list, t.do(ctx, http.MethodGet, "/commands", nil, &list)
}

// do carries out an operation of the server.
func (t *talk) do(ctx context.Context, method, path string, args map[string]any, into any) error {
	if t.session != "" && args != nil {
		args["session_id"] = t.session
	}
	if args == nil {
		path += "?session_id=" + t.session
	}
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if args == nil {
		r.Body = http.NoBody
	}
	w := &keptAnswer{header: http.Header{}, status: http.StatusOK}
	t.server.ServeHTTP(w, r)
	if w.status == http.StatusOK {
		return json.Unmarshal(w.body.Bytes(), into)
	}
	var fault struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(w.body.Bytes(), &fault) != nil || fault.Message == "" {
		fault.Message = http.StatusText(w.status)
	}
	return errors.New(fault.Message)
}

// A keptAnswer keeps what a handler answers.
type keptAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *keptAnswer) Header() http.Header         { return a.header }
func (a *keptAnswer) WriteHeader(status int)      { a.status = status }
func (a *keptAnswer) Write(b []byte) (int, error) { return a.body.Write(b) }
