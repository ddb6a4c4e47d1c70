package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/tokenfile"
	"github.com/mcp-workbench/workbench/internal/amend"
	"github.com/mcp-workbench/workbench/internal/clients"
	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/userdir"
)

// connecting is what the flags of connect say.
type connecting struct {
	url, token  string
	yes, dryRun bool
}

func Connect(env *cli.Environment) *cobra.Command {
	var c connecting
	cmd := &cobra.Command{
		Use:   "connect [CLIENT]…",
		Short: "Add workbench to the files of MCP clients",
		Long: `Connect writes the one entry of workbench into the files of MCP clients: those that
are named, or all whose files exist. It shows the changes and asks first. The rest of
a file stays as it is. workbench disconnect removes the entry again, and workbench
undo FILE restores the earlier file.

The entry starts this program by its full path, with the --config of this call if
there is one, and names the variables that the configuration wants, for clients that
would not pass them on. With --http it has the address and a token of the gateway that
workbench serve --http runs.

The servers that a client already has stay in its file; workbench import copies them.`,
		Example: `  workbench connect
  workbench connect claude-code cursor
  workbench connect vscode --http http://127.0.0.1:7777/mcp`,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), env, args) },
		ValidArgsFunction: completeClients,
	}
	f := cmd.Flags()
	f.StringVar(&c.url, "http", "", "write the `address` of a gateway instead of a program")
	f.StringVar(&c.token, "token", "", "the `token` for it, as workbench token create makes them (default: that of workbench token)")
	f.BoolVar(&c.dryRun, "dry-run", false, "show the changes, and write nothing")
	f.BoolVarP(&c.yes, "yes", "y", false, "do not ask")
	return cmd
}

// written is the file of a client that is to be changed.
type written struct {
	client   clients.Client
	path     string
	old, new []byte
}

func (c connecting) run(ctx context.Context, env *cli.Environment, args []string) error {
	own, err := c.own(env)
	if err != nil {
		return err
	}
	chosen, err := chosen(env, args)
	if err != nil {
		return err
	}
	var todo []written
	for _, w := range chosen {
		entry, same := w.client.OwnEntry(own), false
		switch {
		case entry == nil:
			err = cli.Hint(errors.New("an address cannot be written into its file"), "connect it without --http, or use the settings of the client")
		default:
			same, err = w.set(entry)
		}
		if err != nil {
			if err := leftOut(env, w.client, err, len(args) > 0); err != nil {
				return err
			}
			continue
		}
		if same {
			fmt.Fprintf(env.Out, "%s: connected already (%s)\n", w.client.Title, cli.Shown(w.path))
			continue
		}
		todo = append(todo, w)
	}
	if err := rewriteFiles(ctx, env, todo, c.dryRun, c.yes); err != nil || c.dryRun {
		return err
	}
	for _, w := range todo {
		fmt.Fprintf(env.Out, "%s: connected (%s)\n", w.client.Title, cli.Shown(w.path))
		if own.URL != "" && w.client.Form.TokenVar != "" {
			token := "the output of workbench token"
			if c.token != "" {
				token = "the token of this call"
			}
			fmt.Fprintf(env.Err, "%s reads the token from the variable %s: set it to %s.\n", w.client.Title, clients.TokenVariable, token)
		} else if _, info, err := openfile.Read(w.path, document.MaxSettings); own.URL != "" && err == nil && !openfile.Private(info) {
			env.Warn(fmt.Sprintf("%s holds the token, and others can read the file: chmod 600 %s", w.path, shellword.Word(w.path)))
		}
	}
	if len(todo) > 0 {
		fmt.Fprintln(env.Err, "Restart the clients so that they see it; workbench disconnect undoes it.")
	}
	return nil
}

// set makes the text with the entry. Same reports whether the entry is there already, perhaps written in another way.
func (w *written) set(entry []byte) (same bool, err error) {
	at, own := w.client.OwnPlace(w.path, w.old)
	has, err := amend.Get(w.old, at)
	if err != nil {
		return false, err
	}
	if has != nil && !own {
		return false, cli.Hint(fmt.Errorf("%s:%d: it has another server that is called %q", cli.Shown(w.path), has.Line, clients.OwnName), "rename that server, then connect again")
	}
	if has != nil && string(has.AppendJSON(nil)) == string(entry) {
		return true, nil
	}
	w.new, err = amend.Set(w.old, at, entry)
	return bytes.Equal(w.old, w.new), err
}

