package command

import (
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

//go:embed workflow.schema.json
var workflowSchema []byte

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

func isToolbox(n *document.Node) bool { return strings.HasPrefix(n.Value, toolboxPrefix) }

// folders reads the files of the folders that a workflow is made of.
type folders struct {
	*findings
	dir   string // LoadOptions.Dir
	open  func(path string) (fs.FS, error)
	files int
	made  []*folder // in the order in which they are read
}

// find finds the folders that the workflow is made of. Each is there once, after those that it extends, of which the
// first counts most.
func (l *folders) find(fsys fs.FS) {
	l.folder(&folder{dir: ".", fsys: fsys, place: l.dir}, nil)
}

// folder reads workflow.yaml of a folder, and those of what it extends. above are the folders that extend it.
func (l *folders) folder(f *folder, above []string) {
	f.file = "workflow.yaml"
	if _, err := fs.Stat(f.fsys, f.file); isAbsent(err) {
		f.file = "workflow.yml"
		if _, err := fs.Stat(f.fsys, f.file); isAbsent(err) {
			l.fault(f.name("workflow.yaml"), nil, "", "is missing; the folder of a command workflow needs it")
			l.made = append(l.made, f)
			return
		}
	} else if _, err := fs.Stat(f.fsys, "workflow.yml"); err == nil {
		l.fault(f.name("workflow.yml"), nil, "", "%s has the same name", f.name(f.file))
	}
	f.doc, _ = l.read(f, f.file, document.NewSchema(workflowSchema))
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

// extend reads a folder that another one extends.
func (l *folders) extend(f *folder, n *document.Node, above []string) {
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
		fault("%s is not beside the folder of the workflow; write ../NAME for a folder beside it", n.Value)
		return
	case len(above) >= maxDepth:
		fault("more than %d folders extend one another", maxDepth)
		return
	case len(l.made) >= maxFolders:
		fault("the workflow is made of more than %d folders", maxFolders)
		return
	case l.open == nil:
		fault("there are no other folders here")
		return
	}
	fsys, err := l.open(dir)
	if err != nil {
		fault("%s: %s", n.Value, openfile.Reason(err))
		return
	}
	place := ""
	if l.dir != "" {
		place = filepath.Join(l.dir, filepath.FromSlash(dir))
	}
	l.folder(&folder{dir: dir, fsys: fsys, place: place, toolbox: f.toolbox}, above)
}

// read reads one file of a folder and holds it against a schema. What is nil after a fault could not be read at all;
// otherwise sound says whether it keeps to the schema.
func (l *folders) read(in *folder, local string, schema *document.Schema) (doc *document.Node, sound bool) {
	file := in.name(local)
	if l.files++; l.files > maxFiles {
		if l.files == maxFiles+1 {
			l.fault(file, nil, "", "the folder has more than %d files; the others are not read", maxFiles)
		}
		return nil, false
	}
	fs := into(l.faults, file)
	defer func() {
		if sound {
			delete(l.faults, file)
		}
	}()
	data, err := in.bytes(local)
	if err != nil {
		fs.Add(nil, "", "%s", openfile.Reason(err))
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

// list gives the entries of a part of the folder, none where it does not exist.
func (l *folders) list(in *folder, dir string) []fs.DirEntry {
	entries, err := fs.ReadDir(in.fsys, dir)
	if err != nil && !isAbsent(err) {
		l.fault(in.name(dir), nil, "", "%s", openfile.Reason(err))
	}
	return entries
}

func (l *folders) isDir(in *folder, name string, entry fs.DirEntry) bool {
	if strings.HasPrefix(entry.Name(), ".") {
		return false
	}
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := fs.Stat(in.fsys, name)
	return err == nil && info.IsDir()
}

// each calls read for the files of a part of the folder that are YAML, with the name that each stands for.
func (l *folders) each(in *folder, dir, context string, read func(local, name string)) {
	seen := map[string]string{}
	for _, entry := range l.list(in, dir) {
		local := path.Join(dir, entry.Name())
		file := in.name(local)
		ext := path.Ext(file)
		name := strings.TrimSuffix(entry.Name(), ext)
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case l.isDir(in, local, entry):
			if dir != "commands" {
				l.warn(file, nil, "", "a folder here is not looked into")
			}
		case ext != ".yaml" && ext != ".yml":
			l.warn(file, nil, "", "is no .yaml file and is not read")
		case !named(name):
			l.fault(file, nil, "", "the name %q has characters besides letters, digits, '_', '-' and '.', or begins with neither a letter nor '_'", name)
		case seen[name] != "":
			l.fault(file, nil, "", "%s has the same name", seen[name])
		case context == "" && dir == "commands" && slices.Contains(coreNames(), name):
			l.fault(file, nil, "", "%s is a command that every workflow has; take another name", name)
		default:
			if context != "" && slices.Contains(coreNames(), name) {
				l.warn(file, nil, "", "%s alone is the command that every workflow has; this one is only %s/%s", name, context, name)
			}
			seen[name] = file
			read(local, name)
		}
	}
}

// bytes reads a file of ordinary kind and size: opening a pipe would wait for a writer.
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

func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// maxFiles bounds how many files a folder may have.
const maxFiles = 5000
