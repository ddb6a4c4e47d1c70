package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// address fills in a URL. A value cannot become more than one segment of the path or one part of the query.
func (b *HTTPCall) address(get values) (string, error) {
	var s strings.Builder
	query := false
	for _, p := range b.url.pieces {
		if p.name == "" {
			s.WriteString(p.literal)
			query = query || strings.Contains(p.literal, "?")
			continue
		}
		v, _ := get(p.name)
		text := plain(v)
		if query {
			s.WriteString(url.QueryEscape(text))
			continue
		}
		if text == "" || text == "." || text == ".." {
			return "", fmt.Errorf("%s is %s, which cannot stand in the path of a URL", p.name, strconv.Quote(text))
		}
		s.WriteString(url.PathEscape(text))
	}
	return s.String(), nil
}

// opensOption reports whether a value, as against the file, has put a dash at the beginning of an argument.
func opensOption(text *template, arg string) bool {
	return strings.HasPrefix(arg, "-") && len(text.pieces) > 0 && text.pieces[0].name != ""
}

// userValue is the name of who the command runs for.
const userValue = "user_id"

// withOutputs puts what a command has returned in front of them.
func withOutputs(get values, outputs map[string]json.RawMessage, text string) values {
	return func(name string) (json.RawMessage, bool) {
		if v, ok := outputs[name]; ok {
			return v, true
		}
		if v, ok := get(name); ok {
			return v, true
		}
		if name == textValue {
			return wire.AppendQuote(nil, text), true
		}
		return nil, false
	}
}

// textValue is the name of the text that a command has returned.
const textValue = "text"

// A performer does what commands are bound to, in one call of the engine.
type performer struct {
	*Options
	ctx  context.Context // of the call, which the performer does not outlive
	user string
}

// call does what the command is bound to.
func (p *performer) call(c *Command, args arguments, at Path) result {
	get := p.scope(args, at)
	switch {
	case c.Bind.Tool != nil:
		return p.callTool(c.Bind.Tool, c, args, get)
	case c.Bind.HTTP != nil:
		return p.callHTTP(c.Bind.HTTP, c, get)
	default:
		return p.runProcess(c.Bind.Process, c, args, get)
	}
}

func (p *performer) callTool(b *ToolCall, c *Command, args arguments, get values) result {
	if p.Caller == nil {
		return failure("%s: calling a tool %v", c.Name, errNoRunner)
	}
	given := args.json(c)
	if b.arguments != nil {
		given, _ = b.arguments.append(nil, get)
	}
	raw, err := p.Caller.CallTool(p.ctx, b.Toolbox, b.Server, b.Tool, given)
	if err != nil {
		return failure("%v", err)
	}
	return readToolResult(raw)
}

func (p *performer) callHTTP(b *HTTPCall, c *Command, get values) result {
	if p.HTTP == nil {
		return failure("%s: an HTTP request %v", c.Name, errNoRunner)
	}
	address, err := b.address(get)
	if err != nil {
		return failure("%s was not sent: %v", c.Name, err)
	}
	r := HTTPRequest{Method: b.Method, URL: address, Header: map[string]string{}, Timeout: b.Timeout}
	for _, m := range b.header {
		value, err := p.secretly(m.text, get)
		if err == nil && strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			err = fmt.Errorf("its value has a line break or a control character")
		}
		if err != nil {
			return failure("%s was not sent: header %s: %v", c.Name, m.name, err)
		}
		r.Header[m.name] = value
	}
	if b.body != nil {
		r.Body, _ = b.body.append(nil, get)
		if !slices.ContainsFunc(b.header, func(m member) bool { return strings.EqualFold(m.name, "Content-Type") }) {
			r.Header["Content-Type"] = "application/json"
		}
	}
	status, body, err := p.HTTP.Do(p.ctx, r)
	if err != nil {
		return failure("%s: %v", c.Name, err)
	}
	out := result{text: string(body), data: asData(string(body))}
	switch {
	case status >= 300 && status < 400:
		return failure("%s: the server answered HTTP %d, a redirect, which is not followed; write the final address as the url of the command", c.Name, status)
	case status < 200 || status > 299:
		return failure("%s: the server answered HTTP %d: %s", c.Name, status, cut.After(strings.Join(strings.Fields(out.text), " "), 500))
	}
	return out
}

