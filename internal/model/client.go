package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/pause"
	"github.com/mcp-workbench/workbench/internal/thishost"
)

// Role is what a model is asked for.
type Role string

// The roles.
const (
	Planner   Role = "planner"   // makes the plan of invoke_agent
	Agent     Role = "agent"     // carries it out
	Assistant Role = "assistant" // chooses the command of one instruction
	Summary   Role = "summary"   // sums a conversation up
)

// Models are the names of models, as the endpoint knows them. A role without one is played by Default.
type Models struct {
	Default                            string
	Planner, Agent, Assistant, Summary string
	// Embeddings is the one that makes vectors of texts; no other stands in for it.
	Embeddings string
}

// of returns the model that plays a role.
func (m Models) of(r Role) string {
	own := map[Role]string{Planner: m.Planner, Agent: m.Agent, Assistant: m.Assistant, Summary: m.Summary}
	return cmp.Or(own[r], m.Default)
}

// Options are what is optional about a [Client].
type Options struct {
	Models Models
	// Key is sent as a bearer token; "" sends none.
	Key string
	// ReplyTimeout is how long one reply may take; 0 means a minute.
	ReplyTimeout time.Duration
	// MaxTokens is how long one reply may be; 0 means 4096.
	MaxTokens int
	// HTTP is what requests are made with, but for its redirects; nil means http.DefaultClient.
	HTTP   *http.Client
	Logger zerolog.Logger
}

// Bounds of every request.
const (
	defaultTimeout   = time.Minute
	defaultMaxTokens = 4096
	maxReply         = 4 << 20          // bytes
	maxTries         = 3                // of one request
	maxRest          = 20 * time.Second // between two of them
	firstRest        = 500 * time.Millisecond
)

// Client asks the models of one endpoint.
type Client struct {
	endpoint string // of chat completions
	opts     Options
	http     http.Client
	rest     time.Duration // before the second try

	mu      sync.Mutex
	refused map[string]params // by model
}

// New returns a client of the endpoint with that base URL, such as https://api.openai.com/v1. The error says that the
// URL is none, or that it would show the key and the messages to the network: http is for this machine alone.
func New(baseURL string, opts Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil:
		return nil, errors.New("the base URL of the models is not an address such as https://api.openai.com/v1, without user and password")
	case u.Scheme != "https" && (u.Scheme != "http" || !thishost.Is(u.Hostname())):
		return nil, fmt.Errorf("the base URL of the models begins with %s://, which is only for this machine (localhost, 127.0.0.1, ::1); use https://", u.Scheme)
	}
	opts.ReplyTimeout = cmp.Or(opts.ReplyTimeout, defaultTimeout)
	opts.MaxTokens = cmp.Or(opts.MaxTokens, defaultMaxTokens)
	c := &Client{http: *cmp.Or(opts.HTTP, http.DefaultClient), endpoint: u.JoinPath("chat", "completions").String(), opts: opts, rest: firstRest, refused: map[string]params{}}
	// Where the endpoint would send us on, neither key nor messages go.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// errTimeout is the cause of a try that took too long.
var errTimeout = errors.New("no reply in time")

// Complete asks the model of the request's role and returns its reply, which has text or calls. What may pass, such as
// HTTP 429 and 5xx, is tried again, three times in all.
//
// The error is an [*Error], wraps [ErrTooLong], or is the cause of ctx.
func (c *Client) Complete(ctx context.Context, req Request) (*Reply, error) {
	name := c.opts.Models.of(req.Role)
	if name == "" {
		return nil, &Error{Text: "no model is named for the role of " + string(req.Role) + "; set default under models in the configuration"}
	}
	tell := req.Text
	for try := 1; ; {
		began := time.Now()
		reply, err := c.ask(ctx, name, req, tell)
		c.opts.Logger.Debug().Str(logkey.Model, name).Int(logkey.Attempt, try).Dur(logkey.Dur, time.Since(began)).AnErr(logkey.Err, err).Msg("a model was asked")
		if err == nil {
			return reply, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		var e *Error
		if !errors.As(err, &e) {
			return nil, err
		}
		if c.refuse(name, e) {
			continue // without what the model would not have, which happens once each
		}
		if e.garbled || e.Status >= 500 {
			req.Text = nil // An endpoint that cannot stream this may answer in one piece.
		}
		e.Tries = try
		if !e.passing() || try == maxTries || e.RetryAfter > maxRest {
			return nil, err
		}
		if err := pause.For(ctx, c.restAfter(try, e)); err != nil {
			return nil, err
		}
		try++
	}
}

// restAfter is how long to wait after a try that failed.
func (c *Client) restAfter(try int, e *Error) time.Duration {
	if e.RetryAfter > 0 {
		return e.RetryAfter
	}
	rest := c.rest << (2 * (try - 1))
	return rest/2 + rand.N(rest) // apart from others that failed at the same moment
}

// ask tries once. tell takes the text, also where that is not asked for as a stream.
func (c *Client) ask(ctx context.Context, name string, req Request, tell func(piece string, anew bool)) (*Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.ReplyTimeout, errTimeout)
	defer cancel()
	body, err := req.encode(name, c.opts.MaxTokens, c.without(name))
	if err != nil {
		return nil, err
	}
	accept := "application/json"
	if req.Text != nil {
		accept = "text/event-stream, application/json"
	}
	resp, err := c.post(ctx, name, c.endpoint, accept, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	t := &teller{tell: tell, calls: len(req.Tools) > 0}
	done, err := c.completed(name, resp, t)
	if err != nil {
		if e := (*Error)(nil); errors.As(err, &e) || errors.Is(err, ErrTooLong) {
			return nil, err
		}
		return nil, c.unreached(ctx, name, err)
	}
	reply, err := c.reply(name, done)
	if err == nil {
		reply.callInWords(req)
		t.end(reply.Text)
	}
	return reply, err
}

// post sends the endpoint a request for a model, and gives the answer if that is none of an error.
func (c *Client) post(ctx context.Context, name, address, accept string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	if c.opts.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.opts.Key)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, c.unreached(ctx, name, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, c.answered(name, resp)
	}
	return resp, nil
}

// readBody reads an answer of at most so many bytes.
func readBody(name string, resp *http.Response, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("model %q: %w: it went on after %d bytes", name, ErrTooLong, most)
	}
	return data, err
}

// completed reads a reply, as a stream or in one piece, as the endpoint has it.
func (c *Client) completed(name string, resp *http.Response, t *teller) (*completion, error) {
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		return c.stream(name, resp.Body, t)
	}
	data, err := readBody(name, resp, maxReply)
	if err != nil {
		return nil, err
	}
	return c.whole(name, data)
}
