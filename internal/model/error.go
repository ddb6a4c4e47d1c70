package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// ErrTooLong is wrapped by the error for a reply that did not come to an end within its bounds.
var ErrTooLong = errors.New("the reply is too long")

// Error says why the endpoint gave no reply that can be used.
type Error struct {
	Model string
	// Status is the HTTP status of the answer; 0 where there was none.
	Status int
	// Text is what the endpoint said, or what is wrong with its answer, in a line.
	Text string
	// Code is the endpoint's own name for the error, such as context_length_exceeded, and Param the parameter that it
	// will not have; "" where it names none.
	Code, Param string
	// RetryAfter is when the endpoint wants to be asked again; 0: it does not say.
	RetryAfter time.Duration
	// Tries is how often it was asked.
	Tries int
	// Timeout says that the reply took too long.
	Timeout bool

	garbled bool // an answer that is no reply
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Model != "" {
		fmt.Fprintf(&b, "model %q: ", e.Model)
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, "HTTP %d %s", e.Status, http.StatusText(e.Status))
		if e.Text != "" {
			b.WriteString(": ")
		}
	}
	b.WriteString(e.Text)
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, "; to be asked again in %v", e.RetryAfter)
	}
	if e.Tries > 1 {
		fmt.Fprintf(&b, " (asked %d times)", e.Tries)
	}
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		b.WriteString("; check apiKey under models in the configuration")
	case e.Status == http.StatusNotFound || e.Status >= 300 && e.Status < 400:
		b.WriteString("; check baseUrl, which mostly ends in /v1, and the names under models in the configuration")
	case e.Timeout:
		b.WriteString("; replyTimeout under models in the configuration gives it longer")
	case e.Status == 0 && !e.garbled && e.Model != "":
		b.WriteString("; check baseUrl under models in the configuration, and that the endpoint runs")
	}
	return b.String()
}

// passing reports whether the same request may succeed a little later.
func (e *Error) passing() bool {
	return e.Status == http.StatusTooManyRequests || e.Status >= 500 || e.garbled || e.Status == 0 && !e.Timeout
}

// refuses reports whether the endpoint says, in one of these words, that it or the model does not take that part of a
// request.
func (e *Error) refuses(part string, words ...string) bool {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusNotFound && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	text := strings.ToLower(e.Text)
	return strings.Contains(text, part) && slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// Overflow reports whether the messages were more than the model can take.
func (e *Error) Overflow() bool {
	return e.Status == http.StatusRequestEntityTooLarge || e.Code == "context_length_exceeded" ||
		e.Status == http.StatusBadRequest && strings.Contains(strings.ToLower(e.Text), "context length")
}

// unreached words an error of the way to the endpoint. The address stays out of it: its query may be a secret.
func (c *Client) unreached(ctx context.Context, name string, err error) error {
	if errors.Is(context.Cause(ctx), errTimeout) {
		return &Error{Model: name, Timeout: true, Text: fmt.Sprintf("no reply within %v", c.opts.ReplyTimeout)}
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return &Error{Model: name, Text: "the endpoint was not reached: " + c.clean(err.Error())}
}

// maxErrorBody is how much of an answer that is an error is read.
const maxErrorBody = 64 << 10

// answered reads an answer that is an error.
func (c *Client) answered(name string, resp *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // as much of it as there is
	e := &Error{Model: name, Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"))}
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		e.Text = "the endpoint refused the key" // its own words may hold parts of the key
	case e.Status < 400:
		e.Text = "the endpoint sent us on, which is not followed"
	default:
		e.read(data)
		e.Text = c.clean(e.Text)
	}
	return e
}

// wordsOf is what the endpoint says of an error in its answer.
func wordsOf(data []byte) string {
	e := new(Error)
	e.read(data)
	return e.Text
}

// read takes what an endpoint says of an error.
func (e *Error) read(data []byte) {
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	var said struct {
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"` // some endpoints write a number
		Param   string          `json:"param"`
	}
	if json.Unmarshal(data, &body) != nil || json.Unmarshal(body.Error, &said) != nil || said.Message == "" {
		e.Text = string(data)
		return
	}
	e.Text, e.Param = said.Message, said.Param
	_ = json.Unmarshal(said.Code, &e.Code)
}

// retryAfter reads seconds or a date (RFC 9110, section 10.2.3); 0 is neither.
func retryAfter(s string) time.Duration {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return time.Duration(min(n, 24*60*60)) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(0, time.Until(at)).Round(time.Second)
	}
	return 0
}

// clean makes one line of a text that the endpoint wrote, without the key.
func (c *Client) clean(s string) string {
	if c.opts.Key != "" {
		s = strings.ReplaceAll(s, c.opts.Key, "[key]")
	}
	return foreign.NewText(strings.Join(strings.Fields(s), " ")).String()
}