// leftOut is the error of a client whose file cannot be changed: of one that was named it ends the command, of others
// it is told.
func leftOut(env *cli.Environment, c clients.Client, err error, named bool) error {
	if named {
		return cli.Hint(fmt.Errorf("%s: %w", c.Title, foreign.NewError(err)), cli.HintOf(err))
	}
	fmt.Fprintf(env.Err, "%s: left out: %v\n", c.Title, foreign.NewError(err))
	return nil
}

// own is how clients are to reach this workbench.
func (c connecting) own(env *cli.Environment) (clients.Own, error) {
	if c.url == "" {
		if c.token != "" {
			return clients.Own{}, cli.Usage(cli.Hint(errors.New("--token: an entry without --http has no token"), "add --http with the address of the gateway"))
		}
		own := clients.Own{Command: programPath(env), Args: []string{"serve"}, Env: places(env), Needs: env.Needs()}
		if _, set := env.Lookup("XDG_RUNTIME_DIR"); set { // the unlocked key of the secrets is there
			own.Needs = append(own.Needs, clients.Need{Name: "XDG_RUNTIME_DIR", Set: true})
		}
		named := env.ConfigPath
		if named == "" {
			named, _ = env.Lookup("WORKBENCH_CONFIG")
		}
		if named != "" {
			path, err := cli.Abs(named)
			if err != nil {
				return clients.Own{}, err
			}
			own.Args = []string{"serve", "--config", path}
		}
		return own, nil
	}
	if u, err := url.Parse(c.url); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return clients.Own{}, cli.Usage(cli.Hint(fmt.Errorf("--http: %q is no address", c.url), "as in --http http://127.0.0.1:7777/mcp"))
	}
	own := clients.Own{URL: c.url, Token: c.token}
	if own.Token == "" {
		path, err := tokenfile.Path(env, "")
		if err != nil {
			return own, err
		}
		if own.Token, err = tokenfile.Load(path); err != nil {
			return own, err
		}
	}
	return own, nil
}

// places are the variables that say where this workbench finds its configuration and its secrets, where that is not the
// usual place: many clients keep them from the programs that they start, and desktops do not have them.
func places(e *cli.Environment) (env clients.Pairs) {
	home := userdir.Home(e.Lookup)
	for name, usual := range map[string]string{"XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state", "WORKBENCH_SECRETS_KEY": ".local/state/workbench/secrets.key"} {
		value, _ := e.Lookup(name)
		if filepath.IsAbs(value) && filepath.Clean(value) != filepath.Join(home, filepath.FromSlash(usual)) {
			env = append(env, clients.Pair{Key: name, Value: value})
		}
	}
	slices.SortFunc(env, func(a, b clients.Pair) int { return strings.Compare(a.Key, b.Key) })
	return env
}

// programPath is the path of this program: the one in PATH where that is it, since that stays when a newer version
// comes.
func programPath(e *cli.Environment) string {
	if found, err := exec.LookPath("workbench"); err == nil {
		if found, err = cli.Abs(found); err == nil && cli.IsSameFile(found, e.Program) {
			return found
		}
	}
	return e.Program
}

