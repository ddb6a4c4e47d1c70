package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

func chatCommand(env *opening.Environment) *cobra.Command {
	var record string
	cmd := &cobra.Command{
		Use:   "chat WORKFLOW",
		Short: "Use a command workflow in a conversation at the terminal",
		Long: `Chat continues your last conversation with a workflow, or begins one. Each line is
an instruction in words, an exact command, or the answer to the last question.
WORKFLOW is example, toolbox:NAME or a folder, as for commands serve.

  ?            show the commands of the current place
  :agent TEXT  let the agent carry TEXT out; needs models in the configuration
  :new         end the conversation with a topic and a summary, and begin another
  :quit        leave; the end of the input does the same

At a terminal the Tab key completes commands, their parameters and values. With
--record the conversation is written to a file that commands test replays.`,
		Example: `  workbench commands chat example
  workbench commands chat ./notes --record notes/tests/first.yaml`,
		Args: cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := newTalk(cmd.Context(), env, args[0], nil)
			if err != nil {
				return err
			}
			c := &chat{talk: t, env: env, record: record}
			return c.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&record, "record", "", "record the conversation in this `file`, for commands test")
	return cmd
}

// A chat is a talk with a person.
type chat struct {
	*talk
	env    *opening.Environment
	record string
	kept   recording
	place  string
}

func (c *chat) run(ctx context.Context) error {
	c.place = c.begun.Context
	fmt.Fprintf(c.env.Out, "%s: %s\n", c.begun.Info.Name, c.begun.Info.Description)
	switch {
	case c.begun.Failed != "":
		fmt.Fprintf(c.env.Out, "The first command failed: %s\n", c.begun.Failed)
	case c.begun.Startup != nil:
		fmt.Fprintln(c.env.Out, c.begun.Startup.reply())
	}
	if c.begun.Restored {
		fmt.Fprintf(c.env.Out, "This continues your last conversation, at %s; :new begins another.\n", c.place)
	}
	if c.begun.Question != "" {
		fmt.Fprintln(c.env.Out, c.begun.Question)
	}
	next := c.lines(ctx)
	for ctx.Err() == nil {
		line, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if line == ":quit" {
			return nil
		}
		if err := c.line(ctx, line); err != nil {
			c.env.Fault(err.Error())
		}
	}
	return context.Cause(ctx)
}

// line carries out one line.
func (c *chat) line(ctx context.Context, line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	path := "/invoke_assistant"
	switch {
	case line == "?":
		list, err := c.commands(ctx)
		if err == nil {
			fmt.Fprintln(c.env.Out, list.DisplayText)
		}
		return err
	case line == ":new":
		var kept struct{ Topic, Summary string }
		err := c.do(ctx, http.MethodPost, "/new_conversation", map[string]any{}, &kept)
		if err == nil {
			fmt.Fprintf(c.env.Out, "Kept as %q.\n", kept.Topic)
			err = c.begin(ctx)
			c.place = c.begun.Context
		}
		return err
	case verb == ":agent" && strings.TrimSpace(rest) != "":
		path, line = "/invoke_agent", strings.TrimSpace(rest)
	case strings.HasPrefix(line, ":"):
		return fmt.Errorf("%s is not one of ?, :agent TEXT, :new and :quit", verb)
	}
	s, err := c.say(ctx, path, line)
	if err != nil {
		return err
	}
	c.place = s.Context
	fmt.Fprintln(c.env.Out, s.reply())
	if c.record == "" || path != "/invoke_assistant" {
		return nil
	}
	c.kept.Turns = append(c.kept.Turns, recordedTurn{Say: line, Status: s.Status, Command: s.command(), Reply: s.reply()})
	return c.kept.write(c.record)
}

// lines gives what reads the next line: with a prompt and completion at a terminal.
func (c *chat) lines(ctx context.Context) func() (string, error) {
	in, isFile := c.env.In.(*os.File)
	if !isFile || !terminal.Is(c.env.In) || !terminal.Draws(c.env.Out, c.env.Lookup) {
		scanner := bufio.NewScanner(c.env.Input(ctx))
		scanner.Buffer(nil, maxLine)
		return func() (string, error) {
			if !scanner.Scan() {
				if err := scanner.Err(); err != nil {
					return "", err
				}
				return "", io.EOF
			}
			return scanner.Text(), nil
		}
	}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{c.env.Input(ctx), c.env.Out}, "")
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' || pos != len(line) {
			return "", 0, false
		}
		list, err := c.commands(ctx)
		if err != nil {
			return "", 0, false
		}
		whole, choices := completeLine(line, list.Commands)
		if len(choices) > 1 {
			fmt.Fprintf(t, "%s\n", strings.Join(choices, "  "))
		}
		return whole, len(whole), true
	}
	return func() (string, error) {
		old, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return "", err
		}
		// While something runs, an interrupt is one again.
		defer func() { _ = term.Restore(int(in.Fd()), old) }()
		t.SetPrompt(strings.ReplaceAll(c.place, "\n", " ") + "> ")
		return t.ReadLine()
	}
}

// maxLine is how long a line may be that is not typed, in bytes; an instruction has less.
const maxLine = 4 << 20

// completeLine is a line as far as it can be completed, and the choices where there are several: the command first,
// then its parameters and their values.
func completeLine(line string, commands []command.ListedEntry) (whole string, choices []string) {
	start := strings.LastIndexByte(line, ' ') + 1
	word := line[start:]
	var known []string
	name, _, more := strings.Cut(strings.TrimLeft(line, "/ "), " ")
	i := slices.IndexFunc(commands, func(c command.ListedEntry) bool {
		_, leaf, _ := strings.Cut(c.Name, "/")
		return c.Name == name || leaf == name
	})
	switch param, _, hasValue := strings.Cut(word, "="); {
	case !more:
		slash := ""
		if strings.HasPrefix(word, "/") {
			slash = "/"
		}
		for _, c := range commands {
			known = append(known, slash+c.Name+" ")
			if _, leaf, ok := strings.Cut(c.Name, "/"); ok {
				known = append(known, slash+leaf+" ")
			}
		}
	case i < 0:
		return line, nil
	default:
		for _, p := range commands[i].Parameters {
			if !hasValue {
				known = append(known, p.Name+"=")
				continue
			}
			if p.Name != param {
				continue
			}
			for _, value := range p.Choices {
				if strings.Contains(value, " ") {
					value = `"` + value + `"`
				}
				known = append(known, p.Name+"="+value+" ")
			}
		}
	}
	known = slices.DeleteFunc(known, func(k string) bool { return !strings.HasPrefix(k, word) })
	slices.Sort(known)
	known = slices.Compact(known)
	if len(known) == 0 {
		return line, nil
	}
	common := known[0]
	for _, k := range known[1:] {
		for !strings.HasPrefix(k, common) {
			common = common[:len(common)-1]
		}
	}
	return line[:start] + common, known
}
