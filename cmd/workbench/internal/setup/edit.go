// Package setup has the commands that change files which people keep: their configuration, and those of their clients.
package setup

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/amend"
	"github.com/mcp-workbench/workbench/internal/clients"
	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/userdir"
	"github.com/mcp-workbench/workbench/internal/versions"
)

// editing is a configuration that a command changes: the file that was named, or the user's own.
type editing struct {
	path string
	env  *cli.Environment
	data []byte // as it is, and as it becomes
	root *document.Node
}

// editPath is where the configuration is that commands change.
func editPath(e *cli.Environment) (string, error) {
	path := e.ConfigPath
	if path == "" {
		path, _ = e.Lookup("WORKBENCH_CONFIG")
	}
	if path == "" {
		path = config.UserFile(e.Lookup)
	}
	switch path {
	case "-":
		return "", cli.Usage(cli.Hint(errors.New("a configuration that is to be changed is a file"), "name it with --config; ./- is one of that name"))
	case "":
		return "", cli.Hint(fmt.Errorf("there is no place for a configuration: %w", userdir.ErrNone), "name a file with --config")
	}
	return cli.Abs(path)
}

// openVersions keeps what files were before commands changed them.
func openVersions(e *cli.Environment) (*versions.Versions, error) {
	dir, err := e.StateDir()
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("there is no place for earlier versions: %w", err), "set XDG_STATE_HOME to an absolute path")
	}
	return versions.New(filepath.Join(dir, "versions")), nil
}

// editFile changes the configuration, and leaves it alone where that would put a fault into it. Of those that it had it
// tells how many are left: it may be of no use with them.
func editFile(ctx context.Context, e *cli.Environment, change func(*editing) error) error {
	path, err := editPath(e)
	if err != nil {
		return err
	}
	kept, err := openVersions(e)
	if err != nil {
		return err
	}
	ed := &editing{path: path, env: e}
	err = kept.Change(ctx, path, func(old []byte) ([]byte, error) {
		ed.data = old
		if err := ed.read(); err != nil {
			return nil, err
		}
		if err := change(ed); err != nil {
			return nil, err
		}
		return ed.data, ed.checked(old)
	})
	if err != nil {
		return err
	}
	if n := len(ed.faults(ed.data)); n > 0 {
		fmt.Fprintf(e.Err, "%s has %s of its own; %s.\n", path, terminal.Count(n, "fault"), e.Advice("workbench check shows what is wrong"))
	}
	return nil
}

