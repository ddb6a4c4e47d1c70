package lock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Name is what a lock file is called, beside its configuration.
const Name = "workbench-lock.json"

// maxSize is the most bytes a lock file may have.
const maxSize = 64 << 20

// version counts the forms of the file.
const version = "1"

// ID names a server: its toolbox and its own name.
type ID struct{ Toolbox, Server string }

func (id ID) String() string { return id.Toolbox + "/" + id.Server }

func parseID(text string) (ID, bool) {
	box, server, ok := strings.Cut(text, "/")
	return ID{box, server}, ok && box != "" && server != ""
}

// File is what was agreed to of all servers of a configuration.
type File struct{ servers map[ID][]Item }

// New makes a file without servers.
func New() *File { return &File{make(map[ID][]Item)} }

// Parse reads the content of a lock file.
func Parse(data []byte) (*File, error) {
	if !json.Valid(data) {
		return nil, fmt.Errorf("%s is not JSON; was a merge left unfinished?", lineOfFault(data))
	}
	from := bytes.IndexByte(data, '{')
	if from < 0 {
		return nil, fmt.Errorf("a lock file is a JSON object")
	}
	var out [2]wire.Span
	at := wire.Span{Start: from, End: len(data)}
	if err := wire.Find(data, at, []string{"workbenchLock", "items"}, out[:]); err != nil {
		return nil, err
	}
	if got := string(data[out[0].Start:out[0].End]); got != version {
		return nil, fmt.Errorf("it is not a lock file of this version of workbench: workbenchLock is %q, not %s", got, version)
	}
	if !out[1].Present() || data[out[1].Start] != '[' {
		return nil, fmt.Errorf("it has no list of items")
	}
	f := New()
	for e := range wire.Elements(data, out[1]) {
		if err := f.add(data, e); err != nil {
			return nil, fmt.Errorf("line %d: %w", 1+bytes.Count(data[:e.Start], []byte("\n")), err)
		}
	}
	for id, items := range f.servers {
		slices.SortStableFunc(items, compareItems)
		for i := range items[1:] {
			if compareItems(items[i], items[i+1]) == 0 {
				return nil, fmt.Errorf("%s: %s is there twice", id, items[i].Label())
			}
		}
	}
	return f, nil
}

func lineOfFault(data []byte) string {
	syntax, ok := json.Unmarshal(data, new(json.RawMessage)).(*json.SyntaxError)
	if !ok {
		return "it"
	}
	return fmt.Sprintf("line %d", 1+bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n")))
}

// add takes an entry of the list of items.
func (f *File) add(data []byte, at wire.Span) error {
	var out [5]wire.Span
	if err := wire.Find(data, at, []string{"server", "kind", "name", "digest", "value"}, out[:]); err != nil {
		return err
	}
	text := func(s wire.Span) string {
		t, _ := wire.Unquote(data[s.Start:s.End])
		return t
	}
	id, ok := parseID(text(out[0]))
	if !ok {
		return fmt.Errorf("an item has no server, such as dev/github")
	}
	kind := Kind(text(out[1]))
	if !slices.Contains(kinds(), kind) {
		return fmt.Errorf("%q is no kind of item", kind)
	}
	if !out[4].Present() {
		return fmt.Errorf("an item of %s has no value", id)
	}
	it := Item{Kind: kind, Text: data[out[4].Start:out[4].End:out[4].End]}
	if digest := text(out[3]); it.Digest() != digest {
		// Another program may have laid it out anew.
		if it.Text = canonical(kind, it.Text); it.Digest() != digest {
			return fmt.Errorf("the value of an item of %s is not the one that its digest was made of: somebody changed it by hand", id)
		}
	}
	it.Name = it.named()
	if it.Name.IsEmpty() != (kind.naming() == "") || it.Name.Verbatim() != text(out[2]) {
		return fmt.Errorf("an item of %s is not named as its value says", id)
	}
	f.servers[id] = append(f.servers[id], it)
	return nil
}

// Servers returns the servers of the file, in order.
func (f *File) Servers() []ID {
	return slices.SortedFunc(maps.Keys(f.servers), func(a, b ID) int { return strings.Compare(a.String(), b.String()) })
}

// Items returns the items of a server, in order; ok is false if the file has none. They are not to be changed.
func (f *File) Items(id ID) (items []Item, ok bool) {
	items, ok = f.servers[id]
	return items, ok
}

// Replace has a server be what it is now. An item that says the same as before stays as it was written.
func (f *File) Replace(id ID, now []Item) {
	old := make(map[string]Item)
	for _, it := range f.servers[id] {
		old[string(it.Kind)+it.Name.Verbatim()] = it
	}
	items := slices.Clone(now)
	for i := range items {
		if was, ok := old[string(items[i].Kind)+items[i].Name.Verbatim()]; ok && was.Same(&items[i]) {
			items[i] = was
		}
	}
	slices.SortStableFunc(items, compareItems)
	f.servers[id] = items
}

// Apply agrees to changes of a server.
func (f *File) Apply(id ID, changes []Change) {
	items := slices.Clone(f.servers[id])
	for _, c := range changes {
		if c.Was != nil {
			items = slices.DeleteFunc(items, func(it Item) bool { return it.id() == c.Was.id() })
		}
		if c.Now != nil {
			items = append(items, *c.Now)
		}
	}
	slices.SortStableFunc(items, compareItems)
	f.servers[id] = items
}

// Remove has the file say nothing of a server.
func (f *File) Remove(id ID) { delete(f.servers, id) }

// Encode gives the content of the file, an item a line. Equal files have equal contents.
func (f *File) Encode() []byte {
	out := []byte(`{"workbenchLock":` + version + `,"items":[` + "\n")
	for _, id := range f.Servers() {
		for _, it := range f.servers[id] {
			o := wire.NewObject(out).Raw("server", quoted(id.String())).Text("kind", string(it.Kind))
			if it.Kind.naming() != "" {
				o = o.Raw("name", quoted(it.Name.Verbatim()))
			}
			out = append(o.Text("digest", it.Digest()).Raw("value", it.Text).End(), ",\n"...)
		}
	}
	return append(bytes.TrimSuffix(out, []byte(",\n")), "\n]}\n"...)
}

// quoted gives a text as a string token in its canonical form.
func quoted(text string) []byte { return foreign.Spelling(wire.AppendQuote(nil, text)) }

// Write puts the file at a path, in one step.
func (f *File) Write(path string) error { return openfile.Replace(path, f.Encode()) }
