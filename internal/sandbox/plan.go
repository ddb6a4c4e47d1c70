package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

// Request is what one program is started as, and what its user allows.
type Request struct {
	Program string   // the file that is run
	Args    []string // its arguments
	Dir     string   // its working directory
	Env     []string // its environment, KEY=VALUE
	Home    string   // the user's; no folder that it lies in is opened by what follows from a program
	Own     string   // a folder of the program's own, for its home and its temporary files

	Workspace   bool     // it may change its working directory
	Read, Write []string // what it may read, and change, besides
	Network     bool
	To          []string // without Network: "host:port", where it may connect to; a host is * for all
}

// Plan is what is made of a Request.
type Plan struct {
	Rules Rules
	Env   []string // the environment with the folders of its own
	// Beyond says which parts of the request rules cannot hold on any system.
	Beyond []string
}

// NewPlan makes the rules that a request comes to, by what is in the file system now. It changes nothing.
func NewPlan(q Request) (*Plan, error) {
	p := &Plan{Rules: Rules{Network: q.Network}}
	for _, to := range q.To {
		port, beyond, err := destination(to)
		if err != nil {
			return nil, err
		}
		p.Rules.Ports = append(p.Rules.Ports, port)
		if beyond != "" {
			p.Beyond = append(p.Beyond, beyond)
		}
	}
	if len(p.Rules.Ports) > 0 && !q.Network {
		p.Rules.Ports = append(p.Rules.Ports, dns)
		slices.Sort(p.Rules.Ports)
		p.Rules.Ports = slices.Compact(p.Rules.Ports)
	}
	if q.Workspace && q.tooWide(q.Dir) {
		return nil, fmt.Errorf("the sandbox would let the server change %s with all that is in it; give it a working directory of its own by \"cwd\"", q.Dir)
	}
	for _, path := range slices.Concat(q.Read, q.Write) {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("the path %s of the sandbox: %w", path, reason(err))
		}
		if info.Mode().Type() == os.ModeSocket {
			p.Rules.Unix = true
		}
	}
	write := append(slices.Clone(q.Write), q.Own)
	if q.Workspace {
		write = append(write, q.Dir)
	}
	read := slices.Concat(q.Read, existing(systemFiles()), existing(q.runtime()))
	p.Rules.Write = tidy(append(resolved(write), devices()...))
	p.Rules.Read = tidy(resolved(read), p.Rules.Write...)
	p.Env = q.environment(len(p.Rules.Ports) > 0 && !q.Network)
	return p, nil
}

// dns is the port of name servers.
const dns = 53

// destination reads "host:port". beyond says what of it cannot be enforced.
func destination(to string) (port uint16, beyond string, err error) {
	// As net.SplitHostPort does, but see package guardian.
	at := strings.LastIndexByte(to, ':')
	host, text := to[:max(0, at)], to[at+1:]
	if bracketed := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]"); at < 0 || strings.Contains(host, ":") && !bracketed {
		return 0, "", fmt.Errorf("want host:port in network, got %q", to)
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, "", fmt.Errorf("want a port from 1 to 65535 in network, got %q", to)
	}
	if host != "*" && host != "" {
		beyond = fmt.Sprintf("the host of %q in network: connections are told apart by port alone; write \"*:%d\"", to, n)
	}
	return uint16(n), beyond, nil
}

// reason takes the path out of an error that the words around it name.
func reason(err error) error {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}

