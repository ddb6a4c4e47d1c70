package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/argument"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

func Prompts(env *opening.Environment) *cobra.Command {
	return listingCommand(env, &cobra.Command{
		Use:   "prompts [TOOLBOX]",
		Short: "List the prompts of servers",
		Long: `Prompts opens one toolbox, or all, prints the prompts of its servers, and stops them
again.`,
		Example: "  workbench prompts\n  workbench prompts files --json",
	}, toolbox.Prompts)
}

// listingCommand makes a command that lists what the servers of toolboxes have of a kind.
func listingCommand(env *opening.Environment, cmd *cobra.Command, kinds ...toolbox.Kind) *cobra.Command {
	var asJSON bool
	cmd.Args = cli.Between(0, 1)
	cmd.ValidArgsFunction = cli.Offer(env.ToolboxNames)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array with the entries as their servers define them")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return listItems(cmd.Context(), env, args, asJSON, kinds)
	}
	return cmd
}

// listItems prints what servers offer besides tools.
func listItems(ctx context.Context, env *opening.Environment, names []string, asJSON bool, kinds []toolbox.Kind) error {
	boxes, closeAll, err := env.OpenBoxes(ctx, nil, names...)
	if err != nil {
		return err
	}
	defer closeAll()
	t := terminal.Table{Most: terminal.PlainText, Head: []string{"TOOLBOX", "SERVER", "NAME", "DESCRIPTION"}}
	all := []json.RawMessage{}
	failed := false
	for _, s := range opening.Servers(boxes) {
		err := opening.Unread(s, kinds...)
		if st := s.Status(); st.State == toolbox.Disabled {
			err = nil
		} else if st.State != toolbox.Ready {
			err = opening.Absent(s.Toolbox, s.Name, st)
		}
		if err != nil {
			failed = true
			env.Fault(err.Error())
		}
		for _, k := range kinds {
			for _, it := range s.Items(k) {
				all = append(all, opening.Located(it, false))
				t.Add(s.Toolbox, s.Name, it.Key.String(), summary(it))
			}
		}
	}
	show := func() error { return env.Print(&t) }
	if asJSON {
		show = func() error { return printAll(env, all) }
	}
	if err := show(); err != nil {
		return err
	}
	if len(all) == 0 && !failed && !asJSON {
		fmt.Fprintf(env.Err, "no server here has %s\n", kinds[0])
	}
	if failed {
		return cli.SilentError(cli.ExitFault)
	}
	return nil
}

func Prompt(env *opening.Environment) *cobra.Command {
	var flags callFlags
	cmd := &cobra.Command{
		Use:   "prompt TOOLBOX/SERVER/PROMPT [KEY=VALUE...]",
		Short: "Get one prompt",
		Long: `Prompt prints the messages of a prompt, filled in with the arguments, which are text.
You can also name a prompt as agents see it, or by its own name if only one server
has it.`,
		Example:           "  workbench prompt files/server/greet name=Ada",
		Args:              cli.Between(1, -1),
		ValidArgsFunction: cli.Offer(func() []string { return env.ItemNames(toolbox.Prompts) }),
		RunE: func(cmd *cobra.Command, args []string) error {
			return getPrompt(cmd.Context(), env, args[0], args[1:], &flags)
		},
	}
	flags.add(cmd)
	return cmd
}

