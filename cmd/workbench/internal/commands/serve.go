package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/commandhost"
	"github.com/mcp-workbench/workbench/internal/envfile"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Serving is how a command serves MCP clients, by flags of its own.
type Serving interface {
	// Check refuses flags that say nothing without others.
	Check(*cobra.Command) error
	OverHTTP() bool
	// Serve serves one toolbox directly.
	Serve(cmd *cobra.Command, env *opening.Environment, toolbox string) error
}

func serveCommand(env *opening.Environment, serving func(*pflag.FlagSet) Serving) *cobra.Command {
	var over Serving
	cmd := &cobra.Command{
		Use:   "serve [WORKFLOW]",
		Short: "Serve one command workflow, over HTTP or on standard input and output",
		Long: `Serve runs workbench with one server of commands. WORKFLOW is example, the workflow
inside workbench; toolbox:NAME, the tools of a toolbox as commands; or the folder of
a workflow. The toolboxes that it needs come from the configuration.

With --http its operations are served at /commands/NAME/, as /openapi.json there
describes, and as MCP tools at /mcp. Without --http they are MCP tools on standard
input and output. NAME is example, the last part of the folder, or NAME-commands.

Variables of the environment:
  WORKFLOW_PATH         used instead of the argument WORKFLOW
  STARTUP_COMMAND       the command that a session begins with in a conversation
                        without turns, instead of the workflow's
  STARTUP_ACTION        the same, as an action in JSON
  ENV_FILE_PATH, PASSWORDS_FILE_PATH
                        files with more variables, one KEY=VALUE a line
  SPEEDDICT_FOLDERNAME  the folder for conversations, unless the configuration
                        names a place`,
		Example: `  workbench commands serve example --http 127.0.0.1:7777
  workbench commands serve ./orders
  WORKFLOW_PATH=./orders workbench commands serve --http 127.0.0.1:7777`,
		Args: cli.Between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := over.Check(cmd); err != nil {
				return err
			}
			if !over.OverHTTP() && terminal.Is(env.In) {
				return cmd.Help() // whoever types is no MCP client
			}
			if err := readVariables(env, "ENV_FILE_PATH", "PASSWORDS_FILE_PATH"); err != nil {
				return err
			}
			workflow, _ := env.Lookup("WORKFLOW_PATH")
			if len(args) > 0 {
				workflow = args[0]
			}
			if workflow == "" {
				return cli.Usage(cli.Hint(errors.New("no workflow is named"), "try: workbench commands serve example --http 127.0.0.1:7777"))
			}
			box, err := deskToolbox(workflow)
			if err != nil {
				return err
			}
			env.Overlay = func(cfg *config.Config) error { return addDesk(env, cfg, box) }
			if env.Startup, err = startupCommand(env); err != nil {
				return err
			}
			return over.Serve(cmd, env, box.Name)
		},
	}
	over = serving(cmd.Flags())
	return cmd
}

// startupCommand is the command that sessions begin with by the variables of the environment, "" for none. Variables of
// the specification that mean nothing here are refused, so that nobody relies on them.
func startupCommand(e *opening.Environment) (string, error) {
	for name, instead := range map[string]string{
		"CONTEXT":            "a place gets its values from the commands that lead to it; begin with one of them by STARTUP_ACTION",
		"PROJECT_FOLDERPATH": "name programs and their files by full paths or by ${WORKFLOW_DIR}",
	} {
		if v, _ := e.Lookup(name); v != "" {
			return "", cli.Hint(fmt.Errorf("the variable %s is set, which workbench does not use", name), instead+", and unset "+name)
		}
	}
	text, _ := e.Lookup("STARTUP_COMMAND")
	raw, _ := e.Lookup("STARTUP_ACTION")
	if raw == "" {
		return text, nil
	}
	if text != "" {
		return "", errors.New("STARTUP_COMMAND and STARTUP_ACTION are both set; a session begins with one of them")
	}
	var action struct {
		Name       string                     `json:"command_name"`
		Arguments  map[string]json.RawMessage `json:"arguments"`
		Parameters map[string]json.RawMessage `json:"parameters"`
	}
	if err := json.Unmarshal([]byte(raw), &action); err != nil || action.Name == "" {
		return "", cli.Hint(errors.New("STARTUP_ACTION is not an action in JSON"), `write it as {"command_name": "open_order", "arguments": {"order_id": "44821"}}`)
	}
	text = action.Name
	for _, values := range []map[string]json.RawMessage{action.Arguments, action.Parameters} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			value, isText := wire.Unquote(values[name])
			if !isText {
				value = string(values[name])
			}
			text += fmt.Sprintf(" <%s>%s</%s>", name, strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(value), name)
		}
	}
	return text, nil
}

// deskToolbox is a toolbox that has a server of commands alone.
func deskToolbox(workflow string) (config.Toolbox, error) {
	name, isToolbox := strings.CutPrefix(workflow, config.CommandsToolbox)
	switch {
	case isToolbox:
		name += "-commands"
	case workflow == config.CommandsExample:
		name = workflow
	default:
		dir, err := cli.Abs(workflow)
		if err != nil {
			return config.Toolbox{}, err
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return config.Toolbox{}, cli.Hint(fmt.Errorf("there is no folder %s", workflow), "name the folder that holds workflow.yaml, toolbox:NAME or example")
		}
		workflow, name = dir, filepath.Base(dir)
	}
	about := "The commands of " + name
	w, err := commandhost.Known(workflow)
	if err != nil {
		return config.Toolbox{}, cli.Hint(fmt.Errorf("the commands of %s cannot be served: %w", name, err), "workbench commands check "+shellword.Word(workflow)+" shows more")
	}
	if w != nil {
		about = w.Name + ": " + w.Description
	}
	server := config.Server{Name: "commands", Transport: config.TransportBuiltin, Builtin: config.BuiltinCommands, Commands: workflow, Timeouts: config.DefaultTimeouts()}
	return config.Toolbox{Name: name, Prefix: config.PrefixNone, Description: foreign.NewLines(about), Servers: []config.Server{server}}, nil
}

// addDesk adds the toolbox to a configuration.
func addDesk(e *opening.Environment, cfg *config.Config, box config.Toolbox) error {
	if _, taken := cfg.Toolbox(box.Name); taken {
		return cli.Hint(fmt.Errorf("the configuration has a toolbox %q already", box.Name), `add a server {"builtin": "commands", "commands": "…"} to it, and serve it with workbench serve`)
	}
	if name, ok := strings.CutPrefix(box.Servers[0].Commands, config.CommandsToolbox); ok {
		if _, there := cfg.Toolbox(name); !there {
			return cli.UnknownToolbox(cfg, name)
		}
	}
	cfg.Toolboxes = append(cfg.Toolboxes, box)
	if dir, _ := e.Lookup("SPEEDDICT_FOLDERNAME"); dir != "" && cfg.Store == (config.Store{}) {
		abs, err := cli.Abs(dir)
		if err != nil {
			return err
		}
		cfg.Store.Path = filepath.Join(abs, "conversations.db")
	}
	return nil
}

// readVariables adds the variables in files, whose paths stand in variables, to the environment. They go before what is
// there.
func readVariables(e *opening.Environment, names ...string) error {
	for _, name := range names {
		path, _ := e.Lookup(name)
		if path == "" {
			continue
		}
		vars, err := envfile.Read(path)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		e.Environ = slices.Clip(e.Environ)
		for _, v := range vars {
			if !v.Inherited {
				e.Environ = append(e.Environ, v.Name+"="+v.Value)
			}
		}
	}
	return nil
}
