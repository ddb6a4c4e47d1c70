package command

import (
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/document"
)

//go:embed workflow.schema.json
var workflowSchema []byte

//go:embed context.schema.json
var contextSchema []byte

//go:embed command.schema.json
var commandSchema []byte

// maxFiles bounds how many files a folder may have.
const maxFiles = 5000

// LoadOptions say what a folder is held against.
type LoadOptions struct {
	// Tools are the tools that bindings are checked against and that a
	// workflow which extends a toolbox is made of. Nil means that they are not
	// known: bindings are taken at their word.
	Tools []Tool
	// Unlisted are servers, as TOOLBOX/SERVER, that there are, but whose tools
	// are not among Tools because they could not be asked: bindings to them are
	// taken at their word.
	Unlisted []string
	// LookupEnv and LookPath know the variables and the programs that commands
	// need when they run; nil means that they are not known.
	LookupEnv func(name string) (string, bool)
	LookPath  func(program string) (string, error)
}

// Load reads a workflow from a folder. One on the disk is given as that of an
// [os.Root], which follows no link out of it:
//
//	workflow.yaml                   what it is
//	contexts/NAME.yaml              a context
//	commands/NAME.yaml              a command that is there everywhere
//	commands/CONTEXT/NAME.yaml      a command of a context
//
// The error is a [*FolderError] with every fault of every file.
func Load(fsys fs.FS, opts LoadOptions) (*Workflow, error) {
	l := newLoader(fsys, opts)
	l.readAll()
	l.resolve()
	l.lint()
	warnings := l.sorted(l.warnings)
	if len(l.faults) > 0 {
		return nil, &FolderError{l.sorted(l.faults), warnings}
	}
	l.w.Warnings = warnings
	l.w.finish()
	return l.w, nil
}

// Toolboxes names the toolboxes that the files of a folder mention, in the
// order of their names, whatever is wrong with them: those whose tools
// LoadOptions should have.
func Toolboxes(fsys fs.FS) []string {
	l := newLoader(fsys, LoadOptions{})
	l.readAll()
	return sortedKeys(l.boxes)
}

func newWorkflow() *Workflow {
	return &Workflow{contexts: map[string]*Context{}, commands: map[string]*Command{}}
}

// A loader reads one folder.
type loader struct {
	fsys  fs.FS
	opts  LoadOptions
	tools map[string]*definedTool
	w     *Workflow

	files    int
	toolbox  string          // that bindings mean where they name none
	extends  string          // the toolbox whose tools are commands, "" for none
	boxes    map[string]bool // toolboxes that are mentioned
	unknown  map[string]bool // contexts of servers whose tools are not known
	unsound  map[string]bool // contexts whose files have faults of form
	vague    bool            // not all is known of what places there are and what is known of them, because a file has such faults
	sources  []*source
	faults   map[string]*document.Faults
	warnings map[string]*document.Faults
}

// A source is a file with what was made of it, to be completed when all is read.
type source struct {
	file    string
	doc     *document.Node
	context *Context
	command *Command
}

func newLoader(fsys fs.FS, opts LoadOptions) *loader {
	return &loader{fsys: fsys, opts: opts, tools: indexTools(opts.Tools), w: newWorkflow(),
		boxes: map[string]bool{}, unknown: map[string]bool{}, unsound: map[string]bool{},
		faults: map[string]*document.Faults{}, warnings: map[string]*document.Faults{}}
}

func (l *loader) readAll() {
	l.workflow()
	l.contexts()
	l.commands()
}

// into gives the place for what is found in a file.
func (l *loader) into(set map[string]*document.Faults, file string) *document.Faults {
	if set[file] == nil {
		set[file] = new(document.Faults)
	}
	return set[file]
}

// fault notes what is wrong at n.
func (l *loader) fault(file string, n *document.Node, path, format string, args ...any) {
	l.into(l.faults, file).Add(n, path, format, args...)
}

// warn notes what is doubtful at n.
func (l *loader) warn(file string, n *document.Node, path, format string, args ...any) {
	l.into(l.warnings, file).Add(n, path, format, args...)
}

func (l *loader) sorted(set map[string]*document.Faults) []Fault {
	var list []Fault
	for _, file := range sortedKeys(set) {
		for _, f := range set[file].Sorted() {
			list = append(list, Fault{file, f})
		}
	}
	return list
}

// read reads one file and holds it against a schema. What is nil after a fault
// could not be read at all; otherwise sound says whether it keeps to the schema.
func (l *loader) read(file string, schema *document.Schema) (doc *document.Node, sound bool) {
	if l.files++; l.files > maxFiles {
		if l.files == maxFiles+1 {
			l.fault(file, nil, "", "the folder has more than %d files; the others are not read", maxFiles)
		}
		return nil, false
	}
	fs := l.into(l.faults, file)
	defer func() {
		if sound {
			delete(l.faults, file)
		}
	}()
	data, err := l.bytes(file)
	if err != nil {
		fs.Add(nil, "", "%s", reason(err))
		return nil, false
	}
	if doc = document.Read(file, data, fs); doc == nil {
		return nil, false
	}
	if doc.Kind != document.Object {
		fs.Add(doc, "", "must be a mapping of keys to values")
		return nil, false
	}
	schema.Check(doc, fs)
	return doc, len(*fs) == 0
}