// secretly fills in a template that may refer to the environment, and to secrets of the user. The value of a parameter
// is never read as a reference.
func (p *performer) secretly(text *template, get values) (string, error) {
	var failed error
	value := text.expand(get, plain, func(name string) string {
		if secret, ok := strings.CutPrefix(name, credentialPrefix); ok {
			v, err := p.credential(secret)
			failed = cmp.Or(failed, err)
			return v
		}
		v, ok := p.LookupEnv(name)
		if !ok {
			failed = cmp.Or(failed, fmt.Errorf("the variable %s is not set in the environment of workbench", name))
		}
		return v
	})
	return value, failed
}

// credential finds a secret of the user for whom the command runs.
func (p *performer) credential(name string) (string, error) {
	if p.Credential == nil || p.user == "" {
		return "", fmt.Errorf("the secret %s belongs to a user, and users are not told apart here", name)
	}
	return p.Credential(p.ctx, p.user, name)
}

func (p *performer) runProcess(b *ProcessCall, c *Command, args arguments, get values) result {
	if p.Process == nil {
		return failure("%s: a process %v", c.Name, errNoRunner)
	}
	r := ProcessRequest{Timeout: b.Timeout}
	for i, text := range b.argv {
		arg := text.text(get)
		if i > 0 && opensOption(text, arg) {
			return failure("%s was not run: %s begins with a dash, which the program would read as an option", c.Name, strconv.Quote(arg))
		}
		if strings.ContainsFunc(arg, func(c rune) bool { return c == 0 }) {
			return failure("%s was not run: an argument holds a NUL character", c.Name)
		}
		r.Argv = append(r.Argv, arg)
	}
	for _, m := range b.env {
		value, err := p.secretly(m.text, get)
		if err != nil {
			return failure("%s was not run: env %s: %v", c.Name, m.name, err)
		}
		r.Env = append(r.Env, m.name+"="+value)
	}
	r.Stdin = args.json(c)
	if b.stdin != nil {
		r.Stdin, _ = b.stdin.append(nil, get)
	}
	out, err := p.Process.Run(p.ctx, r)
	if err != nil {
		return failure("%s: %v", c.Name, err)
	}
	text := strings.TrimRightFunc(string(out), unicode.IsSpace)
	return result{text: text, data: asData(text)}
}

// scope finds values for templates: of the call first, then of the place.
func (p *performer) scope(args arguments, at Path) values {
	return func(name string) (json.RawMessage, bool) {
		if v, ok := args[name]; ok {
			return v, true
		}
		if v, ok := at.lookup(name); ok || name != userValue || p.user == "" {
			return v, ok
		}
		return wire.AppendQuote(nil, p.user), true
	}
}

// existing asks for the values that a parameter can have.
func (p *performer) existing(l *Lookup, args arguments, at Path) ([]string, error) {
	if p.Caller == nil {
		return nil, fmt.Errorf("calling a tool %w", errNoRunner)
	}
	given := json.RawMessage("{}")
	if l.Tool.arguments != nil {
		given, _ = l.Tool.arguments.append(nil, p.scope(args, at))
	}
	raw, err := p.Caller.CallTool(p.ctx, l.Tool.Toolbox, l.Tool.Server, l.Tool.Tool, given)
	if err != nil {
		return nil, err
	}
	r := readToolResult(raw)
	switch {
	case r.failed:
		return nil, fmt.Errorf("%s/%s: %s", l.Tool.Server, l.Tool.Tool, summary(r.text))
	case r.data == nil:
		return nil, errors.New(l.Tool.Server + "/" + l.Tool.Tool + " returned no data")
	}
	found := point(r.data, l.Values)
	values := make([]string, len(found))
	for i, v := range found {
		values[i] = plain(v)
	}
	return values, nil
}
