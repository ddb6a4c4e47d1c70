package setup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/published"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// publishing is what the flags say of a server that somebody has published.
type publishing struct {
	set []string
	as  string
	yes bool
}

// fetchTime bounds what is asked of a registry.
const fetchTime = 2 * time.Minute

func (p *publishing) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&p.set, "set", nil, "an input that a published server asks for, as `KEY=VALUE`; may be given more than once")
	f.StringVar(&p.as, "as", "", "which `kind` of package to use: npm, pypi, oci, nuget, mcpb or remote")
	f.BoolVar(&p.yes, "yes", false, "do not ask before a published server is added")
}

// unused refuses the flags that are about published servers, of one that is none.
func (p *publishing) unused() error {
	flag := ""
	switch {
	case len(p.set) > 0:
		flag = "--set"
	case p.as != "":
		flag = "--as"
	default:
		return nil
	}
	return cli.Usage(cli.Hint(fmt.Errorf("%s is for a server of the registry, or a bundle", flag), "leave it out, or name the server as registry:SERVER"))
}

const registryPrefix = "registry:"

func isPublished(args []string, dash int) bool {
	return dash < 0 && len(args) <= 2 && (strings.HasPrefix(args[0], registryPrefix) || isBundle(args[0]))
}

func isBundle(name string) bool {
	return slices.Contains([]string{".mcpb", ".dxt"}, strings.ToLower(filepath.Ext(name)))
}

// offer is a published server that was found: its entry, and its bundle if it is one.
type offer struct {
	published.Entry
	bundle *published.Bundle
	dir    string // where the bundle goes
	told   []string
}

// publish enters a server of the registry, or a bundle.
func (a adding) publish(ctx context.Context, env *cli.Environment, args []string) error {
	values := published.Values{}
	for _, text := range a.published.set {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return cli.Usage(cli.Hint(errors.New("--set: want KEY=VALUE"), "as in --set city=Berlin"))
		}
		values[key] = value
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	var got offer
	var err error
	if name, ok := strings.CutPrefix(args[0], registryPrefix); ok {
		got, err = a.registered(ctx, env, name, values)
	} else {
		got, err = bundled(env, args[0], values)
	}
	if input := new(*published.InputError); errors.As(err, input) {
		return cli.Usage(cli.Hint(err, "an input is given with --set NAME=VALUE"))
	}
	if err != nil {
		return err
	}
	if len(args) == 2 {
		got.Name = args[1]
	}
	if err := a.complete(&got.Server); err != nil {
		return err
	}
	got.show(env)
	if !a.published.yes {
		if err := env.Agreed(ctx, "Add it?"); err != nil {
			return err
		}
	}
	if got.bundle != nil {
		if err := got.unpack(); err != nil {
			return fmt.Errorf("the bundle cannot be unpacked: %w", err)
		}
	}
	return a.enter(ctx, env, got.Name, got.Server)
}

// show says what is going to be run or reached.
func (g *offer) show(env *cli.Environment) {
	for _, line := range g.told {
		fmt.Fprintln(env.Out, foreign.NewText(line))
	}
	what := "it runs"
	if g.Server.URL != "" {
		what = "it is reached at"
	}
	fmt.Fprintf(env.Out, "%s: %s\n", what, g.Server.Summary())
	masked := g.Server.Masked()
	for _, pair := range masked.Env {
		fmt.Fprintf(env.Out, "  with %s=%s\n", foreign.NewName(pair.Key), foreign.NewText(pair.Value))
	}
	for _, pair := range masked.Headers {
		fmt.Fprintf(env.Out, "  with the header %s: %s\n", foreign.NewName(pair.Key), foreign.NewText(pair.Value))
	}
	for _, note := range g.Notes {
		fmt.Fprintf(env.Err, "workbench: note: %s\n", foreign.NewText(note))
	}
}

