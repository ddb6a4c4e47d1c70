package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/argument"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/reshape"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// callFlags are the flags of call, and of the commands that ask servers for other things than tools.
type callFlags struct {
	asJSON bool
	save   string
	roots  []string
	own    bool // servers of this call's own are started, whatever runs
}

func (f *callFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the whole result as the server sent it")
	cmd.Flags().StringVar(&f.save, "save", "", "write images, audio and files of the result into this `folder`")
	cmd.Flags().StringArrayVar(&f.roots, "root", nil, "tell the server that it may work in this `folder` (roots); may be given several times")
}

func Call(env *opening.Environment) *cobra.Command {
	var flags callFlags
	cmd := &cobra.Command{
		Use:   "call TOOLBOX/SERVER/TOOL [KEY=VALUE... | JSON | @FILE | -]",
		Short: "Call one tool",
		Long: `Call calls a tool and prints its result: text unchanged, JSON indented on a terminal,
and a line for each image, audio, file or link.

You can also name a tool as agents see it, or by its own name if only one server has
it.

Arguments are KEY=VALUE pairs, one JSON object, or a file with one (@FILE, or - for
standard input). The input schema gives the type of a value; without a type it is
text. Write a list as a,b,c, a member of an object as a.b=1, and JSON as KEY:=JSON.
Arguments that the schema does not allow are not sent.

If a client here already runs a workbench that has the server open, the call goes to
that server; otherwise the server is started for the call.

On a terminal, call shows progress and asks you the server's questions. The exit code
is 1 if the call fails or the tool answers with an error, 2 if the arguments are
wrong, and 130 after an interrupt.`,
		Example: `  workbench call workflow_list
  workbench call files/filesystem/read_text_file path=README.md
  workbench call files/filesystem/edit_file path=a.txt edits:='[{"oldText":"a","newText":"b"}]'
  workbench call web/browser/screenshot url=http://localhost --save .`,
		Args:              cli.Between(1, -1),
		ValidArgsFunction: cli.Offer(func() []string { return env.ItemNames(toolbox.Tools) }),
		RunE: func(cmd *cobra.Command, args []string) error {
			return callTool(cmd.Context(), env, args[0], args[1:], &flags)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return cli.Usage(cli.Hint(err, "an argument of the tool is written KEY=VALUE; workbench call --help lists the flags"))
	})
	flags.add(cmd)
	cmd.Flags().BoolVar(&flags.own, "new", false, "start the server, even if a running workbench has it")
	return cmd
}

func callTool(ctx context.Context, env *opening.Environment, name string, args []string, flags *callFlags) error {
	client, err := newCaller(ctx, env, flags)
	if err != nil {
		return err
	}
	box, server, name, err := whoseItem(env, toolbox.Tools, name)
	if err != nil {
		return err
	}
	to, found, closeAll, err := lineTo(ctx, env, client, box, server, name, flags)
	if err != nil {
		return err
	}
	defer closeAll()
	def := readDefinition(found.Raw)
	arguments, err := toolArguments(ctx, env, def.InputSchema, args, "workbench tools "+shellword.Word(fmt.Sprintf("%s/%s/%s", box, server, found.Key))+" shows what it takes")
	if err != nil {
		return err
	}
	params, err := to.Params(found, arguments)
	if err != nil {
		return err
	}
	if def.Execution.TaskSupport == "required" {
		params = append(params[:len(params)-1], `,"task":{"ttl":3600000}}`...)
	}
	result, err := client.Call(ctx, to, "tools/call", params)
	if err != nil {
		return err
	}
	return printResult(env, result, flags)
}

// lineTo finds a tool of a server of the workbench that runs, or of one that is started.
func lineTo(ctx context.Context, e *opening.Environment, client *caller, box, server, name string, flags *callFlags) (to toolLine, found toolbox.Item, closeAll func(), err error) {
	cfg, err := e.LoadOnce()
	if err != nil {
		return nil, found, nil, err
	}
	if !flags.own && flags.roots == nil {
		if guest, found := Running(ctx, e, cfg, box, server, name); guest != nil {
			return guest, found, func() {}, nil
		}
	}
	found, closeAll, err = startServer(ctx, e, client, toolbox.Tools, box, server, name)
	return ownLine{found.Server}, found, closeAll, err
}

// startServer starts a server and finds what a name means there.
func startServer(ctx context.Context, e *opening.Environment, client *caller, k toolbox.Kind, box, server, name string) (found toolbox.Item, closeAll func(), err error) {
	e.Tune = client.tune
	boxes, closeAll, err := e.OpenBoxes(ctx, opening.Alone(server), box)
	if err != nil {
		return found, nil, err
	}
	if found, err = pick(e, boxes[0], k, server, name); err != nil {
		closeAll()
	}
	return found, closeAll, err
}

