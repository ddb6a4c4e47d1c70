package published

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/clients"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// Bounds of a bundle that is unpacked.
const (
	maxFiles    = 50_000
	maxUnpacked = 1 << 30
)

// manifestName is where a bundle says what it is.
const manifestName = "manifest.json"

// Bundle is an MCP bundle (.mcpb): a server with all that it needs but its interpreter.
type Bundle struct {
	manifest manifest
	files    *zip.Reader
	digest   string
}

type manifest struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Server      struct {
		Type  string `json:"type"`
		Entry string `json:"entry_point"`
		Run   struct {
			command
			Platforms map[string]command `json:"platform_overrides"`
		} `json:"mcp_config"`
	} `json:"server"`
	Inputs        map[string]option `json:"user_config"`
	Compatibility struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
}

type command struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// option is what a bundle asks its user for.
type option struct {
	Title    string          `json:"title"`
	Required bool            `json:"required"`
	Default  json.RawMessage `json:"default"`
	Multiple bool            `json:"multiple"`
	Secret   bool            `json:"sensitive"`
}

// Open reads what a bundle says of itself.
func Open(data []byte) (*Bundle, error) {
	files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("it is not an MCP bundle: %w", foreign.NewError(err))
	}
	sum := sha256.Sum256(data)
	b := &Bundle{files: files, digest: hex.EncodeToString(sum[:6])}
	f, err := files.Open(manifestName)
	if err != nil {
		return nil, errors.New("it is not an MCP bundle: it has no manifest.json")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDocument))
	if err == nil {
		err = json.Unmarshal(text, &b.manifest)
	}
	if err != nil {
		return nil, fmt.Errorf("its manifest.json cannot be read: %w", foreign.Misread(err, &b.manifest))
	}
	return b, nil
}

// Folder is the name of a folder for this content.
func (b *Bundle) Folder() (string, error) {
	name, err := short(b.manifest.Name)
	return name + "-" + b.digest, err
}