// registered finds a server in the registry, and the way to take.
func (a adding) registered(ctx context.Context, env *cli.Environment, name string, values published.Values) (offer, error) {
	registry := published.Registry{Base: published.Official, HTTP: remote.Client(env.Environ)}
	if base, ok := env.Lookup("WORKBENCH_REGISTRY"); ok && base != "" {
		registry.Base = base
	}
	name, version, _ := strings.Cut(name, "@")
	if name == "" {
		return offer{}, cli.Usage(cli.Hint(errors.New("want the name of a server"), "as in workbench add registry:io.github.example/weather"))
	}
	d, note, err := registry.Find(ctx, name, version)
	if unknown := new(*published.UnknownError); errors.As(err, unknown) {
		hint := "workbench add NAME -- COMMAND enters a server that is not in the registry"
		if like := (*unknown).Like; len(like) > 0 {
			hint = "the registry has " + strings.Join(like, ", ")
		}
		return offer{}, cli.Usage(cli.Hint(err, hint))
	}
	if err != nil {
		return offer{}, cli.Hint(err, "the registry is "+foreign.NewText(registry.Base).String()+"; WORKBENCH_REGISTRY names another")
	}
	way, err := a.way(d.Ways())
	if err != nil {
		return offer{}, err
	}
	told := []string{fmt.Sprintf("%s %s: %s", d.Name, d.Version, d.Description)}
	if note != "" {
		told = append(told, note)
	}
	if way.Kind == "mcpb" {
		data, err := registry.Fetch(ctx, way)
		if err != nil {
			return offer{}, err
		}
		got, err := opened(env, data, values)
		got.told = told
		return got, err
	}
	entry, err := d.Entry(way, values)
	return offer{Entry: entry, told: told}, err
}

// way chooses how to start a server: as was asked for, else the first way whose program is installed.
func (a adding) way(ways []published.Way) (published.Way, error) {
	var kinds, wanting []string
	for _, w := range ways {
		kinds = append(kinds, w.Kind)
		if a.published.as != "" {
			if w.Kind == a.published.as {
				return w, nil
			}
			continue
		}
		if _, err := exec.LookPath(w.Program); w.Program == "" || err == nil {
			return w, nil
		}
		wanting = append(wanting, w.Program)
	}
	switch {
	case len(ways) == 0:
		return published.Way{}, errors.New("it has no package or address that workbench can use")
	case a.published.as != "":
		return published.Way{}, cli.Usage(cli.Hint(fmt.Errorf("--as: it is not published as %q", a.published.as), "it is as "+strings.Join(kinds, ", ")))
	}
	return published.Way{}, cli.Hint(fmt.Errorf("none of the programs that could run it is installed (%s)", strings.Join(wanting, ", ")), "install one, or choose another with --as "+kinds[0])
}

// bundled reads a bundle from a file.
func bundled(env *cli.Environment, path string, values published.Values) (offer, error) {
	data, _, err := openfile.Read(path, published.MaxBundle)
	if err != nil {
		return offer{}, err
	}
	return opened(env, data, values)
}

func opened(env *cli.Environment, data []byte, values published.Values) (offer, error) {
	b, err := published.Open(data)
	if err != nil {
		return offer{}, err
	}
	state, err := env.StateDir()
	if err != nil {
		return offer{}, err
	}
	folder, err := b.Folder()
	if err != nil {
		return offer{}, err
	}
	got := offer{bundle: b, dir: filepath.Join(state, "bundles", folder), told: []string{b.String()}}
	got.Entry, err = b.Entry(got.dir, runtime.GOOS, values)
	return got, err
}

// unpack puts the bundle in its place, whole or not at all; the same content may be there already.
func (g *offer) unpack() error {
	if _, err := os.Stat(g.dir); err == nil {
		return nil
	}
	draft := filepath.Join(filepath.Dir(g.dir), openfile.Prefix+rand.Text())
	if err := openfile.MakeFolder(draft, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(draft) // unless it was renamed
	if err := g.bundle.Unpack(draft); err != nil {
		return err
	}
	if err := openfile.Settle(draft); err != nil {
		return err
	}
	if err := openfile.Move(draft, g.dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