// whoseItem says which server a name is about, and gives the name in full if it said no more than that. A full name
// says its server itself; what servers call a thing is looked up in what was seen of them.
func whoseItem(e *opening.Environment, k toolbox.Kind, name string) (box, server, full string, err error) {
	cfg, err := e.LoadOnce()
	if err != nil {
		return "", "", "", err
	}
	if box, rest, _ := strings.Cut(name, "/"); isServer(cfg, box, rest) {
		return "", "", "", cli.Usage(cli.Hint(fmt.Errorf("%q is a server", name), fmt.Sprintf("workbench %s %s lists the names", k, shellword.Word(box))))
	}
	full = completed(cfg, name)
	if box, server, ok := naming.Whose(cfg, full); ok {
		return box, server, full, nil
	}
	if parts := strings.SplitN(name, "/", 3); len(parts) == 3 {
		t, ok := cfg.Toolbox(parts[0])
		if !ok {
			return "", "", "", cli.UnknownToolbox(cfg, parts[0])
		}
		return "", "", "", unknownServer(t, parts[1])
	}
	if _, isBox := cfg.Toolbox(name); isBox {
		return "", "", "", cli.Usage(cli.Hint(fmt.Errorf("%q is a toolbox", name), fmt.Sprintf("workbench %s %s lists the names", k, shellword.Word(name))))
	}
	boxes, _, err := e.RecallBoxes(context.Background(), nil)
	if err != nil {
		return "", "", "", err
	}
	unseen := 0
	for _, s := range opening.Servers(boxes) {
		if st := s.Status(); st.State == toolbox.Stopped && st.Seen.IsZero() {
			unseen++
		}
	}
	it, err := naming.Meant(cfg, boxes, k, name)
	if err == nil {
		return it.Server.Toolbox, it.Server.Name, name, nil
	}
	hint := fmt.Sprintf("write TOOLBOX/SERVER/NAME, as workbench %s lists them", k)
	if named := new(naming.NamedError); errors.As(err, &named) && named.Near != nil {
		hint = "did you mean " + strings.Join(named.Near, " or ") + "?"
	} else if unseen > 0 {
		hint += fmt.Sprintf("; %s not been seen yet, and workbench index starts each once", terminal.CountVerb(unseen, "server has", "servers have"))
	}
	return "", "", "", cli.Usage(cli.Hint(err, hint))
}

// completed writes SERVER/NAME as TOOLBOX/SERVER/NAME where one toolbox alone has a server of that name, and
// TOOLBOX/NAME where the toolbox has one server alone. Any other name stays as it is.
func completed(cfg *config.Config, name string) string {
	first, rest, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(rest, "/") {
		return name
	}
	var full []string
	for t, s := range cfg.Servers() {
		if strings.EqualFold(s.Name, first) || strings.EqualFold(t.Name, first) && len(t.Servers) == 1 {
			full = append(full, t.Name+"/"+s.Name+"/"+rest)
		}
	}
	if len(full) != 1 {
		return name
	}
	return full[0]
}

// isServer reports whether a toolbox has a server of a name.
func isServer(cfg *config.Config, box, server string) bool {
	t, ok := cfg.Toolbox(box)
	if ok {
		_, ok = t.Server(server)
	}
	return ok
}

// unknownServer says that a toolbox has no server of a name.
func unknownServer(t *config.Toolbox, name string) error {
	known := strings.Join(t.ServerNames(), ", ")
	hint := "its servers are: " + known
	if meant := nearest.Hint(name, t.ServerNames(), ""); meant != "" {
		hint = meant + " Its servers are: " + known
	}
	return cli.Usage(cli.Hint(fmt.Errorf("toolbox %q has no server %q", t.Name, name), hint))
}

// isTool reports whether a name is not that of a toolbox, but written as a tool's.
func isTool(e *opening.Environment, name string) bool {
	cfg, err := e.LoadOnce()
	if err != nil {
		return false
	}
	_, isBox := cfg.Toolbox(name)
	_, _, isFull := naming.Whose(cfg, name)
	return !isBox && (isFull || strings.Contains(name, "/"))
}

