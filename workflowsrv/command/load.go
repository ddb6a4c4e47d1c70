package command

import (
	_ "embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-workbench/workbench/internal/document"
)

//go:embed context.schema.json
var contextSchema []byte

//go:embed command.schema.json
var commandSchema []byte

// LoadOptions say what a folder is held against.
type LoadOptions struct {
	// Tools are the tools that bindings are checked against and that a workflow which extends a toolbox is made of. Nil
	// means that they are not known: bindings are taken at their word.
	Tools []Tool
	// Unlisted are servers, as TOOLBOX/SERVER, that there are, but whose tools are not among Tools because they could
	// not be asked: bindings to them are taken at their word.
	Unlisted []string
	// LookupEnv and LookPath know the variables and the programs that commands need when they run; nil means that they
	// are not known.
	LookupEnv func(name string) (string, bool)
	LookPath  func(program string) (string, error)
	// Dir is where the folder is, which ${WORKFLOW_DIR} stands for; "" means that it is not on a disk.
	Dir string
	// Folder opens a folder that the workflow extends, by its path as seen from the workflow's own: ../base. nil means
	// that there are no others.
	Folder func(path string) (fs.FS, error)
}

// Load reads a workflow from a folder. One on the disk is given as that of an [os.Root], which follows no link out of
// it:
//
//	workflow.yaml                   what it is
//	contexts/NAME.yaml              a context
//	commands/NAME.yaml              a command that is there everywhere
//	commands/CONTEXT/NAME.yaml      a command of a context
//
// Those of the folders that it extends are read before, so that its own files change what they say. The error is a
// [*FolderError] with every fault of every file.
func Load(fsys fs.FS, opts LoadOptions) (*Workflow, error) {
	l := newLoader(opts)
	l.readAll(fsys)
	c := &checker{l.findings, l.draft, l.tools, opts.LookupEnv, opts.LookPath}
	c.resolve()
	c.lint(&l.folders)
	warnings := sorted(l.warnings)
	if len(l.faults) > 0 {
		return nil, &FolderError{sorted(l.faults), warnings}
	}
	l.w.Warnings = warnings
	l.w.finish()
	return l.w, nil
}

// Toolboxes names the toolboxes that the files of a folder and of those that it extends mention, in the order of their
// names, whatever is wrong with them: those whose tools LoadOptions should have. Of opts it takes Folder alone.
func Toolboxes(fsys fs.FS, opts LoadOptions) []string {
	l := newLoader(LoadOptions{Dir: opts.Dir, Folder: opts.Folder})
	l.readAll(fsys)
	return sortedKeys(l.binder.boxes)
}

// Folders are the paths of the folders that a workflow is made of, those that it extends before its own, ".", whatever
// is wrong with them.
func Folders(fsys fs.FS, opts LoadOptions) []string {
	l := newLoader(LoadOptions{Folder: opts.Folder})
	l.find(fsys)
	var list []string
	for _, f := range l.made {
		list = append(list, f.dir)
	}
	return list
}

// A loader makes a workflow of what it reads.
type loader struct {
	*findings
	*draft
	folders
	binder binder
	tools  *toolset
}

func newLoader(opts LoadOptions) *loader {
	found := &findings{map[string]*document.Faults{}, map[string]*document.Faults{}}
	return &loader{findings: found, draft: &draft{w: newWorkflow(), unknown: map[string]bool{}, unsound: map[string]bool{}},
		folders: folders{findings: found, dir: opts.Dir, open: opts.Folder}, binder: binder{findings: found, boxes: map[string]bool{}}, tools: newToolset(opts.Tools, opts.Unlisted)}
}

func (l *loader) readAll(fsys fs.FS) {
	l.find(fsys)
	for _, read := range []func(in *folder){l.workflow, l.contexts, l.commands} {
		for _, f := range l.made {
			l.binder.in = f
			read(f)
		}
	}
}

// contexts reads the files of contexts.
func (l *loader) contexts(in *folder) {
	schema := sync.OnceValue(func() *document.Schema { return document.NewSchema(contextSchema) })
	l.each(in, "contexts", "", func(local, name string) {
		file := in.name(local)
		doc, sound := l.read(in, local, schema())
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
			c.title = l.binder.template(file, title, "/title", noVariables)
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
func (l *loader) commands(in *folder) {
	schema := sync.OnceValue(func() *document.Schema { return document.NewSchema(commandSchema) })
	read := func(context string) func(local, name string) {
		return func(local, name string) {
			doc, sound := l.read(in, local, schema())
			if !sound {
				l.vague = l.vague || doc == nil || doc.Get("enter") != nil
				l.w.commands[qualified(context, name)] = &Command{Name: qualified(context, name), Context: context, Leaf: name, unsound: true}
				return
			}
			l.command(in.name(local), context, name, doc)
		}
	}
	l.each(in, "commands", "", read(""))
	for _, entry := range l.list(in, "commands") {
		context := entry.Name()
		if !l.isDir(in, path.Join("commands", context), entry) {
			continue
		}
		if l.w.contexts[context] == nil && l.tools.mayServe(context, l.extended) {
			l.unknown[context] = true
			l.w.contexts[context] = serverContext(context)
		}
		if l.w.contexts[context] == nil {
			l.fault(in.name(path.Join("commands", context)), nil, "", "there is no context %q%s", context, document.Faults{}.DidYouMean(context, sortedKeys(l.w.contexts)))
			continue
		}
		l.each(in, path.Join("commands", context), context, read(context))
	}
}

// workflow takes over what workflow.yaml says. What the workflow is called, and what it begins with, is said by its own
// alone.
func (l *loader) workflow(f *folder) {
	if f.doc == nil {
		return
	}
	file := f.name(f.file)
	for _, n := range f.doc.Get("extends").List() {
		box, ok := strings.CutPrefix(n.Value, toolboxPrefix)
		if !ok || slices.Contains(l.extended, box) {
			continue
		}
		l.extended, l.binder.boxes[box] = append(l.extended, box), true
		l.project(file, box, n)
	}
	if f.dir != "." {
		return
	}
	l.w.Name, l.w.Description, l.w.Purpose = f.doc.Str("name"), f.doc.Str("description"), f.doc.Str("purpose")
	l.w.Startup, l.binder.named = f.doc.Str("startup"), l.w.Name != ""
	l.sources = append(l.sources, &source{file: file, doc: f.doc})
}

// project puts the tools of a toolbox under what the folder says.
func (l *loader) project(file, toolbox string, n *document.Node) {
	if !l.tools.known() {
		return
	}
	before := len(l.w.commands)
	l.w.project(toolbox, l.tools.all)
	if len(l.w.commands) > before || l.tools.incomplete(l.extended) {
		return
	}
	var boxes []string
	for _, name := range l.tools.unlisted {
		box, _, _ := strings.Cut(name, "/")
		boxes = append(boxes, box)
	}
	for _, t := range l.tools.all {
		boxes = append(boxes, t.Toolbox)
	}
	slices.Sort(boxes)
	l.fault(file, n, "/extends", "the toolbox %q has no tools%s", toolbox, document.Faults{}.DidYouMean(toolbox, slices.Compact(boxes)))
}