// Entry makes an entry of a bundle that is to be unpacked in a folder, for a system as Go calls it.
func (b *Bundle) Entry(dir, system string, given Values) (Entry, error) {
	m := b.manifest
	name, err := short(m.Name)
	if err != nil {
		return Entry{}, err
	}
	platform := cmp.Or(map[string]string{"windows": "win32"}[system], system)
	if list := m.Compatibility.Platforms; len(list) > 0 && !slices.Contains(list, platform) {
		return Entry{}, fmt.Errorf("it is made for %s, not for %s", foreign.NewText(strings.Join(list, ", ")), platform)
	}
	run := m.Server.Run.command
	if other, ok := m.Server.Run.Platforms[platform]; ok {
		run = other.over(run)
	}
	if run.Command == "" {
		run = b.usual()
	}
	s := newSettings(given)
	place := places{dir, s, m.Inputs}
	if entry := slashed(m.Server.Entry); entry != "" && !filepath.IsLocal(filepath.FromSlash(entry)) {
		return Entry{}, fmt.Errorf("its entry point %q leads out of it", foreign.NewName(m.Server.Entry))
	}
	e := Entry{Name: name, Server: clients.Server{Description: m.Name + " " + m.Version, Cwd: dir}}
	if e.Server.Command, err = b.program(run.Command, place); err != nil {
		return Entry{}, err
	}
	if m.Server.Type == "binary" && system == "windows" && path.Ext(run.Command) == "" {
		e.Server.Command += ".exe"
	}
	for _, arg := range run.Args {
		for _, word := range place.words(arg) {
			e.Server.Args = append(e.Server.Args, written(word))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(run.Env)) {
		if text := place.text(run.Env[key]); text != "" {
			e.Server.Env.Set(key, written(text))
		}
	}
	err = s.err()
	e.Notes = s.notes
	return e, err
}

// program gives the program of a command: a file of the bundle, one that PATH has, or one that its user has chosen. Any
// other, such as ../../bin/sh, is none that a bundle needs.
func (b *Bundle) program(named string, place places) (string, error) {
	key, chosen := strings.CutPrefix(strings.TrimSuffix(named, "}"), "${user_config.")
	if _, given := place.s.given[key]; chosen && given {
		return written(place.text(named)), nil
	}
	file, inside := strings.CutPrefix(slashed(named), "${__dirname}/")
	inside = inside || strings.Contains(file, "/") || b.has(file)
	switch {
	case strings.Contains(file, "${"), file == ".", file == "..", inside && !filepath.IsLocal(filepath.FromSlash(file)):
		return "", fmt.Errorf("its command %q is neither a file in it nor the name of a program", foreign.NewName(named))
	case inside:
		return written(filepath.Join(place.dir, filepath.FromSlash(file))), nil
	}
	return file, nil
}

// slashed gives a path of a manifest with slashes.
func slashed(path string) string {
	return strings.NewReplacer(`\`, "/", "${/}", "/", "${pathSeparator}", "/").Replace(path)
}

func (b *Bundle) has(file string) bool {
	return slices.ContainsFunc(b.files.File, func(f *zip.File) bool { return f.Name == file })
}

// usual is how a server is started whose manifest does not say it.
func (b *Bundle) usual() command {
	entry := "${__dirname}/" + b.manifest.Server.Entry
	switch b.manifest.Server.Type {
	case "node":
		return command{Command: "node", Args: []string{entry}}
	case "python":
		return command{Command: "python3", Args: []string{entry}}
	case "uv":
		return command{Command: "uv", Args: []string{"run", "--directory", "${__dirname}", b.manifest.Server.Entry}}
	}
	return command{Command: entry}
}

func (c command) over(base command) command {
	base.Command = cmp.Or(c.Command, base.Command)
	if c.Args != nil {
		base.Args = c.Args
	}
	env := maps.Clone(base.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, c.Env)
	base.Env = env
	return base
}

// places are what stands for the variables of a manifest.
type places struct {
	dir     string
	s       *settings
	options map[string]option
}

// slotOf is a variable of a manifest.
var slotOf = regexp.MustCompile(`\$\{([^{}]*)\}`)

// words are those of an argument, several if it is an input that may have several values.
func (p places) words(arg string) []string {
	key, whole := strings.CutPrefix(strings.TrimSuffix(arg, "}"), "${user_config.")
	if o, ok := p.options[key]; whole && ok {
		return p.values(key, o)
	}
	return []string{p.text(arg)}
}

// text puts the values of variables into a text, which is to be written.
func (p places) text(text string) string {
	return slotOf.ReplaceAllStringFunc(theirs(text), func(found string) string {
		name := found[2 : len(found)-1]
		switch name {
		case "__dirname":
			return p.dir
		case "HOME":
			return ours("${HOME}")
		case "DESKTOP", "DOCUMENTS", "DOWNLOADS":
			return ours("${HOME}") + string(filepath.Separator) + name[:1] + strings.ToLower(name[1:])
		case "pathSeparator", "/":
			return string(filepath.Separator)
		}
		if key, ok := strings.CutPrefix(name, "user_config."); ok {
			return strings.Join(p.values(key, p.options[key]), ",")
		}
		return found
	})
}

// values are those of an input.
func (p places) values(key string, o option) []string {
	p.s.known[key] = true
	if text, ok := p.s.given[key]; ok {
		text = ours(text)
		if o.Multiple {
			return strings.Split(text, ",")
		}
		return []string{text}
	}
	if len(o.Default) > 0 && string(o.Default) != "null" {
		var list []json.RawMessage
		if json.Unmarshal(o.Default, &list) != nil {
			list = []json.RawMessage{o.Default}
		}
		var values []string
		for _, v := range list {
			var text string
			if json.Unmarshal(v, &text) != nil {
				text = string(v) // a number or a truth value
			}
			values = append(values, p.text(strings.ReplaceAll(text, "${user_config.", "${")))
		}
		return values
	}
	switch {
	case !o.Required:
	case o.Secret:
		name := variable(key)
		p.s.notes = append(p.s.notes, fmt.Sprintf("workbench secret set %s keeps %s", name, said(key, o.Title)))
		return []string{ours("${secret:" + name + "}")}
	default:
		p.s.want(key, o.Title)
	}
	return nil
}

// Unpack writes the files of a bundle into a folder that is not there yet. Links, and names that lead out of it, are
// refused.
func (b *Bundle) Unpack(dir string) error {
	if len(b.files.File) > maxFiles {
		return fmt.Errorf("it has %d files; at most %d are unpacked", len(b.files.File), maxFiles)
	}
	left := int64(maxUnpacked)
	for _, f := range b.files.File {
		name := filepath.FromSlash(f.Name)
		switch mode := f.Mode(); {
		case !filepath.IsLocal(name) || strings.Contains(f.Name, `\`):
			return fmt.Errorf("its file %q leads out of it", foreign.NewName(f.Name))
		case mode.IsDir():
			continue
		case !mode.IsRegular():
			return fmt.Errorf("its file %q is no regular one", foreign.NewName(f.Name))
		}
		if err := openfile.MakeFolder(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			return err
		}
		n, err := unpack(f, filepath.Join(dir, name), left)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// unpack writes a file of at most so many bytes, whatever the bundle says of its size.
func unpack(f *zip.File, to string, left int64) (n int64, err error) {
	from, err := f.Open()
	if err != nil {
		return 0, foreign.NewError(err)
	}
	defer from.Close()
	mode := fs.FileMode(0o600)
	if f.Mode()&0o100 != 0 {
		mode = 0o700
	}
	file, err := openfile.MakeNew(to, mode)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(file, io.LimitReader(from, left+1))
	if err = openfile.Advised(errors.Join(err, file.Close())); err == nil && n > left {
		err = fmt.Errorf("it has more than %d bytes when it is unpacked", maxUnpacked)
	}
	return n, err
}

// String says what the bundle is, in the publisher's words.
func (b *Bundle) String() string {
	return foreign.NewText(fmt.Sprintf("%s %s: %s", b.manifest.Name, b.manifest.Version, b.manifest.Description)).String()
}
