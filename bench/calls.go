package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// What is measured, as the table names it, besides the sizes of answers.
const (
	listWhat       = "list of 1,000 tools"
	everythingWhat = "echo of server-everything"
)

// arguments are those of the calls of the cheap child.
const arguments = `{"query":"requests that took longer than a millisecond"}`

// calls measures calls with answers of each size behind each front.
func (b *bench) calls(ctx context.Context) error {
	fronts, err := b.fronts("calls", b.child(), b.peers)
	if err != nil {
		return err
	}
	var labels []string
	for _, a := range answers() {
		labels = append(labels, a.label)
	}
	b.say("calls")
	return b.inTurns(ctx, b.rounds, fronts, labels, func(c *conversation, label string) (*request, error) {
		return answerOf(c.caller, c.way, label)
	}, b.bothWays)
}

// answerOf makes the call that is answered with text of a size.
func answerOf(c caller, w way, label string) (*request, error) {
	for _, a := range answers() {
		if a.label == label {
			var text string
			if err := json.Unmarshal([]byte(`"`+logText(a.size)+`"`), &text); err != nil {
				return nil, err
			}
			return callOf(c, w, a.tool, arguments, text)
		}
	}
	return nil, fmt.Errorf("no tool answers with %s", label)
}

// list measures the reading of a long list of tools.
func (b *bench) list(ctx context.Context) error {
	server := b.child("--tools", fmt.Sprint(b.tools-len(answers())))
	fronts, err := b.fronts("list", server, b.peers)
	if err != nil {
		return err
	}
	// The list of a toolbox that is open from the start is made in another way.
	serve, err := b.serve("list-marked", server, true)
	if err != nil {
		return err
	}
	fronts = append(fronts, front{name: markedFront, argv: serve})
	fronts = slices.DeleteFunc(fronts, func(f front) bool { return f.way == useTool })
	b.say("lists")
	return b.inTurns(ctx, b.rounds, fronts, []string{listWhat}, func(c *conversation, _ string) (*request, error) {
		return listOf(c.caller, b.tools)
	}, b.oneByOne)
}

// everything measures what workbench adds to a call of a real server: the official one, if its package is installed.
func (b *bench) everything(ctx context.Context) error {
	program := filepath.Join(b.root, "test", "npm", "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	node, err := exec.LookPath("node")
	if _, missing := os.Stat(program); err != nil || missing != nil {
		b.say("no server-everything, which needs Node and `make test` once")
		return nil
	}
	server := []string{node, program, "stdio"}
	serve, err := b.serve("everything", server, false)
	if err != nil {
		return err
	}
	fronts := []front{
		{name: directFront, argv: server},
		{name: relayFront, argv: b.behind(server, "relay")}, // whose answers have no other id
		{name: useFront, argv: serve, box: true, way: useTool},
	}
	message := strings.Repeat("over the hills and far away ", 7)
	b.say("server-everything")
	return b.inTurns(ctx, b.rounds, fronts, []string{everythingWhat}, func(c *conversation, _ string) (*request, error) {
		return callOf(c.caller, c.way, "echo", fmt.Sprintf(`{"message":%q}`, message), "Echo: "+message)
	}, b.oneByOne)
}
