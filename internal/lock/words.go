package lock

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

const (
	// maxWords bounds the sentences on one item for a person, and maxTold those for a model, to whom they come with the
	// answer to something else.
	maxWords, maxTold = 100, 5
	// maxShown bounds a value in a sentence, in bytes.
	maxShown = 300
	// around is how much of a text is shown before and after what differs, in bytes.
	around = 40
)

// Words says in sentences how an item differs. With values each says from what to what, for a person; without, no text
// of the server's is repeated but names, for a model, which is not to read what nobody has agreed to.
func (c *Change) Words(values bool) []string {
	switch c.What {
	case Added:
		return []string{"it is new"}
	case Removed:
		return []string{"it is gone"}
	case Renamed:
		return []string{"it is new, and defined as " + c.Was.Label() + " was, which is gone: it may have been renamed"}
	}
	w := words{values: values}
	if c.Now.Kind.counted() == nil && c.Now.Text[0] == '"' {
		w.say("their text "+w.fromTo(c.Was.Text, c.Now.Text), nil)
	} else {
		w.value(nil, c.Was.Text, c.Now.Text)
	}
	if w.more > 0 {
		w.said = append(w.said, fmt.Sprintf("and %d changes more", w.more))
	}
	return w.said
}

// words are the sentences on one item.
type words struct {
	values bool
	said   []string
	more   int
}

func (w *words) say(text string, at []string) {
	if len(w.said) == maxTold && !w.values || len(w.said) == maxWords {
		w.more++
		return
	}
	if at != nil {
		steps := slices.Clone(at)
		for i := range steps {
			if !w.values && !IsPlain(steps[i]) {
				steps[i] = "…"
			}
		}
		text = place(steps) + " " + text
	}
	if slices.Equal(at, []string{"annotations", "readOnlyHint"}) {
		text += ": it is what says whether the tool only reads"
	}
	w.said = append(w.said, text)
}

// IsPlain reports whether a name is one that cannot be read as a sentence: what a model is told of things that nobody
// has agreed to has no other names of a server's choice.
func IsPlain(name string) bool {
	return name != "" && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("_-.:/$#{}", r))
	}) < 0
}

// value compares two values at a place, in canonical form.
func (w *words) value(at []string, was, now []byte) {
	switch {
	case bytes.Equal(was, now):
	case was[0] == '{' && now[0] == '{':
		w.object(at, was, now)
	case was[0] == '[' && now[0] == '[':
		w.list(at, was, now)
	default:
		w.say(w.fromTo(was, now), at)
	}
}

func (w *words) object(at []string, was, now []byte) {
	before, after := byKey(was), byKey(now)
	keys := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		in := append(slices.Clip(at), key)
		old, had := before[key]
		new, has := after[key]
		switch {
		case !had:
			w.say("was added"+w.shown(new), in)
		case !has:
			w.say("was removed"+w.shown(old), in)
		default:
			w.value(in, old, new)
		}
	}
}

// byKey gives the members of an object. Members of the same name share one entry.
func byKey(raw []byte) map[string][]byte {
	all := make(map[string][]byte)
	for _, m := range members(raw, wire.Whole(raw)) {
		key, _ := wire.Unquote(m.key)
		if old, twice := all[key]; twice {
			all[key] = append(append(slices.Clip(old), " and "...), raw[m.val.Start:m.val.End]...)
			continue
		}
		all[key] = raw[m.val.Start:m.val.End]
	}
	return all
}

func (w *words) list(at []string, was, now []byte) {
	before, after := elements(was), elements(now)
	if key := at[len(at)-1]; key == "required" || key == "enum" || key == "type" || len(before) != len(after) {
		for _, e := range after {
			if !contains(before, e) {
				w.say("now has"+w.some(e), at)
			}
		}
		for _, e := range before {
			if !contains(after, e) {
				w.say("no longer has"+w.some(e), at)
			}
		}
		if sameSet(before, after) {
			w.say("has the same entries in another number or order", at)
		}
		return
	}
	for i := range before {
		w.value(append(slices.Clip(at), fmt.Sprintf("%d", i+1)), before[i], after[i])
	}
}

func sameSet(a, b [][]byte) bool {
	return !slices.ContainsFunc(a, func(e []byte) bool { return !contains(b, e) }) &&
		!slices.ContainsFunc(b, func(e []byte) bool { return !contains(a, e) })
}

func elements(raw []byte) (all [][]byte) {
	for e := range wire.Elements(raw, wire.Whole(raw)) {
		all = append(all, raw[e.Start:e.End])
	}
	return all
}

func contains(all [][]byte, one []byte) bool {
	return slices.ContainsFunc(all, func(e []byte) bool { return bytes.Equal(e, one) })
}

// some shows an entry of a list.
func (w *words) some(e []byte) string {
	if !w.values {
		return " one more entry"
	}
	return " " + show(e)
}

func (w *words) shown(value []byte) string {
	if !w.values {
		return ""
	}
	return ": " + show(value)
}

func (w *words) fromTo(was, now []byte) string {
	if !w.values {
		return "changed"
	}
	if was[0] == '"' && now[0] == '"' {
		a, _ := wire.Unquote(was)
		b, _ := wire.Unquote(now)
		a, b = differing(a, b)
		return fmt.Sprintf("changed from %s to %s", quote(a), quote(b))
	}
	return fmt.Sprintf("changed from %s to %s", show(was), show(now))
}

// differing gives what differs of two texts, with a little of what stands around.
func differing(a, b string) (string, string) {
	if len(a) <= maxShown/3 && len(b) <= maxShown/3 {
		return a, b
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return part(a, head, tail), part(b, head, tail)
}

func part(text string, head, tail int) string {
	from, to := max(0, head-around), min(len(text), len(text)-tail+around)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	cut := text[from:to]
	if from > 0 {
		cut = "…" + cut
	}
	if to < len(text) {
		cut += "…"
	}
	return cut
}

func quote(text string) string { return `"` + foreign.Visible(text, maxShown) + `"` }

// show gives a value in canonical form, bounded. Nothing in it is hidden.
func show(value []byte) string { return foreign.Visible(string(value), maxShown) }

// place names a place in a definition.
func place(at []string) string {
	switch at[0] {
	case "inputSchema":
		return inSchema(at[1:], "parameter", "the input schema")
	case "outputSchema":
		return inSchema(at[1:], "result member", "the output schema")
	case "annotations":
		if len(at) > 1 {
			return "its annotation " + path(at[1:])
		}
	case "arguments":
		if len(at) > 1 {
			return "its argument " + path(at[1:])
		}
	}
	return "its " + path(at)
}

// inSchema names a place in a schema: a parameter, or a keyword of one or of the whole.
func inSchema(at []string, what, of string) string {
	var name []string
	for len(at) >= 2 && (at[0] == "properties" || at[0] == "items" && at[1] == "properties") {
		if at[0] == "items" {
			at = at[1:]
			name = append(name, "[]")
			continue
		}
		name = append(name, at[1])
		at = at[2:]
	}
	if len(name) > 0 {
		of = what + ` "` + path(name) + `"`
	}
	if len(at) == 0 {
		return of
	}
	return "the keyword " + path(at) + " of " + of
}

func path(steps []string) string { return foreign.Visible(strings.Join(steps, "."), foreign.MaxName) }
