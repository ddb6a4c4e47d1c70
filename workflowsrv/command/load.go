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
	// Dir is where the folder is, which ${WORKFLOW_DIR} stands for; "" means
	// that it is not on a disk.
	Dir string
	// Folder opens a folder that the workflow extends, by its path as seen from
	// the workflow's own: ../base. nil means that there are no others.
	Folder func(path string) (fs.FS, error)
}

// Load reads a workflow from a folder. One on the disk is given as that of an
// [os.Root], which follows no link out of it:
//
//	workflow.yaml                   what it is
//	contexts/NAME.yaml              a context
//	commands/NAME.yaml              a command that is there everywhere
//	commands/CONTEXT/NAME.yaml      a command of a context
//
// Those of the folders that it extends are read before, so that its own files
// change what they say. The error is a [*FolderError] with every fault of every file.
func Load(fsys fs.FS, opts LoadOptions) (*Workflow, error) {
	l := newLoader(opts)
	l.readAll(fsys)
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

// Toolboxes names the toolboxes that the files of a folder and of those that it
// extends mention, in the order of their names, whatever is wrong with them:
// those whose tools LoadOptions should have. Of opts it takes Folder alone.
func Toolboxes(fsys fs.FS, opts LoadOptions) []string {
	l := newLoader(LoadOptions{Dir: opts.Dir, Folder: opts.Folder})
	l.readAll(fsys)
	return sortedKeys(l.boxes)
}

// Folders are the paths of the folders that a workflow is made of, those that it
// extends before its own, ".", whatever is wrong with them.
func Folders(fsys fs.FS, opts LoadOptions) []string {
	l := newLoader(LoadOptions{Folder: opts.Folder})
	l.folders(fsys)
	var list []string
	for _, f := range l.made {
		list = append(list, f.dir)
	}
	return list
}

func newWorkflow() *Workflow {
	return &Workflow{contexts: map[string]*Context{}, commands: map[string]*Command{}}
}

// A loader reads one workflow.
type loader struct {
	opts  LoadOptions
	tools map[string]*definedTool
	w     *Workflow

	files    int
	made     []*folder       // what the workflow is made of, in the order in which it is read
	in       *folder         // that is being read
	extended []string        // the toolboxes whose tools are commands
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

func newLoader(opts LoadOptions) *loader {
	return &loader{opts: opts, tools: indexTools(opts.Tools), w: newWorkflow(),
		boxes: map[string]bool{}, unknown: map[string]bool{}, unsound: map[string]bool{},
		faults: map[string]*document.Faults{}, warnings: map[string]*document.Faults{}}
}

func (l *loader) readAll(fsys fs.FS) {
	l.folders(fsys)
	for _, read := range []func(){l.workflow, l.contexts, l.commands} {
		for _, f := range l.made {
			l.in = f
			read()
		}
	}
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

// read reads one file of a folder and holds it against a schema. What is nil
// after a fault could not be read at all; otherwise sound says whether it keeps
// to the schema.
func (l *loader) read(in *folder, local string, schema *document.Schema) (doc *document.Node, sound bool) {
	file := in.name(local)
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
	data, err := in.bytes(local)
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
func (f *folder) bytes(file string) ([]byte, error) {
	info, err := fs.Stat(f.fsys, file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	opened, err := f.fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return io.ReadAll(io.LimitReader(opened, document.MaxFileSize+1))
}

// list gives the entries of a part of the folder, none where it does not exist.
func (l *loader) list(dir string) []fs.DirEntry {
	entries, err := fs.ReadDir(l.in.fsys, dir)
	if err != nil && !isAbsent(err) {
		l.fault(l.in.name(dir), nil, "", "%s", reason(err))
	}
	return entries
}

// contexts reads the files of contexts.
func (l *loader) contexts() {
	schema := sync.OnceValue(func() *document.Schema { return document.NewSchema("context.yaml", contextSchema) })
	l.each("contexts", "", func(local, name string) {
		file := l.in.name(local)
		doc, sound := l.read(l.in, local, schema())
		if !sound {
			l.w.contexts[name] = &Context{Name: name} // so that nothing else complains of it
			l.unsound[name], l.vague = true, true
			return
		}
		c := &Context{Name: name}
		if base := l.w.contexts[name]; base != nil {
			*c = *base
		}
		c.read(doc)
		if c.Description == "" && !l.unsound[name] {
			l.fault(file, doc, "", `"description" is missing`)
		}
		if title := doc.Get("title"); title != nil {
			c.title = l.template(file, title, "/title", noVariables)
		}
		l.w.contexts[name] = c
		l.sources = append(l.sources, &source{file: file, doc: doc, context: c})
	})
}

// read takes over what a file says of the context.
func (c *Context) read(doc *document.Node) {
	if doc.Get("description") != nil {
		c.Description = doc.Str("description")
	}
	if doc.Get("parent") != nil {
		c.Parent = doc.Str("parent")
	}
	if doc.Get("bases") != nil {
		c.Bases = doc.Strs("bases")
	}
	if doc.Get("key") != nil {
		c.Key = doc.Strs("key")
	}
}

// commands reads the files of commands.
func (l *loader) commands() {
	schema := sync.OnceValue(func() *document.Schema { return document.NewSchema("command.yaml", commandSchema) })
	read := func(context string) func(local, name string) {
		return func(local, name string) {
			doc, sound := l.read(l.in, local, schema())
			if !sound {
				l.vague = l.vague || doc == nil || doc.Get("enter") != nil
				l.w.commands[qualified(context, name)] = &Command{Name: qualified(context, name), Context: context, Leaf: name, unsound: true}
				return
			}
			l.command(l.in.name(local), context, name, doc)
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
			l.fault(l.in.name(path.Join("commands", context)), nil, "", "there is no context %q%s", context, document.Faults{}.DidYouMean(context, sortedKeys(l.w.contexts)))
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
	info, err := fs.Stat(l.in.fsys, name)
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

// each calls read for the files of a part of the folder that are YAML, with the
// name that each stands for.
func (l *loader) each(dir, context string, read func(local, name string)) {
	seen := map[string]string{}
	for _, entry := range l.list(dir) {
		local := path.Join(dir, entry.Name())
		file := l.in.name(local)
		ext := path.Ext(file)
		name := strings.TrimSuffix(entry.Name(), ext)
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case l.isDir(local, entry):
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
			read(local, name)
		}
	}
}

func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