// Prepare makes the folders that are the program's own.
func (q Request) Prepare() error {
	for _, folder := range []string{q.home(), q.temporary()} {
		if err := openfile.MakeFolder(folder, 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (q Request) home() string      { return filepath.Join(q.Own, "home") }
func (q Request) temporary() string { return filepath.Join(q.Own, "tmp") }

// environment puts folders of its own in place of those of the user.
func (q Request) environment(byPort bool) []string {
	env := slices.DeleteFunc(slices.Clone(q.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"}, name)
	})
	env = append(env, "HOME="+q.home(), "TMPDIR="+q.temporary())
	if byPort {
		env = append(env, "RES_OPTIONS=use-vc") // names are looked up over TCP, whose ports can be told apart
	}
	return env
}

// runtime is what the program needs for running: itself, what it interprets, and the folders of its PATH with the
// libraries beside them.
func (q Request) runtime() []string {
	var paths []string
	folders := []string{filepath.Dir(q.Program)}
	for _, kv := range q.Env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			folders = append(folders, filepath.SplitList(list)...)
		}
	}
	if real, err := filepath.EvalSymlinks(q.Program); err == nil {
		folders = append(folders, filepath.Dir(real))
	}
	for _, folder := range folders {
		if !filepath.IsAbs(folder) || q.tooWide(folder) {
			continue
		}
		paths = append(paths, folder)
		if prefix := filepath.Dir(folder); filepath.Base(folder) == "bin" && !q.tooWide(prefix) {
			for _, name := range []string{"lib", "lib64", "libexec", "pyvenv.cfg"} {
				paths = append(paths, filepath.Join(prefix, name))
			}
		}
	}
	paths = append(paths, q.Program)
	for _, file := range append([]string{q.Program}, q.Args...) {
		paths = append(paths, q.scriptOf(file)...)
	}
	if q.Home != "" {
		for _, name := range managers() {
			paths = append(paths, filepath.Join(q.Home, name))
		}
	}
	return paths
}

// scriptOf returns what belongs to a file that is run: the package that it is in, and the interpreter in its first
// line.
func (q Request) scriptOf(file string) []string {
	if file == "" || strings.HasPrefix(file, "-") {
		return nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(q.Dir, file)
	}
	file, err := filepath.EvalSymlinks(file)
	if err != nil {
		return nil
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	paths := []string{file}
	if interpreter := firstLine(file); interpreter != "" {
		paths = append(paths, interpreter)
	}
	folder := filepath.Dir(file)
	if before, _, ok := strings.Cut(file, "/node_modules/"); ok {
		folder = before + "/node_modules"
	} else {
		for at := folder; !q.tooWide(at); at = filepath.Dir(at) {
			if slices.ContainsFunc([]string{"package.json", "pyproject.toml", "setup.py"}, func(name string) bool {
				_, err := os.Stat(filepath.Join(at, name))
				return err == nil
			}) {
				folder = at
				break
			}
		}
	}
	if !q.tooWide(folder) {
		paths = append(paths, folder)
	}
	return paths
}

// firstLine returns the interpreter that a script names.
func firstLine(file string) string {
	f, _, err := openfile.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 512)).ReadString('\n')
	rest, ok := strings.CutPrefix(line, "#!")
	words := strings.Fields(rest)
	if !ok || len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	return words[0]
}

// tooWide reports whether a folder is one that nobody meant by naming a program in it: the root, the home of the user,
// or one that holds these.
func (q Request) tooWide(folder string) bool {
	folder = filepath.Clean(folder)
	if folder == "/" || folder == filepath.Dir(folder) {
		return true
	}
	for _, home := range []string{q.Home, os.TempDir()} {
		if home != "" && (folder == home || strings.HasPrefix(home, folder+string(filepath.Separator))) {
			return true
		}
	}
	return q.Home != "" && slices.Contains([]string{".local", ".config", ".cache", ".ssh"}, strings.TrimPrefix(folder, q.Home+"/"))
}

// managers are the folders in a home where interpreters are installed.
func managers() []string {
	return []string{
		".nvm/versions", ".nvm/alias", ".volta", ".fnm", ".local/share/fnm", ".asdf", ".local/share/mise", ".local/share/uv", ".local/share/pipx",
		".pyenv", ".rbenv", ".bun/bin", ".deno/bin", ".cargo/bin", ".rustup/toolchains", "go/bin",
	}
}

// resolved gives the paths that links lead to.
func resolved(paths []string) []string {
	var all []string
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		all = append(all, filepath.Clean(path))
	}
	return all
}

// existing leaves out the paths that are not there.
func existing(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}