// chosen are the files of the clients that are named, or of all that have one.
func chosen(e *cli.Environment, args []string) ([]written, error) {
	sys := clients.System{GOOS: runtime.GOOS, Lookup: e.Lookup}
	for _, arg := range args {
		if _, known := clients.Find(arg); !known {
			return nil, cli.Usage(cli.Hint(fmt.Errorf("there is no client %q", arg), clientHint(arg)))
		}
	}
	var all []written
	for _, c := range clients.All() {
		if len(args) > 0 && !slices.Contains(args, c.Name) {
			continue
		}
		w, err := fileOf(c, sys.UserPaths(c))
		switch {
		case err != nil:
			if err := leftOut(e, c, err, len(args) > 0); err != nil {
				return nil, err
			}
		case w.path == "":
			return nil, cli.Hint(fmt.Errorf("there is no place for the file of %s: %w", c.Title, userdir.ErrNone), "set it")
		case w.old != nil || len(args) > 0:
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return nil, cli.Hint(errors.New("no files of clients were found"), "name a client, as in workbench connect claude-code")
	}
	return all, nil
}

// fileOf is the file of a client that is written: the first that is there, or else the first.
func fileOf(c clients.Client, paths []string) (written, error) {
	w := written{client: c}
	for _, path := range paths {
		if strings.Contains(path, "*") {
			continue
		}
		data, _, err := openfile.Read(path, document.MaxSettings)
		switch {
		case err == nil:
			return written{client: c, path: path, old: append([]byte{}, data...)}, nil
		case !errors.Is(err, fs.ErrNotExist):
			return w, err
		case w.path == "":
			w.path = path
		}
	}
	return w, nil
}

// longLine is from how many bytes on a line is shown around what is different in it alone: a client may write all that
// it keeps, tokens and history included, into one line.
const (
	longLine   = 160
	aroundLine = 24 // how many bytes are shown before and after that
)

// changedLines returns the lines that are gone, behind a -, and those that are new, behind a +, without the secrets of
// either text. The name decides the language of both.
func changedLines(name string, old, changed []byte) (lines []string) {
	showOld, showNew := strings.Split(mask.Settings(name, old), "\n"), strings.Split(mask.Settings(name, changed), "\n")
	show := func(sign string, of []string, number int) {
		if 0 < number && number <= len(of) { // 0 is a line of the head
			lines = append(lines, sign+strings.TrimRight(of[number-1], "\r"))
		}
	}
	a, b := 0, 0 // the numbers of the next lines
	for line := range bytes.Lines(diff.Diff("a", old, "b", changed)) {
		switch line[0] {
		case '@':
			_, _ = fmt.Sscanf(string(line), "@@ -%d,%d +%d,%d", &a, new(int), &b, new(int))
		case '-':
			show("-", showOld, a)
			a++
		case '+':
			show("+", showNew, b)
			b++
		case ' ':
			a, b = a+1, b+1
		}
	}
	for i := range lines {
		if i+1 < len(lines) && lines[i][0] == '-' && lines[i+1][0] == '+' && max(len(lines[i]), len(lines[i+1])) > longLine {
			lines[i], lines[i+1] = different(lines[i], lines[i+1])
		}
	}
	return lines
}

// different leaves out of two lines what both begin and end with, but for a little. The first byte is not compared.
func different(a, b string) (string, string) {
	most := min(len(a), len(b)) - 1
	front := 0
	for front < most && a[1+front] == b[1+front] {
		front++
	}
	back := 0
	for back < most-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	cut := func(text string) string {
		from, to := 1+max(0, front-aroundLine), len(text)-max(0, back-aroundLine)
		begin, end := "", ""
		if from > 1 {
			begin = "…"
		}
		if to < len(text) {
			end = "…"
		}
		return text[:1] + begin + strings.ToValidUTF8(text[from:to], "") + end
	}
	return cut(a), cut(b)
}

// rewriteFiles shows what will be different, asks, and writes.
func rewriteFiles(ctx context.Context, e *cli.Environment, todo []written, dryRun, yes bool) error {
	for _, w := range todo {
		fmt.Fprintf(e.Out, "%s\n", cli.Shown(w.path))
		for _, text := range changedLines("file."+strings.ToLower(string(w.client.Format)), w.old, w.new) {
			fmt.Fprintln(e.Out, "  "+foreign.Block(text))
		}
	}
	if len(todo) == 0 || dryRun {
		return nil
	}
	if !yes {
		if err := e.Agreed(ctx, "Write this?"); err != nil {
			return err
		}
	}
	kept, err := openVersions(e)
	if err != nil {
		return err
	}
	for _, w := range todo {
		err := kept.Change(ctx, w.path, func(old []byte) ([]byte, error) {
			if !bytes.Equal(old, w.old) {
				return nil, cli.Hint(fmt.Errorf("%s was changed meanwhile", w.path), "do it again")
			}
			return w.new, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
