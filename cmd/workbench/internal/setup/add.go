package setup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/clients"
	"github.com/mcp-workbench/workbench/internal/shellword"
)

// adding is what the flags of add say.
type adding struct {
	toolbox, description, transport, cwd string
	env, headers, inherit                []string
	replace                              bool
	published                            publishing
}

func Add(env *cli.Environment) *cobra.Command {
	var a adding
	cmd := &cobra.Command{
		Use:        "add NAME -- COMMAND [ARGUMENT]… | add NAME URL | add registry:SERVER [NAME] | add FILE.mcpb [NAME]",
		SuggestFor: []string{"install", "new"},
		Short:      "Add a server to the configuration",
		Long: `Add writes a server into your own configuration, or into the one that --config names;
it makes the file if there is none. Comments and order stay as they are, and workbench
undo undoes the change. A running workbench uses the server at once.

The server is a program, with its command line after --, or a URL, or a server of the
registry of MCP servers, or a bundle. For the last two, add shows what will be run or
reached, and asks you. The registry is the official one, or the one at
WORKBENCH_REGISTRY.

Without --toolbox the server goes into a toolbox for its kind. Arguments that are
paths of this folder (. and what begins with ./ or ../) are written as full paths,
because a client starts workbench in another folder. Variables are written '${NAME}'.`,
		Example: `  workbench add filesystem -- npx -y @modelcontextprotocol/server-filesystem ~/projects
  workbench add github https://api.githubcopilot.com/mcp/ --header 'Authorization: Bearer ${GITHUB_TOKEN}'
  workbench add registry:io.github.example/weather --set city=Berlin
  workbench add ./files.mcpb`,
		Args: cli.Between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return add(cmd.Context(), env, a, args, cmd.ArgsLenAtDash())
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(cli.Hint(err, "write the command of a server, with its flags, after --: workbench add NAME -- COMMAND"))
	})
	f := cmd.Flags()
	f.Var((*cli.Named)(&a.toolbox), "toolbox", "the `toolbox` it goes into, which is made if there is none (default: one for its kind)")
	cli.OfferFlag(cmd, "toolbox", cli.OfferEach(env.ToolboxNames))
	f.StringVar(&a.description, "description", "", "what a new toolbox is for; the model chooses by it")
	f.StringArrayVarP(&a.env, "env", "e", nil, "a variable of the program, as `NAME=VALUE`; may be given more than once")
	f.StringArrayVarP(&a.headers, "header", "H", nil, "a header of each request, as `'NAME: VALUE'`; may be given more than once")
	f.StringSliceVar(&a.inherit, "inherit", nil, "a `variable` that the program gets from workbench's environment; may be given more than once")
	f.StringVar(&a.cwd, "cwd", "", "the `folder` that the program runs in")
	f.StringVar(&a.transport, "transport", "", "the transport of a URL: http (the default) or sse")
	cli.OfferFlag(cmd, "transport", cli.Fixed("http", "sse"))
	a.published.flags(f)
	cli.OfferFlag(cmd, "as", cli.Fixed("npm", "pypi", "oci", "nuget", "mcpb", "remote"))
	f.BoolVar(&a.replace, "replace", false, "replace the server of that name")
	return cmd
}

func add(ctx context.Context, env *cli.Environment, a adding, args []string, dash int) error {
	if isPublished(args, dash) {
		return a.publish(ctx, env, args)
	}
	name, server, err := a.server(env, args, dash)
	if err == nil {
		err = a.published.unused()
	}
	if err != nil {
		return err
	}
	if err := a.complete(&server); err != nil {
		return err
	}
	return a.enter(ctx, env, name, server)
}