// pick finds what is named of a server that was waited for.
func pick(e *opening.Environment, b *toolbox.Toolbox, k toolbox.Kind, server, name string) (toolbox.Item, error) {
	cfg, err := e.LoadOnce()
	if err != nil {
		return toolbox.Item{}, err
	}
	it, err := naming.Meant(cfg, []*toolbox.Toolbox{b}, k, name)
	if err == nil && it.Server.Name == server {
		return it, nil
	}
	srv, ok := b.Server(server)
	if !ok {
		return toolbox.Item{}, fmt.Errorf("server %q of toolbox %q was removed from the configuration", server, b.Name)
	}
	last := name[strings.LastIndexByte(name, '/')+1:]
	if k == toolbox.Tools {
		for x := range toolbox.Excluded([]*toolbox.Server{srv}, last) {
			err := fmt.Errorf("server %q has the tool %q, but %s", server, x.Tool, x.Why)
			return toolbox.Item{}, cli.Hint(err, "workbench tools "+shellword.Word(b.Name)+" lists what is left")
		}
	}
	if st := srv.Status(); st.State != toolbox.Ready {
		return toolbox.Item{}, opening.Absent(b.Name, server, st)
	}
	if err := opening.Unread(srv, k); err != nil {
		return toolbox.Item{}, err
	}
	var known []string
	for _, it := range srv.Items(k) {
		known = append(known, it.Key.String())
	}
	noun := strings.TrimSuffix(string(k), "s")
	hint := fmt.Sprintf("its %s are: %s", k, strings.Join(known[:min(len(known), 50)], ", "))
	if len(known) == 0 {
		hint = fmt.Sprintf("it has no %s", k)
	}
	if n, by := srv.Hidden(); n > 0 && k == toolbox.Tools {
		hint += fmt.Sprintf("; %s %d more", by, n)
	}
	return toolbox.Item{}, cli.Usage(cli.Hint(fmt.Errorf("server %q has no %s %q", server, noun, last), nearest.Hint(last, known, hint)))
}

// toolDef is what call wants to know of a tool.
type toolDef struct {
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Execution   struct {
		TaskSupport string `json:"taskSupport"`
	} `json:"execution"`
}

// readDefinition reads as much of a definition as has its proper shape.
func readDefinition(raw []byte) toolDef {
	var d toolDef
	_ = json.Unmarshal(raw, &d)
	return d
}

// toolArguments reads a tool's arguments from the command line and checks them.
func toolArguments(ctx context.Context, e *opening.Environment, input []byte, args []string, help string) ([]byte, error) {
	schema := argument.NewSchema(input)
	object, whole := []byte("{}"), len(args) == 1 && !argument.IsPair(args[0])
	var err error
	switch {
	case whole:
		object, err = argumentObject(ctx, e, args[0])
	case len(args) > 0:
		if object, err = schema.Parse(args); err != nil {
			hint := help
			if errors.Is(err, argument.ErrForm) {
				hint = "write KEY=VALUE, KEY:=JSON, or all arguments as one JSON object"
			}
			err = cli.Usage(cli.Hint(err, hint))
		}
	}
	if err != nil {
		return nil, err
	}
	if err := schema.Check(reshape.Shown(input, object)); err != nil {
		var fault *argument.FaultError
		if errors.As(err, &fault) && fault.Guessed {
			if whole {
				return object, nil // what is written out is meant
			}
			help += `; if they are meant, give all arguments as one JSON object`
		}
		return nil, cli.Usage(cli.Hint(fmt.Errorf("the arguments do not fit: %w", err), help))
	}
	return object, nil
}

// argumentObject reads arguments that are one JSON object.
func argumentObject(ctx context.Context, e *opening.Environment, arg string) ([]byte, error) {
	data, from, err := argumentSource(ctx, e, arg)
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		fault := fmt.Errorf("the arguments %s are not a JSON object: %w", from, foreign.NewError(err))
		return nil, cli.Usage(cli.Hint(fault, "write '{\"key\": \"value\"}' or key=value"))
	}
	if object == nil {
		return []byte("{}"), nil // null
	}
	var b bytes.Buffer
	err = json.Compact(&b, data)
	return b.Bytes(), err
}

// maxArgument is the most bytes that arguments in a file may have.
const maxArgument = 64 << 20

// argumentSource reads the JSON that an argument stands for.
func argumentSource(ctx context.Context, e *opening.Environment, arg string) (data []byte, from string, err error) {
	switch {
	case arg == "-":
		data, err = io.ReadAll(io.LimitReader(e.Input(ctx), maxArgument+1))
		if len(data) > maxArgument {
			err = fmt.Errorf("standard input has more than %d bytes", maxArgument)
		}
		return data, "on standard input", err
	case strings.HasPrefix(arg, "@"):
		data, _, err = openfile.Read(arg[1:], maxArgument)
		return data, "in " + arg[1:], err
	default:
		return []byte(arg), "given", nil
	}
}