// changeServers changes the servers that are named in the configuration, and prints what was done.
func changeServers(ctx context.Context, e *cli.Environment, named []string, change func(ed *editing, box, name string) (done []string, err error)) error {
	var done []string
	err := editFile(ctx, e, func(ed *editing) error {
		for _, meant := range named {
			box, name, err := ed.find(meant)
			if err != nil {
				return err
			}
			lines, err := change(ed, box, name)
			if err != nil {
				return err
			}
			done = append(done, lines...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, line := range done {
		fmt.Fprintln(e.Out, line)
	}
	return nil
}

// read reads the text as it is now.
func (ed *editing) read() error {
	ed.root = &document.Node{Kind: document.Object}
	if len(strings.TrimSpace(string(ed.data))) == 0 {
		return nil
	}
	var faults document.Faults
	root := document.ReadSettings(ed.path, ed.data, &faults)
	if len(faults) > 0 {
		return cli.Hint(fmt.Errorf("%s:%d:%d: %s", ed.path, faults[0].Line, faults[0].Column, faults[0].Message), "correct the file first; workbench check shows all faults")
	}
	if root.Kind == document.Object {
		ed.root = root
	}
	return nil
}

// begin gives the user's own file, while it has nothing yet, what clients had without it: adding a server takes nothing
// away.
func (ed *editing) begin() error {
	if len(strings.TrimSpace(string(ed.data))) > 0 || ed.path != config.UserFile(ed.env.Lookup) {
		return nil
	}
	text := func(value string) *document.Node { return &document.Node{Kind: document.Text, Value: value} }
	object := func(members ...document.Member) *document.Node {
		return &document.Node{Kind: document.Object, Members: members}
	}
	for _, box := range config.Default().Toolboxes {
		servers := object()
		for _, s := range box.Servers {
			servers.Members = append(servers.Members, document.Member{Key: s.Name, Value: object(document.Member{Key: "builtin", Value: text(s.Builtin)})})
		}
		made := object(document.Member{Key: "description", Value: text(box.Description.String())}, document.Member{Key: "mcpServers", Value: servers})
		if err := ed.set(made.AppendJSON(nil), "toolboxes", box.Name); err != nil {
			return err
		}
	}
	return nil
}

// checked refuses a text with faults that the old one does not have.
func (ed *editing) checked(old []byte) error {
	had := map[string]bool{}
	for _, f := range ed.faults(old) {
		had[f.Path+f.Message] = true
	}
	for _, f := range ed.faults(ed.data) {
		if !had[f.Path+f.Message] {
			f.File, f.Line, f.Column = "the entry would not be valid", 0, 0
			return errors.New(f.String())
		}
	}
	return nil
}

// faults are those of a text of the file.
func (ed *editing) faults(data []byte) []config.Fault {
	_, err := config.Parse(ed.path, data, ed.env.Lookup)
	var faults *config.Error
	if errors.As(err, &faults) {
		return faults.Faults
	}
	return nil
}

// set puts a value into the file.
func (ed *editing) set(value []byte, keys ...string) error {
	if err := counts(keys...); err != nil {
		return err
	}
	return ed.became(amend.Set(ed.data, ed.at(keys...), value))
}

// counts refuses keys that workbench takes for comments.
func counts(keys ...string) error {
	for _, key := range keys {
		if isComment(key) {
			return cli.Usage(cli.Hint(fmt.Errorf("%q would be a comment: keys that begin with _ are", key), "give a name without the underscore in front"))
		}
	}
	return nil
}

func isComment(key string) bool { return strings.HasPrefix(key, "_") }

// remove takes a value out of the file.
func (ed *editing) remove(keys ...string) error {
	return ed.became(amend.Remove(ed.data, ed.at(keys...)))
}

func (ed *editing) at(keys ...string) amend.Place { return amend.Place{File: ed.path, Keys: keys} }

func (ed *editing) became(data []byte, err error) error {
	if err != nil {
		return err
	}
	ed.data = data
	return ed.read()
}

// put adds a server, or replaces it, and makes its toolbox if there is none.
func (ed *editing) put(box clients.Kind, name string, server []byte) error {
	if err := ed.begin(); err != nil {
		return err
	}
	if err := ed.makeBox(box); err != nil {
		return err
	}
	return ed.set(server, "toolboxes", box.Name, "mcpServers", name)
}

// makeBox makes a toolbox if there is none of the name.
func (ed *editing) makeBox(box clients.Kind) error {
	if ed.root.Get("toolboxes").Get(box.Name) != nil {
		return nil
	}
	text := document.Node{Kind: document.Text, Value: box.Description}
	return ed.set(text.AppendJSON(nil), "toolboxes", box.Name, "description")
}

// tidy takes a toolbox away that has no servers, and adds that to what was done.
func (ed *editing) tidy(box string, done []string) ([]string, error) {
	if servers := ed.root.Get("toolboxes").Get(box).Get("mcpServers"); servers != nil && len(servers.Members) > 0 {
		return done, nil
	}
	return append(done, fmt.Sprintf("%s: removed, because it has no servers", box)), ed.remove("toolboxes", box)
}

// servers gives all servers with the names of their toolboxes, without those in comments.
func (ed *editing) servers() iter.Seq2[string, document.Member] {
	return func(yield func(string, document.Member) bool) {
		boxes := ed.root.Get("toolboxes")
		if boxes == nil {
			return
		}
		for _, box := range boxes.Members {
			servers := box.Value.Get("mcpServers")
			if servers == nil || isComment(box.Key) {
				continue
			}
			for _, s := range servers.Members {
				if !isComment(s.Key) && !yield(box.Key, s) {
					return
				}
			}
		}
	}
}

// find returns the toolbox and the name of the server that is meant by NAME or TOOLBOX/NAME.
func (ed *editing) find(meant string) (box, name string, err error) {
	var found, all []string
	for b, s := range ed.servers() {
		full := b + "/" + s.Key
		all = append(all, full, s.Key)
		if meant == s.Key || meant == full {
			found = append(found, full)
			box, name = b, s.Key
		}
	}
	switch {
	case len(found) == 1:
		return box, name, nil
	case len(found) > 1:
		return "", "", cli.Usage(cli.Hint(fmt.Errorf("%q is the name of several servers", meant), "write one of "+strings.Join(found, ", ")))
	}
	hint := "the configuration has no servers yet: workbench add"
	if len(all) > 0 {
		full := slices.DeleteFunc(slices.Clone(all), func(n string) bool { return !strings.Contains(n, "/") })
		hint = "its servers are " + strings.Join(full[:min(len(full), 20)], ", ")
	}
	return "", "", cli.Usage(cli.Hint(fmt.Errorf("there is no server %q in %s", meant, ed.path), nearest.Hint(meant, all, hint)))
}

// box returns the toolbox of that name with its description, as it is or as it would be made.
func (ed *editing) box(name string, kind clients.Kind, description string) clients.Kind {
	if name != "" && name != kind.Name {
		kind = clients.Kind{Name: name, Description: "Tools of " + name}
	}
	if description != "" {
		kind.Description = description
		if ed.root.Get("toolboxes").Get(kind.Name) != nil {
			ed.env.Warn(fmt.Sprintf("--description is for a new toolbox: %s keeps its own", foreign.NewName(kind.Name)))
		}
	}
	return kind
}