// server is what the arguments say.
func (a adding) server(env *cli.Environment, args []string, dash int) (name string, s clients.Server, err error) {
	name = args[0]
	remote := len(args) == 2 && dash < 0 && (strings.HasPrefix(args[1], "http://") || strings.HasPrefix(args[1], "https://") || strings.HasPrefix(args[1], "${"))
	switch {
	case remote:
		return name, clients.Server{URL: args[1], Transport: a.transport}, nil
	case dash == 1 && len(args) > 1:
		s = clients.Server{Command: args[1], Args: args[2:]}
		err = fullPaths(env, &s)
		return name, s, err
	case dash < 0 && len(args) == 1 && (strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")):
		return "", s, cli.Usage(cli.Hint(errors.New("the server needs a name"), "workbench add NAME "+shellword.Word(name)))
	case dash < 0 && len(args) > 1:
		return "", s, cli.Usage(cli.Hint(errors.New("write the command of a server after --"), "workbench add "+shellword.Word(args[0])+" -- "+shellword.Line(args[1:]...)))
	}
	return "", s, cli.Usage(cli.Hint(errors.New("want a name, and a command after -- or a URL"), "workbench add NAME -- COMMAND [ARGUMENT]…, workbench add NAME URL, or workbench add registry:SERVER"))
}

// fullPath writes a path of this folder as a full one. The variables in the path are kept, and the folder has none.
func fullPath(path string) (string, error) {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "${") {
		return path, nil
	}
	dir, err := cli.WorkingDir()
	return filepath.Join(clients.Literal(dir), path), err
}

// fullPaths writes paths of this folder as full ones.
func fullPaths(env *cli.Environment, s *clients.Server) error {
	var err error
	if strings.ContainsAny(s.Command, `/`+string(filepath.Separator)) {
		if s.Command, err = fullPath(s.Command); err != nil {
			return err
		}
	}
	for i, arg := range s.Args {
		slashed := filepath.ToSlash(arg)
		if slashed == "." || slashed == ".." || strings.HasPrefix(slashed, "./") || strings.HasPrefix(slashed, "../") {
			if s.Args[i], err = fullPath(arg); err != nil {
				return err
			}
			fmt.Fprintf(env.Err, "%s is written as %s, since clients start workbench in other folders.\n", arg, s.Args[i])
		}
	}
	return nil
}

// complete puts in what the flags say besides.
func (a adding) complete(s *clients.Server) error {
	names := map[string]bool{}
	for _, text := range a.env {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return cli.Usage(cli.Hint(errors.New("--env: want NAME=VALUE"), `as in --env 'TOKEN=${TOKEN}'`))
		}
		if names[key] {
			return cli.Usage(cli.Hint(fmt.Errorf("--env: %s is given twice", key), "leave one of the two out"))
		}
		names[key] = true
		s.Env.Set(key, value)
	}
	for _, text := range a.headers {
		key, value, ok := strings.Cut(text, ":")
		if !ok || key == "" {
			return cli.Usage(cli.Hint(errors.New("--header: want NAME: VALUE"), `as in --header 'Authorization: Bearer ${TOKEN}'`))
		}
		if key = strings.TrimSpace(key); names[strings.ToLower(key)+":"] {
			return cli.Usage(cli.Hint(fmt.Errorf("--header: %s is given twice", key), "leave one of the two out"))
		}
		names[strings.ToLower(key)+":"] = true
		s.Headers.Set(key, strings.TrimSpace(value))
	}
	s.InheritEnv = append(s.InheritEnv, a.inherit...)
	if a.cwd != "" {
		dir, err := fullPath(a.cwd)
		if err != nil {
			return err
		}
		s.Cwd = dir
	}
	if a.transport != "" {
		s.Transport = a.transport
	}
	return nil
}

// enter writes the server into the file and says what comes next.
func (a adding) enter(ctx context.Context, env *cli.Environment, name string, s clients.Server) error {
	var box clients.Kind
	var path string
	err := editFile(ctx, env, func(ed *editing) error {
		path = ed.path
		box = ed.box(a.toolbox, clients.KindOf(name, s), a.description)
		if ed.root.Get("toolboxes").Get(box.Name).Get("mcpServers").Get(name) != nil && !a.replace {
			return cli.Hint(fmt.Errorf("there is a server %q in toolbox %q already", name, box.Name), "--replace replaces it; or give another name or --toolbox")
		}
		return ed.put(box, name, s.JSON())
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "%s/%s: %s\nwritten to %s\n", box.Name, name, s.Summary(), path)
	fmt.Fprintln(env.Err, env.Advice(fmt.Sprintf("workbench tools %s lists its tools; workbench undo undoes this.", shellword.Word(box.Name))))
	return nil
}
