package running

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/status"
)

// Cells are the cells of a call in a table.
func Cells(c *calls.Call) []string {
	what := foreign.NewName(c.Name()).String()
	if c.Method != "tools/call" {
		what = foreign.NewName(c.Method).String() + " " + what
	}
	if c.Error != "" {
		what += ": " + foreign.NewText(c.Error).String()
	}
	size, tokens := "-", "-"
	if c.Outcome != calls.Running {
		size, tokens = terminal.Bytes(int64(c.Out)), fmt.Sprint(c.Tokens)
	}
	return []string{foreign.NewName(c.ID).String(), c.Time.Local().Format(time.TimeOnly), foreign.NewName(c.Outcome).String(), took(c), size, tokens,
		cut.Within(foreign.NewName(c.Client).String(), 20), what}
}

// took is how long a call took, in few digits.
func took(c *calls.Call) string {
	d := time.Duration(c.Duration)
	switch {
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// Repetition is the command line that makes a call of a workbench again, or says why there is none.
func Repetition(env *cli.Environment, of *status.Workbench, c *calls.Call) ([]string, error) {
	var why, hint string
	switch {
	case c.Method != "tools/call" || c.Server == "":
		why, hint = "it is not a call of a server's tool", "workbench call makes those"
	case !c.Full:
		why, hint = "its arguments were not kept", `with "record": "full" in the configuration, those of later calls are kept; workbench call `+shellword.Word(c.Name())+` takes them from you`
	case c.ArgumentsLeft:
		why, hint = fmt.Sprintf("its arguments have more than %d bytes and were not kept", calls.MaxValue), "workbench call "+shellword.Word(c.Name())+" @FILE takes them from a file"
	case c.Masked:
		why, hint = "secrets were removed from its arguments", "workbench call "+shellword.Word(c.Name())+" takes them from you"
	}
	if named := Named(env, of); named != "" {
		hint = cli.With(hint, named)
	}
	if why == "" {
		var err error
		if why, hint, err = elsewhere(env, of); err != nil {
			return nil, err
		}
	}
	if why != "" {
		return nil, cli.Hint(fmt.Errorf("call %s cannot be repeated: %s", c.ID, why), hint)
	}
	again := []string{"workbench", "call", c.Name()}
	if arguments := string(bytes.TrimSpace(c.Arguments)); arguments != "" && arguments != "{}" {
		again = append(again, arguments)
	}
	return again, nil
}

// elsewhere says why names of servers mean others to a command than to a workbench, and where they mean the same; "" if
// they do.
func elsewhere(env *cli.Environment, of *status.Workbench) (why, hint string, err error) {
	here, _, err := env.LoadBy((*config.Source).ParseUsable)
	if err != nil {
		return "", "", err
	}
	project := here.Project
	if project == here.Path {
		project = ""
	}
	switch {
	case cli.IsSameFile(of.Config, here.Path) && cli.IsSameFile(of.Project, project):
		return "", "", nil
	case of.Config == "" || of.Project != "":
		return "its workbench uses another configuration", "run the command where the workbench was started, in " + shellword.Word(of.Dir), nil
	}
	return "its workbench uses another configuration", "add --config " + shellword.Word(of.Config), nil
}

// Named is the configuration of a workbench, for a command about its servers; "" where a command has the same without it,
// or where no flag names it.
func Named(env *cli.Environment, of *status.Workbench) string {
	if of.Config == "" || of.Project != "" {
		return ""
	}
	here, err := cli.FindSources(env)
	if env.ConfigPath == "" && err == nil && cli.IsSameFile(of.Config, cmp.Or(here.Places.Named, here.Places.User)) {
		return ""
	}
	return of.Config
}

// Text shows a call of a workbench to a person.
func Text(env *cli.Environment, of *status.Workbench, c *calls.Call) string {
	var b strings.Builder
	say := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", name, foreign.Block(text))
		}
	}
	fmt.Fprintf(&b, "call %s: %s\n", foreign.NewName(c.ID), foreign.NewName(c.Outcome))
	say("time", "%s, %s", c.Time.Local().Format("2006-01-02 15:04:05.000"), took(c))
	say("call", "%s %s", foreign.NewName(c.Method), foreign.NewText(c.Name()))
	from := []string{foreign.NewName(c.Client).String(), "session " + foreign.NewName(c.Session).String(), "user " + foreign.NewName(c.User).String()}
	if c.Client == "" {
		from = from[1:]
	}
	say("client", "%s", strings.Join(from, ", "))
	say("request", "id %s, %s", foreign.NewName(c.Request), terminal.Count(c.In, "byte"))
	if c.Outcome != calls.Running {
		say("reply", "%s, about %s", terminal.Count(c.Out, "byte"), terminal.Count(c.Tokens, "token"))
	}
	say("progress", "%s", foreign.NewName(c.Progress))
	if !c.Trace.IsZero() {
		trace, _ := c.Trace.MarshalText()
		say("trace", "%s", trace)
	}
	say("error", "%s", foreign.NewText(c.Error))
	if len(c.Stderr) > 0 {
		b.WriteString("  what the server wrote meanwhile\n")
		for _, line := range c.Stderr {
			fmt.Fprintf(&b, "    %s  %s\n", line.Time.Local().Format("15:04:05.000"), line.Text)
		}
	}
	for _, part := range []struct {
		name string
		json json.RawMessage
	}{{"arguments", c.Arguments}, {"result", c.Result}} {
		if part.json == nil {
			continue
		}
		var lines bytes.Buffer
		if json.Indent(&lines, foreign.JSON(part.json), "    ", "  ") == nil {
			fmt.Fprintf(&b, "  %s\n    %s\n", part.name, &lines)
		}
	}
	if c.ArgumentsLeft || c.ResultLeft {
		say("left out", "arguments or a result of more than %d bytes", calls.MaxValue)
	}
	again, err := Repetition(env, of, c)
	hint := cli.HintOf(err)
	switch {
	case err == nil:
		fmt.Fprintf(&b, "  repeat     %s\n", foreign.Block(env.Advice(shellword.Line(again...))))
	case hint != "" && c.Server != "" && c.Method == "tools/call":
		fmt.Fprintf(&b, "  repeat     %s: %s\n", strings.TrimPrefix(err.Error(), "call "+c.ID+" "), env.Advice(hint))
	}
	return b.String()
}
