package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/status"
)

func callsShowCommand(env *cli.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show all that is known of one call",
		Long: `Show prints all that the record has of one call: who made it, what became of it,
what its server wrote to standard error meanwhile, its arguments and result where
"record": "full" has them kept, and the command line that makes it again.`,
		Example: `  workbench calls show 4711-12
  workbench calls show 4711-12 --json | jq .result`,
		Args: cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := findCall(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return terminal.PrintJSON(env.Out, c)
			}
			_, err = fmt.Fprint(env.Out, callText(&c))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON document")
	return cmd
}

// callsRepeatCommand makes a call again by the command that makes calls.
func callsRepeatCommand(env *cli.Environment, call *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repeat ID",
		Short: "Make one call again",
		Long: `Repeat calls the tool of a call again, with the arguments that the record has of
it, and prints the result, as workbench call does. The call goes to the server of
the workbench that runs here, if that has it open, or to one that is started for
it. Nothing else than this command ever makes a recorded call again.`,
		Example: `  workbench calls --failed
  workbench calls repeat 4711-12`,
		Args: cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := findCall(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			again, err := repetition(&c)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Err, "workbench: %s\n", foreign.Block(strings.Join(quotedForShell(again), " ")))
			return call.RunE(cmd, again[2:])
		},
	}
	cmd.Flags().AddFlagSet(call.Flags())
	return cmd
}

// findCall asks all workbenches for a call.
func findCall(ctx context.Context, e *cli.Environment, id string) (found calls.Call, err error) {
	var mu sync.Mutex
	var all []calls.Call
	eachWorkbench(e, func(p status.Peer) error {
		c, err := p.Call(ctx, id)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, c)
		}
		return err
	})
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(all) > 1:
		return found, cli.Usage(cli.Hint(fmt.Errorf("%d workbenches have a call %q", len(all), id), "write the whole id, as workbench calls prints it"))
	}
	return found, cli.Hint(fmt.Errorf("no call %q is kept by a workbench that runs for this user", id), "workbench calls lists those that are")
}

// repetition is the command line that makes a call again, or says why there is none.
func repetition(c *calls.Call) ([]string, error) {
	var why, hint string
	switch {
	case c.Method != "tools/call" || c.Server == "":
		why, hint = "it is no call of a tool of a server", "workbench call makes those"
	case !c.Full:
		why, hint = "its arguments were not kept", `"record": "full" in the configuration has those of later calls kept; workbench call `+shellQuoted(c.Name())+` takes them from you`
	case c.ArgumentsLeft:
		why, hint = fmt.Sprintf("its arguments have more than %d bytes and were not kept", calls.MaxValue), "workbench call "+shellQuoted(c.Name())+" @FILE takes them from a file"
	case c.Masked:
		why, hint = "secrets were taken out of its arguments", "workbench call "+shellQuoted(c.Name())+" takes them from you"
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

// shellQuoted is a word as shells take it.
func shellQuoted(word string) string {
	plain := strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%")
	if word != "" && plain == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func quotedForShell(words []string) []string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = shellQuoted(word)
	}
	return all
}

// callText shows a call to a person.
func callText(c *calls.Call) string {
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
	again, err := repetition(c)
	hint := cli.HintOf(err)
	switch {
	case err == nil:
		fmt.Fprintf(&b, "  repeat     %s\n", foreign.Block(strings.Join(quotedForShell(again), " ")))
	case hint != "" && c.Server != "" && c.Method == "tools/call":
		fmt.Fprintf(&b, "  repeat     %s: %s\n", strings.TrimPrefix(err.Error(), "call "+c.ID+" "), hint)
	}
	return b.String()
}
