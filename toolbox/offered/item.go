package offered

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcp-workbench/workbench/internal/alike"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/reshape"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Kind is one of the lists that a server offers.
type Kind string

// The lists of a server.
const (
	Tools     Kind = "tools"
	Resources Kind = "resources"
	Templates Kind = "resourceTemplates"
	Prompts   Kind = "prompts"
	Skills    Kind = "skills" // of the extension skills
)

// Kinds are all lists that a server may have.
func Kinds() []Kind { return []Kind{Tools, Resources, Templates, Prompts, Skills} }

// Pinnable are the lists whose entries are in a lock file.
func Pinnable() []Kind { return []Kind{Tools, Prompts, Templates, Skills} }

// Method gives the request that lists a kind, and the member that names an item.
func (k Kind) Method() (method, key string) {
	switch k {
	case Resources:
		return "resources/list", "uri"
	case Templates:
		return "resources/templates/list", "uriTemplate"
	case Prompts:
		return "prompts/list", "name"
	case Skills:
		return "skills/list", "uri"
	default:
		return "tools/list", "name"
	}
}

// lockKind is what the entries of a list are in a lock file; there are none of resources.
func (k Kind) lockKind() (lock.Kind, bool) {
	switch k {
	case Tools:
		return lock.Tool, true
	case Prompts:
		return lock.Prompt, true
	case Templates:
		return lock.Template, true
	case Skills:
		return lock.Skill, true
	}
	return "", false
}

func (k Kind) noun() string {
	if k == Templates {
		return "resource templates"
	}
	return string(k)
}

// Item is one entry of a list as the server gave it.
type Item struct {
	// Key is what the server knows it by: the name of a tool or prompt, the uri of a resource or skill, the uriTemplate
	// of a template.
	Key foreign.Name
	// Raw is the entry; KeySpan is where the token of Key stands in it.
	Raw     []byte
	KeySpan wire.Span
	// AnyOutput says that the output schema of a tool is not said to be of an object, see eras.OutputToLegacy.
	AnyOutput bool
	// ToLegacy makes the input schema of a tool one that legacy clients take, see reshape.Form.
	ToLegacy []wire.Edit
	mended   bool      // the server gave it otherwise, see mended
	as       *reshaped // it is offered otherwise than the server has it; nil if it is not
	shown    *Item     // the tool as models can be given it; nil if that is itself
}

// newItem copies an entry of a list; it reports false for one that has no name.
func newItem(raw []byte, kind Kind) (Item, bool) {
	it, ok := readItem(raw, kind)
	if ok && kind == Tools {
		if shown := it.plain(); shown.as != nil || shown.ToLegacy != nil {
			it.shown = &shown
		}
	}
	return it, ok
}

// plain gives a tool as models can be given it.
func (it *Item) plain() Item {
	form := reshape.Plain(it.Raw, it.Arguments())
	shown := *it
	shown.ToLegacy = form.ToLegacy
	if !wire.IsSame(form.Raw, it.Raw, wire.Whole(it.Raw)) {
		shown.Raw, shown.as = form.Raw, &reshaped{it.Token(), form.Arguments}
		shown.KeySpan, _ = wire.FindPath(form.Raw, wire.Whole(form.Raw), "name")
	}
	return shown
}

// Shown gives tools as models can be given them; tools itself where all are like that.
func Shown(tools []Item) []Item {
	shown := tools
	for i := range tools {
		if tools[i].shown != nil {
			if &shown[0] == &tools[0] {
				shown = slices.Clone(tools)
			}
			shown[i] = *tools[i].shown
		}
	}
	return shown
}

func readItem(raw []byte, kind Kind) (Item, bool) {
	_, key := kind.Method()
	var out, schema [1]wire.Span
	given := bytes.Clone(raw)
	raw = mended(given, kind)
	if raw == nil || wire.Find(raw, wire.Whole(raw), []string{key}, out[:]) != nil || !out[0].Present() {
		return Item{}, false
	}
	name, ok := wire.Unquote(raw[out[0].Start:out[0].End])
	if !ok || name == "" {
		return Item{}, false
	}
	it := Item{Key: foreign.NewName(name), Raw: raw, KeySpan: out[0], mended: !wire.IsSame(raw, given, wire.Whole(given))}
	if kind == Tools && wire.Find(raw, wire.Whole(raw), []string{"outputSchema"}, schema[:]) == nil && schema[0].Present() {
		it.AnyOutput = !saysObject(raw, schema[0])
	}
	return it, true
}

// Kept gives a list that was kept, as far as there is room.
func Kept(list []json.RawMessage, k Kind, room int) (items []Item) {
	for _, raw := range list {
		if it, ok := newItem(raw, k); ok && it.size() <= room {
			items = append(items, it)
			room -= it.size()
		}
	}
	return items
}

// itemSize is what is charged for an entry of a list besides its bytes, which is less than for other things: there are
// many, and each is bounded by its place in a list.
const itemSize = 128

func (it *Item) size() int {
	size := len(it.Raw) + len(it.Key.Verbatim()) + itemSize
	if it.shown != nil {
		size += len(it.shown.Raw) + itemSize
		for _, edit := range it.shown.ToLegacy {
			size += len(edit.New)
		}
	}
	return size
}

// keepIn has an entry that was just read share its bytes with those that are equal.
func (it *Item) keepIn(texts *alike.Pool) {
	it.Raw = texts.Of(it.Raw)
	if it.shown != nil {
		it.shown.Raw = texts.Of(it.shown.Raw)
	}
}

func sameItem(a, b Item) bool { return bytes.Equal(a.Raw, b.Raw) }

// sameItems reports whether two lists, of which neither has a name twice, have the same entries in whatever order.
func sameItems(a, b []Item) bool {
	of := make(map[foreign.Name][]byte, len(a))
	for i := range a {
		of[a[i].Key] = a[i].Raw
	}
	return len(a) == len(b) && !slices.ContainsFunc(b, func(it Item) bool { return !bytes.Equal(of[it.Key], it.Raw) })
}

// onlyReads reports whether a tool says of itself that it changes nothing.
func (it *Item) onlyReads() bool {
	return string(wire.Get(it.Raw, wire.Whole(it.Raw), "annotations", "readOnlyHint")) == "true"
}

// Token gives the name by which the server knows it, as a JSON string.
func (it *Item) Token() []byte {
	if it.as != nil {
		return it.as.token
	}
	return it.Raw[it.KeySpan.Start:it.KeySpan.End]
}

// Arguments says what becomes of the arguments of a tool; nil if they go to the server as they are.
func (it *Item) Arguments() *reshape.Arguments {
	if it.as == nil {
		return nil
	}
	return it.as.arguments
}

// CallParams gives the params of a call of the tool with these arguments.
func (it *Item) CallParams(arguments []byte) ([]byte, error) {
	merged, err := it.Arguments().Merge(arguments)
	if err != nil {
		return nil, err
	}
	return wire.NewObject(nil).Raw("name", it.Token()).Raw("arguments", merged).End(), nil
}