// bytes reads a file of ordinary kind and size: opening a pipe would wait for
// a writer.
func (l *loader) bytes(file string) ([]byte, error) {
	info, err := fs.Stat(l.fsys, file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := l.fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, document.MaxFileSize+1))
}

// list gives the entries of a folder, none where it does not exist.
func (l *loader) list(dir string) []fs.DirEntry {
	entries, err := fs.ReadDir(l.fsys, dir)
	if err != nil && !isAbsent(err) {
		l.fault(dir, nil, "", "%s", reason(err))
	}
	return entries
}

// workflow reads workflow.yaml.
func (l *loader) workflow() {
	file := "workflow.yaml"
	if _, err := fs.Stat(l.fsys, file); isAbsent(err) {
		file = "workflow.yml"
		if _, err := fs.Stat(l.fsys, file); isAbsent(err) {
			l.fault("workflow.yaml", nil, "", "is not there; the folder of a command workflow has it")
			return
		}
	}
	doc, _ := l.read(file, document.NewSchema("workflow.yaml", workflowSchema))
	if doc == nil {
		return
	}
	l.w.Name, l.w.Description, l.w.Purpose = doc.Str("name"), doc.Str("description"), doc.Str("purpose")
	l.w.Startup, l.toolbox = doc.Str("startup"), doc.Str("toolbox")
	if box, ok := strings.CutPrefix(doc.Str("extends"), "toolbox:"); ok {
		l.extends, l.boxes[box] = box, true
		if l.toolbox == "" {
			l.toolbox = box
		}
		l.project(file, box, doc)
	}
	l.sources = append(l.sources, &source{file: file, doc: doc})
}

// contexts reads the files of contexts.
func (l *loader) contexts() {
	schema := sync.OnceValue(func() *document.Schema { return document.NewSchema("context.yaml", contextSchema) })
	l.each("contexts", "", func(file, name string) {
		doc, sound := l.read(file, schema())
		if !sound {
			l.w.contexts[name] = &Context{Name: name} // so that nothing else complains of it
			l.unsound[name], l.vague = true, true
			return
		}
		c := &Context{Name: name, Description: doc.Str("description"), Parent: doc.Str("parent"), Bases: doc.Strs("bases"), Key: doc.Strs("key")}
		if title := doc.Get("title"); title != nil {
			var err error
			if c.title, err = parseTemplate(title.Value, false); err != nil {
				l.fault(file, title, "/title", "%v", err)
			}
		}
		l.w.contexts[name] = c
		l.sources = append(l.sources, &source{file: file, doc: doc, context: c})
	})
}

// commands reads the files of commands.
func (l *loader) commands() {
	schema := sync.OnceValue(func() *document.Schema { return document.NewSchema("command.yaml", commandSchema) })
	read := func(context string) func(file, name string) {
		return func(file, name string) {
			doc, sound := l.read(file, schema())
			if !sound {
				l.vague = l.vague || doc == nil || doc.Get("enter") != nil
				l.w.commands[qualified(context, name)] = &Command{Name: qualified(context, name), Context: context, Leaf: name}
				return
			}
			l.command(file, context, name, doc)
		}
	}
	l.each("commands", "", read(""))
	for _, entry := range l.list("commands") {
		context := entry.Name()
		if !l.isDir(path.Join("commands", context), entry) {
			continue
		}
		if l.w.contexts[context] == nil && l.unlisted(context) {
			l.unknown[context] = true
			l.w.contexts[context] = serverContext(context)
		}
		if l.w.contexts[context] == nil {
			l.fault(path.Join("commands", context), nil, "", "there is no context %q%s", context, document.Faults{}.DidYouMean(context, sortedKeys(l.w.contexts)))
			continue
		}
		l.each(path.Join("commands", context), context, read(context))
	}
}

func (l *loader) isDir(name string, entry fs.DirEntry) bool {
	if strings.HasPrefix(entry.Name(), ".") {
		return false
	}
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := fs.Stat(l.fsys, name)
	return err == nil && info.IsDir()
}

// named is what contexts and commands of a folder may be called.
func named(name string) bool {
	for i, c := range name {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || c != '-' && c != '.' && !unicode.IsDigit(c)) {
			return false
		}
	}
	return name != ""
}

// each calls read for the files of a folder that are YAML, with the name that
// each stands for.
func (l *loader) each(dir, context string, read func(file, name string)) {
	seen := map[string]string{}
	for _, entry := range l.list(dir) {
		file := path.Join(dir, entry.Name())
		ext := path.Ext(file)
		name := strings.TrimSuffix(entry.Name(), ext)
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case l.isDir(file, entry):
			if dir != "commands" {
				l.warn(file, nil, "", "a folder here is not looked into")
			}
		case ext != ".yaml" && ext != ".yml":
			l.warn(file, nil, "", "is no .yaml file and is not read")
		case !named(name):
			l.fault(file, nil, "", "the name %q has other characters than letters, digits, '_', '-' and '.', or begins with none", name)
		case seen[name] != "":
			l.fault(file, nil, "", "%s has the same name", seen[name])
		case context == "" && dir == "commands" && slices.Contains(coreNames(), name):
			l.fault(file, nil, "", "%s is a command that every workflow has; take another name", name)
		default:
			seen[name] = file
			read(file, name)
		}
	}
}

func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