func getPrompt(ctx context.Context, env *opening.Environment, name string, args []string, flags *callFlags) error {
	client, err := newCaller(ctx, env, flags)
	if err != nil {
		return err
	}
	box, server, name, err := whoseItem(env, toolbox.Prompts, name)
	if err != nil {
		return err
	}
	found, closeAll, err := startServer(ctx, env, client, toolbox.Prompts, box, server, name)
	if err != nil {
		return err
	}
	defer closeAll()
	schema := promptSchema(found.Raw)
	object, err := schema.Parse(args)
	if err != nil {
		return cli.Usage(cli.Hint(err, "the arguments of a prompt are written KEY=VALUE"))
	}
	if err := schema.Check(object); err != nil {
		return cli.Usage(cli.Hint(fmt.Errorf("the arguments do not fit: %w", err), "workbench prompts --json shows what it takes"))
	}
	params := wire.NewObject(nil).Text("name", found.Key.Verbatim()).Raw("arguments", object).End()
	result, err := client.Call(ctx, ownLine{found.Server}, "prompts/get", params)
	if err != nil {
		return err
	}
	if flags.asJSON {
		return printWhole(env, result)
	}
	var r struct {
		Messages []struct {
			Role    foreign.Name `json:"role"`
			Content content      `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("the prompt cannot be read: %w", foreign.NewError(err))
	}
	for _, m := range r.Messages {
		if _, err := fmt.Fprintf(env.Out, "%s:\n", m.Role); err != nil {
			return err
		}
		if err := printParts(env, []content{m.Content}, flags); err != nil {
			return err
		}
	}
	return nil
}

// promptSchema is the schema of a prompt's arguments, which are all text.
func promptSchema(raw []byte) argument.Schema {
	var def struct {
		Arguments []struct {
			Name     string `json:"name"`
			Required bool   `json:"required"`
		} `json:"arguments"`
	}
	_ = json.Unmarshal(raw, &def) // of another shape it takes what is given
	properties, required := map[string]any{}, []string{}
	for _, a := range def.Arguments {
		properties[a.Name] = map[string]any{"type": "string"}
		if a.Required {
			required = append(required, a.Name)
		}
	}
	schema, err := json.Marshal(map[string]any{"properties": properties, "required": required})
	if err != nil {
		panic("a schema of ours cannot be encoded: " + err.Error())
	}
	return argument.NewSchema(schema)
}

func Resources(env *opening.Environment) *cobra.Command {
	return listingCommand(env, &cobra.Command{
		Use:   "resources [TOOLBOX]",
		Short: "List the resources of servers, and their templates",
		Long: `Resources opens one toolbox, or all, prints the addresses of the resources and the
resource templates of its servers, and stops them again.`,
		Example: "  workbench resources\n  workbench resources files --json",
	}, toolbox.Resources, toolbox.Templates)
}

func Read(env *opening.Environment) *cobra.Command {
	var flags callFlags
	cmd := &cobra.Command{
		Use:   "read TOOLBOX/SERVER URI",
		Short: "Read one resource",
		Long: `Read prints a resource of a server: text unchanged, and a line for anything else,
which --save writes to a file.`,
		Example: "  workbench read notes/memory memo://insights\n  workbench read web/browser shot://1 --save .",
		Args:    cli.Between(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return readResource(cmd.Context(), env, args[0], args[1], &flags)
		},
	}
	flags.add(cmd)
	return cmd
}

func readResource(ctx context.Context, env *opening.Environment, of, uri string, flags *callFlags) error {
	box, server, ok := strings.Cut(of, "/")
	if !ok || server == "" {
		return cli.Usage(cli.Hint(fmt.Errorf("%q does not name a server", of), "write TOOLBOX/SERVER, as workbench resources lists them"))
	}
	cfg, err := env.LoadOnce()
	if err != nil {
		return err
	}
	t, ok := cfg.Toolbox(box)
	if !ok {
		return cli.UnknownToolbox(cfg, box)
	}
	client, err := newCaller(ctx, env, flags)
	if err != nil {
		return err
	}
	env.Tune = client.tune
	boxes, closeAll, err := env.OpenBoxes(ctx, opening.Alone(server), box)
	if err != nil {
		return err
	}
	defer closeAll()
	srv, ok := boxes[0].Server(server)
	if !ok {
		return unknownServer(t, server)
	}
	if st := srv.Status(); st.State != toolbox.Ready {
		return opening.Absent(box, server, st)
	}
	result, err := client.Call(ctx, ownLine{srv}, "resources/read", wire.NewObject(nil).Text("uri", uri).End())
	if err != nil {
		return err
	}
	if flags.asJSON {
		return printWhole(env, result)
	}
	var r struct {
		Contents []content `json:"contents"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("the resource cannot be read: %w", foreign.NewError(err))
	}
	if len(r.Contents) == 0 {
		return cli.Hint(errors.New("the resource has no contents"), "workbench resources "+shellword.Word(box)+" lists the resources")
	}
	return printParts(env, r.Contents, flags)
}
