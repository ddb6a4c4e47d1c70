package command

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// Bounds of what a workflow extends.
const (
	maxDepth   = 8  // folders, one extending the other
	maxFolders = 32 // in all
)

// A folder is that of the workflow, or one that it extends.
type folder struct {
	dir     string // as seen from that of the workflow, which is "."
	fsys    fs.FS
	place   string // where it is, "" if it is not on a disk
	file    string // its workflow.yaml
	doc     *document.Node
	toolbox string // that bindings mean where they name none
}

// name is how a file of the folder is called in what is said of it.
func (f *folder) name(file string) string { return path.Join(f.dir, file) }

// toolboxPrefix marks what is extended as a toolbox.
const toolboxPrefix = "toolbox:"

// folders finds the folders that the workflow is made of. Each is there once,
// after those that it extends, of which the first counts most.
func (l *loader) folders(fsys fs.FS) {
	l.folder(&folder{dir: ".", fsys: fsys, place: l.opts.Dir}, nil)
}

// folder reads workflow.yaml of a folder, and those of what it extends. above
// are the folders that extend it.
func (l *loader) folder(f *folder, above []string) {
	f.file = "workflow.yaml"
	if _, err := fs.Stat(f.fsys, f.file); isAbsent(err) {
		f.file = "workflow.yml"
		if _, err := fs.Stat(f.fsys, f.file); isAbsent(err) {
			l.fault(f.name("workflow.yaml"), nil, "", "is not there; the folder of a command workflow has it")
			l.made = append(l.made, f)
			return
		}
	}
	f.doc, _ = l.read(f, f.file, document.NewSchema("workflow.yaml", workflowSchema))
	extended := f.doc.Get("extends").List()
	if own := f.doc.Str("toolbox"); own != "" {
		f.toolbox = own
	} else if i := slices.IndexFunc(extended, isToolbox); i >= 0 {
		f.toolbox = strings.TrimPrefix(extended[i].Value, toolboxPrefix)
	}
	for _, n := range slices.Backward(extended) {
		if !isToolbox(n) {
			l.extend(f, n, append(slices.Clone(above), f.dir))
		}
	}
	l.made = append(l.made, f)
}

func isToolbox(n *document.Node) bool { return strings.HasPrefix(n.Value, toolboxPrefix) }

// extend reads a folder that another one extends.
func (l *loader) extend(f *folder, n *document.Node, above []string) {
	if n.Kind != document.Text || !strings.HasPrefix(n.Value, ".") {
		return // which is a fault of form
	}
	dir := path.Join(f.dir, n.Value)
	fault := func(format string, args ...any) { l.fault(f.name(f.file), n, "/extends", format, args...) }
	switch {
	case slices.Contains(above, dir):
		fault("the folder extends itself: %s", strings.Join(append(above[slices.Index(above, dir):], dir), ", "))
		return
	case slices.ContainsFunc(l.made, func(m *folder) bool { return m.dir == dir }):
		return
	case dir == ".." || dir == "../.." || strings.HasPrefix(dir, "../../"):
		fault("%s is not beside the folder of the workflow; what is extended lies in the same folder as that, ../NAME", n.Value)
		return
	case len(above) >= maxDepth:
		fault("more than %d folders extend one another", maxDepth)
		return
	case len(l.made) >= maxFolders:
		fault("the workflow is made of more than %d folders", maxFolders)
		return
	case l.opts.Folder == nil:
		fault("there are no other folders here")
		return
	}
	fsys, err := l.opts.Folder(dir)
	if err != nil {
		fault("%s: %s", n.Value, reason(err))
		return
	}
	place := ""
	if l.opts.Dir != "" {
		place = filepath.Join(l.opts.Dir, filepath.FromSlash(dir))
	}
	l.folder(&folder{dir: dir, fsys: fsys, place: place, toolbox: f.toolbox}, above)
}

// workflow takes over what workflow.yaml says. What the workflow is called, and
// what it begins with, is said by its own alone.
func (l *loader) workflow() {
	f := l.in
	if f.doc == nil {
		return
	}
	file := f.name(f.file)
	for _, n := range f.doc.Get("extends").List() {
		box, ok := strings.CutPrefix(n.Value, toolboxPrefix)
		if !ok || slices.Contains(l.extended, box) {
			continue
		}
		l.extended, l.boxes[box] = append(l.extended, box), true
		l.project(file, box, n)
	}
	if f.dir != "." {
		return
	}
	l.w.Name, l.w.Description, l.w.Purpose = f.doc.Str("name"), f.doc.Str("description"), f.doc.Str("purpose")
	l.w.Startup = f.doc.Str("startup")
	l.sources = append(l.sources, &source{file: file, doc: f.doc})
}
