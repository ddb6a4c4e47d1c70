package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/clients"
	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// importing is what the flags of import say.
type importing struct {
	toolbox                           string
	byClient, project, dryRun, asJSON bool
}

func Import(env *cli.Environment) *cobra.Command {
	var i importing
	cmd := &cobra.Command{
		Use:   "import [CLIENT|FILE]…",
		Short: "Copy the servers of other MCP clients",
		Long: `Import reads the servers of the MCP clients on this machine, shows what it found,
sorts it into toolboxes and writes it into your own configuration, or into the one
that --config names. Nothing else is changed: the clients keep their servers, and
workbench undo undoes the import.

Without arguments it reads the files of all clients that it knows, such as
claude-code, claude-desktop, cursor, vscode, codex, gemini, opencode, zed and goose.
You can also name a file in the format of a client. Files of a project are read only
if you name them, or with --project, since somebody else may have written them.

Settings without a counterpart, and secrets that are not encrypted, are reported with
file and line. The same server in several files is copied once.`,
		Example: `  workbench import --dry-run
  workbench import
  workbench import claude-code cursor --toolbox mine
  workbench import .vscode/mcp.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := i.run(cmd.Context(), env, args)
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&i.dryRun, "dry-run", false, "show what would be written, and write nothing")
	f.Var((*cli.Named)(&i.toolbox), "toolbox", "put all servers into this `toolbox` (default: one for each kind of server)")
	cli.OfferFlag(cmd, "toolbox", cli.OfferEach(env.ToolboxNames))
	f.BoolVar(&i.byClient, "by-client", false, "make a toolbox of each client's servers")
	f.BoolVar(&i.project, "project", false, "read the files of this project as well")
	f.BoolVar(&i.asJSON, "json", false, "print JSON")
	cmd.ValidArgsFunction = completeClients
	return cmd
}

// clientHint says which client a name may mean, or which there are.
func clientHint(name string) string {
	var names []string
	for _, c := range clients.All() {
		names = append(names, c.Name)
	}
	return nearest.Hint(name, names, "the clients are "+strings.Join(names, ", "))
}

// completeClients completes the names of clients, and files.
func completeClients(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, c := range clients.All() {
		names = append(names, cobra.CompletionWithDesc(c.Name, c.Title))
	}
	return names, cobra.ShellCompDirectiveDefault
}

// gathered is what the files of clients hold.
type gathered struct {
	env     *cli.Environment
	entries []clients.Entry
	notes   []clients.Note
	files   []string
	owner   map[string]string // the client of a file
}

// run returns the servers that are new.
func (i importing) run(ctx context.Context, env *cli.Environment, args []string) (found []clients.Found, err error) {
	if i.byClient && i.toolbox != "" {
		return nil, cli.Usage(cli.Hint(errors.New("--by-client and --toolbox exclude each other"), "leave one of the two out"))
	}
	g := &gathered{env: env, owner: map[string]string{}}
	if err := g.gather(args, i.project); err != nil {
		return nil, err
	}
	var path string
	merge := func(ed *editing) error {
		path = ed.path
		found = g.merged(i, ed)
		return ed.putAll(found)
	}
	if i.dryRun {
		if path, err = editPath(env); err == nil {
			ed := &editing{path: path, env: env}
			if ed.data, _, err = openfile.Read(path, document.MaxSettings); err == nil || errors.Is(err, fs.ErrNotExist) {
				if err = ed.read(); err == nil {
					err = merge(ed)
				}
			}
		}
	} else if len(g.entries) > 0 {
		err = editFile(ctx, env, merge)
	}
	if err != nil {
		return nil, err
	}
	if i.asJSON {
		return found, i.json(env, g, found, path)
	}
	return found, i.show(env, g, found, path)
}

// gather reads the files that are asked for.
func (g *gathered) gather(args []string, project bool) error {
	sys := clients.System{GOOS: runtime.GOOS, Lookup: g.env.Lookup}
	dir, err := cli.WorkingDir()
	if err != nil {
		return err
	}
	for _, c := range clients.All() {
		if len(args) > 0 && !slices.Contains(args, c.Name) {
			continue
		}
		for _, path := range sys.UserPaths(c) {
			g.all(c, sys, path, "")
		}
		for _, path := range sys.ProjectPaths(c, dir) {
			if project {
				g.all(c, sys, path, dir)
			}
		}
	}
	for _, arg := range args {
		if _, known := clients.Find(arg); known {
			continue
		}
		if err := g.named(arg, sys); err != nil {
			return err
		}
	}
	return nil
}

// named reads a file that was named.
func (g *gathered) named(arg string, sys clients.System) error {
	path, err := cli.Abs(arg)
	if err != nil {
		return err
	}
	data, _, err := openfile.Read(path, document.MaxSettings)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(arg, "./"+string(filepath.Separator)) {
		return cli.Usage(cli.Hint(fmt.Errorf("there is no client and no file %q", arg), clientHint(arg)))
	} else if err != nil {
		return err
	}
	src := clients.Source{Path: path, Data: data, System: sys}
	for _, c := range clients.All() { // whose file it is by its place
		for _, place := range c.Project {
			if rest, ok := strings.CutSuffix(filepath.ToSlash(path), "/"+place); ok && src.Client == nil {
				src.Client, src.Project = &c, filepath.FromSlash(rest)
			}
		}
		if slices.Contains(sys.UserPaths(c), path) || src.Client == nil && ofClient(path, c) {
			src.Client, src.Project = &c, ""
		}
	}
	return g.read(src)
}

// ofClient reports whether a file is called as the client's alone is.
func ofClient(path string, c clients.Client) bool {
	for _, place := range c.User.Any {
		base := place[strings.LastIndexByte(place, '/')+1:]
		switch base {
		case "mcp.json", "settings.json", "config.toml", "config.yaml", "mcp_config.json":
		default:
			if base == filepath.Base(path) {
				return true
			}
		}
	}
	return false
}

// all reads the files of a client at a path, which may hold a *; those that are not there are passed over.
func (g *gathered) all(c clients.Client, sys clients.System, path, project string) {
	paths := []string{path}
	if strings.Contains(path, "*") {
		paths, _ = filepath.Glob(path) // the pattern is ours and right
	}
	for _, path := range paths {
		data, _, err := openfile.Read(path, document.MaxSettings)
		if errors.Is(err, fs.ErrNotExist) || slices.Contains(g.files, path) {
			continue
		}
		if err == nil && len(strings.TrimSpace(string(data))) == 0 {
			continue
		}
		if err == nil {
			err = g.read(clients.Source{Client: &c, Path: path, Data: data, Project: project, System: sys})
		}
		if err != nil {
			g.files = append(g.files, path)
			g.notes = append(g.notes, clients.Note{File: path, Message: "cannot be read: " + foreign.NewText(strings.TrimPrefix(err.Error(), path+":")).String()})
		}
	}
}

func (g *gathered) read(src clients.Source) error {
	entries, notes, err := clients.Read(src)
	if err != nil {
		return err
	}
	g.files = append(g.files, src.Path)
	g.entries = append(g.entries, entries...)
	g.notes = append(g.notes, notes...)
	if src.Client != nil {
		g.owner[src.Path] = src.Client.Name
	}
	return nil
}

// merged are the servers that the configuration does not have yet.
func (g *gathered) merged(i importing, ed *editing) []clients.Found {
	client := func(e clients.Entry) string { return g.owner[e.File] }
	boxes := ed.root.Get("toolboxes")
	server := func(box, name string) *document.Node {
		return boxes.Get(box).Get("mcpServers").Get(name)
	}
	var has []*document.Node
	for _, s := range ed.servers() {
		has = append(has, s.Value)
	}
	var choose func(clients.Entry) clients.Kind
	switch {
	case i.toolbox != "":
		choose = func(clients.Entry) clients.Kind { return ed.box(i.toolbox, clients.Kind{}, "") }
	case i.byClient:
		choose = func(e clients.Entry) clients.Kind {
			c, ok := clients.Find(client(e))
			if !ok {
				return clients.Kind{Name: "imported", Description: "Imported tools"}
			}
			return clients.Kind{Name: c.Name, Description: "Tools of " + c.Title}
		}
	}
	found := clients.Merge(g.entries, client, choose, func(box, name string, s clients.Server) bool {
		n := server(box, name)
		return n != nil && !same(n, node(s))
	})
	return slices.DeleteFunc(found, func(f clients.Found) bool {
		if found := node(f.Server); slices.ContainsFunc(has, func(n *document.Node) bool { return same(n, found) }) {
			return true
		}
		fault := ed.fault(f)
		if fault != "" {
			from := f.From[0]
			g.notes = append(g.notes, clients.Note{File: from.File, Line: from.Line, Server: foreign.NewName(from.Name).String(),
				Message: "left out, because it would not be valid: " + fault})
		}
		return fault != ""
	})
}

// node is a server as a configuration has it.
func node(s clients.Server) *document.Node {
	return document.ReadSettings("s.json", s.JSON(), new(document.Faults))
}

// same reports whether the entry of a configuration is the server that was found: both are started or reached in the
// same way. The toolbox, the name and all else in the entry may have been changed since it was imported.
func same(entry, found *document.Node) bool {
	for _, key := range []string{"command", "args", "env", "cwd", "url", "headers"} {
		if !alike(entry.Get(key), found.Get(key)) {
			return false
		}
	}
	return true
}

// alike reports whether a value of a configuration is the one that was found. A value that names a secret is: import
// advises to put one in place of a secret in clear.
func alike(entry, found *document.Node) bool {
	if entry == nil || found == nil {
		return entry == found
	}
	if entry.Kind == document.Text && strings.Contains(entry.Value, "${secret:") {
		return true
	}
	return entry.Kind == found.Kind && entry.Value == found.Value && slices.EqualFunc(entry.Items, found.Items, alike) &&
		len(entry.Members) == len(found.Members) && !slices.ContainsFunc(entry.Members, func(m document.Member) bool { return !alike(m.Value, found.Get(m.Key)) })
}

// fault says what would be wrong with a server in the configuration, or "".
func (ed *editing) fault(f clients.Found) string {
	name := document.Node{Kind: document.Text, Value: f.Name}
	text := fmt.Sprintf(`{"toolboxes": {"box": {"mcpServers": {%s: %s}}}}`, name.AppendJSON(nil), f.Server.JSON())
	_, err := config.Parse(filepath.Join(filepath.Dir(ed.path), config.FileName), []byte(text), ed.env.Lookup)
	var faults *config.Error
	if !errors.As(err, &faults) {
		return ""
	}
	fault := faults.Faults[0]
	text = strings.TrimPrefix(fault.Path, "toolboxes.box.mcpServers.") + ": " + fault.Message
	if fault.Hint != "" {
		text += " (" + fault.Hint + ")"
	}
	return text
}

// putAll adds servers, those of a new toolbox at once.
func (ed *editing) putAll(found []clients.Found) error {
	if len(found) > 0 {
		if err := ed.begin(); err != nil {
			return err
		}
	}
	for len(found) > 0 {
		box := found[0].Kind
		var rest []clients.Found
		var servers []document.Member
		for _, f := range found {
			if f.Kind.Name != box.Name {
				rest = append(rest, f)
				continue
			}
			servers = append(servers, document.Member{Key: f.Name, Value: node(f.Server)})
		}
		found = rest
		if ed.root.Get("toolboxes").Get(box.Name) == nil {
			made := document.Node{Kind: document.Object, Members: []document.Member{
				{Key: "description", Value: &document.Node{Kind: document.Text, Value: box.Description}},
				{Key: "mcpServers", Value: &document.Node{Kind: document.Object, Members: servers}},
			}}
			if err := ed.set(made.AppendJSON(nil), "toolboxes", box.Name); err != nil {
				return err
			}
			continue
		}
		for _, s := range servers {
			if err := ed.put(box, s.Key, s.Value.AppendJSON(nil)); err != nil {
				return err
			}
		}
	}
	return nil
}

// told are the notes of files and servers, those of secrets last.
func (g *gathered) told(found []clients.Found) []clients.Note {
	notes := slices.Clone(g.notes)
	for _, f := range found {
		notes = append(notes, f.Notes...)
	}
	slices.SortStableFunc(notes, func(a, b clients.Note) int {
		switch {
		case a.Secret == b.Secret:
			return 0
		case b.Secret:
			return -1
		}
		return 1
	})
	return notes
}

func (i importing) show(env *cli.Environment, g *gathered, found []clients.Found, path string) error {
	if len(g.files) == 0 {
		fmt.Fprintln(env.Out, env.Advice("no files of clients were found; workbench import FILE reads one, workbench add adds a server"))
		return nil
	}
	if len(found) > 0 {
		t := terminal.Table{Head: []string{"SERVER", "FROM", "RUNS"}, Most: 60}
		for _, f := range found {
			name := f.Kind.Name + "/" + foreign.NewName(f.Name).String()
			if f.Server.Disabled {
				name += " (disabled)"
			}
			t.Add(name, strings.Join(origins(f), ", "), f.Runs)
		}
		if err := env.Print(&t); err != nil {
			return err
		}
	}
	if notes := g.told(found); len(notes) > 0 {
		fmt.Fprintln(env.Out)
		for _, n := range notes {
			fmt.Fprintln(env.Out, n)
		}
		fmt.Fprintln(env.Out)
	}
	verb := "written to"
	switch {
	case len(found) == 0:
		fmt.Fprintf(env.Out, "nothing new in %s\n", terminal.Count(len(g.files), "file"))
		return nil
	case i.dryRun:
		verb = "not written to"
	}
	fmt.Fprintf(env.Out, "%s of %s in %s, %s %s\n", terminal.Count(len(found), "server"), terminal.CountVerb(len(g.entries), "entry", "entries"), terminal.Count(len(g.files), "file"), verb, path)
	if !i.dryRun {
		fmt.Fprintln(env.Err, env.Advice("workbench check checks them, workbench connect adds workbench to your clients, workbench undo undoes this."))
	}
	return nil
}

// origins are the clients, or files, that a server is from.
func origins(f clients.Found) []string {
	var from []string
	for _, o := range f.From {
		name := o.Client
		if name == "" {
			name = foreign.NewText(filepath.Base(o.File)).String()
		}
		if !slices.Contains(from, name) {
			from = append(from, name)
		}
	}
	return from
}

// json prints what was found; what is run is without secrets.
func (i importing) json(env *cli.Environment, g *gathered, found []clients.Found, path string) error {
	type server struct {
		Toolbox  string           `json:"toolbox"`
		Name     string           `json:"name"`
		Runs     string           `json:"runs"`
		Disabled bool             `json:"disabled,omitempty"`
		From     []clients.Origin `json:"from"`
	}
	doc := struct {
		Files   []string       `json:"files"`
		Servers []server       `json:"servers"`
		Notes   []clients.Note `json:"notes"`
		Written string         `json:"written,omitempty"`
	}{Files: append([]string{}, g.files...), Servers: []server{}, Notes: append([]clients.Note{}, g.told(found)...)}
	for _, f := range found {
		doc.Servers = append(doc.Servers, server{f.Kind.Name, f.Name, f.Runs, f.Server.Disabled, f.From})
	}
	if len(found) > 0 && !i.dryRun {
		doc.Written = path
	}
	return terminal.PrintJSON(env.Out, doc)
}
