package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// greet shakes hands.
func greet(c caller) error {
	line, err := c.Call("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	if err == nil {
		err = decode(line, &struct{}{})
	}
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	return c.Notify("notifications/initialized")
}

// The names of the toolbox in every configuration made here, and of the server in it.
const toolboxName, serverName = "bench", "child"

// open opens the toolbox of a workbench.
func open(c caller) error {
	line, err := c.Call("tools/call", fmt.Sprintf(`{"name":"workbench_open_toolbox","arguments":{"toolbox_name":%q}}`, toolboxName))
	if err == nil {
		_, err = textOf(line)
	}
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	return nil
}

// textOf returns the texts of the answer of a tool, which has some and is no error.
func textOf(line []byte) (text string, err error) {
	var r struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := decode(line, &r); err != nil {
		return "", err
	}
	for _, c := range r.Content {
		text += c.Text
	}
	if r.IsError || text == "" {
		return "", fmt.Errorf("got %s", clip(line))
	}
	return text, nil
}

// exposed returns the name under which a server or gateway offers a tool: one that ends in the tool's own. Gateways
// that start their servers in the background are given time.
func exposed(c caller, tool string) (string, error) {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		names, err := toolNames(c)
		if err != nil {
			return "", err
		}
		if i := slices.IndexFunc(names, func(n string) bool { return strings.HasSuffix(n, tool) }); i >= 0 {
			return names[i], nil
		}
		if time.Since(begun) > patience {
			return "", fmt.Errorf("tools/list has no name that ends in %s, but %q", tool, names)
		}
	}
}

func toolNames(c caller) ([]string, error) {
	line, err := c.Call("tools/list", "{}")
	if err != nil {
		return nil, fmt.Errorf("tools/list: %w", err)
	}
	var r struct{ Tools []struct{ Name string } }
	if err := decode(line, &r); err != nil {
		return nil, fmt.Errorf("tools/list: %w", err)
	}
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	return names, nil
}

// way is how a front is asked for a tool.
type way int

const (
	asListed way = iota // by the name it lists
	useTool             // through workbench_use_tool
)

// callOf makes the call of a tool and checks that it is answered with text. arguments is JSON.
func callOf(c caller, w way, tool, arguments, text string) (*request, error) {
	q := &request{method: "tools/call"}
	if w == useTool {
		q.params = fmt.Sprintf(`{"name":"workbench_use_tool","arguments":{"toolbox_name":%q,"tool_name":%q,"arguments":%s}}`, toolboxName, tool, arguments)
	} else {
		name, err := exposed(c, tool)
		if err != nil {
			return nil, err
		}
		q.params = fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments)
	}
	line, err := c.Call(q.method, q.params)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", tool, err)
	}
	switch got, err := textOf(line); {
	case err != nil:
		return nil, fmt.Errorf("call %s: %w", tool, err)
	case got != text:
		return nil, fmt.Errorf("call %s: got another answer than the tool's: %s", tool, clip(line))
	}
	return q, q.measure(line)
}

// listOf makes the request for the list of tools and checks that it is answered with at least that many.
func listOf(c caller, least int) (*request, error) {
	names, err := toolNames(c)
	if err != nil {
		return nil, err
	}
	if len(names) < least {
		return nil, fmt.Errorf("tools/list has %d tools, want %d or more", len(names), least)
	}
	q := &request{method: "tools/list", params: "{}"}
	line, err := c.Call(q.method, q.params)
	if err != nil {
		return nil, err
	}
	return q, q.measure(line)
}

// measure notes what every other answer is to be like.
func (q *request) measure(line []byte) error {
	_, digits, ok := replyID(line)
	if !ok {
		return fmt.Errorf("the id is neither at the beginning nor at the end of the answer: %s", clip(line))
	}
	q.rest = len(line) - digits
	return nil
}
