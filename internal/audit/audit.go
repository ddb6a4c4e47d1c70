// Package audit says what is odd in what MCP servers say: characters that nobody sees, orders about other tools and
// servers, names that look like those of others. It compares characters and phrases and understands nothing: it says
// what it saw and where, and never that anything is safe.
package audit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Text is something that a server says: a definition as the server wrote it, or a JSON string.
type Text struct {
	Label string // what it is, such as: tool "create_issue"
	Tool  string // its name, if it is a tool
	Raw   []byte
}

// Server is what one server says.
type Server struct {
	Name  string // such as dev/github
	Texts []Text
	// Loosened are labels of tools that said they only read when they were agreed to, and do not now.
	Loosened []string
}

// Hint is something odd.
type Hint struct {
	Server string
	Place  string // of what it is in, such as: tool "create_issue", description
	Saw    string // what was seen, in words of this program
	Shown  string // the text around it, visible and bounded; "" if there is no more to show
}

// String gives the hint for a person.
func (h Hint) String() string {
	text := fmt.Sprintf("%s: %s: %s", h.Server, h.Place, h.Saw)
	if h.Shown != "" {
		text += fmt.Sprintf(": %q", h.Shown)
	}
	return text
}

// mostOf bounds the hints on one server.
const mostOf = 50

// Inspect looks at what servers say that a model is offered together, and beside others, whose names count and of whom
// nothing is said. The hints come in the order of the servers, at most 50 of each.
func Inspect(servers []Server, beside ...Server) (hints []Hint) {
	names := newNames(slices.Concat(servers, beside))
	for i := range servers {
		l := look{names: names, server: &servers[i]}
		for _, label := range servers[i].Loosened {
			l.add([]string{label, "annotations"}, "when it was agreed to, it said that it only reads; now it does not", "")
		}
		for _, t := range servers[i].Texts {
			l.name(t)
			l.value([]string{t.Label}, t.Raw, wire.Whole(t.Raw))
		}
		if l.more > 0 {
			l.hints = append(l.hints, Hint{Server: servers[i].Name, Place: "elsewhere", Saw: fmt.Sprintf("%d hints more", l.more)})
		}
		hints = append(hints, l.hints...)
	}
	return hints
}

// look is one server being looked at.
type look struct {
	names  *names
	server *Server
	hints  []Hint
	more   int
	folded []byte
}

// add adds a hint. Its place is given as the label of a text and the names of the members that lead to the part of it.
func (l *look) add(place []string, saw, shown string) {
	if len(l.hints) == mostOf {
		l.more++
		return
	}
	in := place[0]
	for _, name := range place[1:] {
		in += ", " + foreign.Visible(name, foreign.MaxName)
	}
	l.hints = append(l.hints, Hint{l.server.Name, in, saw, shown})
}

// value looks at all strings of a value but those that no model is shown.
func (l *look) value(place []string, raw []byte, at wire.Span) {
	if !at.Present() {
		return
	}
	switch raw[at.Start] {
	case '{':
		for key, val := range wire.Members(raw, at) {
			name, _ := wire.Unquote(raw[key.Start:key.End])
			if name == "_meta" || name == "icons" {
				continue
			}
			in := append(place, name)
			l.hidden(in, name)
			l.orders(in, name)
			if name == "name" && raw[val.Start] == '"' {
				text, _ := wire.Unquote(raw[val.Start:val.End])
				l.hidden(in, text)
				l.orders(in, text)
				continue
			}
			l.value(in, raw, val)
		}
	case '[':
		for e := range wire.Elements(raw, at) {
			l.value(place, raw, e)
		}
	case '"':
		if text, ok := wire.Unquote(raw[at.Start:at.End]); ok {
			l.hidden(place, text)
			l.orders(place, text)
			l.others(place, text)
		}
	}
}

// around is how much of a text is shown beside what is odd, in bytes.
const around = 60

// near gives a part of a text and what stands around it, visible.
func near(text string, from, to int) string {
	start, end := max(0, from-around), min(len(text), to+around)
	return foreign.Visible(strings.ToValidUTF8(text[start:end], ""), 4*around)
}

// orders are phrases that tell a model what to do with other tools, or with whom it works for.
func orders() []string {
	return []string{
		"ignore previous", "ignore all previous", "ignore any previous", "ignore your previous", "ignore the previous", "ignore prior",
		"ignore all prior", "ignore earlier", "ignore all earlier", "ignore your instructions", "ignore the above", "ignore any other",
		"disregard previous", "disregard all", "disregard the above", "forget previous", "forget your instructions",
		"do not tell the user", "don't tell the user", "do not inform the user", "don't inform the user",
		"do not mention this", "don't mention this", "do not mention that", "don't mention that", "do not notify the user",
		"do not ask the user for permission", "do not ask the user for confirmation", "don't ask the user for permission",
		"don't ask the user for confirmation", "do not reveal this", "don't reveal this", "do not tell anyone",
		"without telling the user", "without asking the user", "without informing the user", "without notifying the user",
		"without the user's knowledge", "without the user knowing", "hide this from the user", "keep this from the user",
		"before using any other", "before calling any other", "before any other tool", "before using this tool, read",
		"before using this tool, call", "call this tool first", "always call this tool", "must call this tool", "must be called first",
		"use this tool instead of any", "use this tool instead of all", "use this tool instead of other", "use instead of any",
		"prefer this tool over any", "prefer this tool over all", "prefer this tool over other", "instead of the tools of other",
		"when this tool is available", "do not use any other tool", "do not use other tools", "don't use any other tool",
		"don't use other tools", "never use other tools", "when using other tools", "when calling other tools", "all other tools",
		"tools of other servers", "other mcp servers", "any other mcp", "system prompt", "<important>", "<system>", "</system>",
		"<instructions>", "<secret>", "[system]",
	}
}

// keys are places of secrets. Where the sentence says that they are refused, as many servers for files say of theirs,
// they are no more than an example.
func keys() []string {
	return []string{"~/.ssh", "id_rsa", "id_ed25519", "~/.aws", "~/.cursor", "~/.netrc", "~/.gnupg", "/etc/shadow"}
}

func refusals() []string {
	return []string{"reject", "denied", "deny", "block", "refuse", "forbid", "forbidden", "disallow", "not allowed", "not permitted", "not accessible", "excluded"}
}

// sentence gives the sentence around a place in a folded text, or what is near of it.
func sentence(text []byte, from, to int) []byte {
	const most = 200
	before, after := text[max(0, from-most):from], text[to:min(len(text), to+most)]
	for _, end := range []string{". ", "! ", "? ", "; "} {
		if i := bytes.LastIndex(before, []byte(end)); i >= 0 {
			before = before[i+len(end):]
		}
		if i := bytes.Index(after, []byte(end)); i >= 0 {
			after = after[:i]
		}
	}
	return text[from-len(before) : to+len(after)]
}

func isRefused(sentence []byte) bool {
	return slices.ContainsFunc(refusals(), func(word string) bool { return bytes.Contains(sentence, []byte(word)) })
}

func (l *look) orders(place []string, text string) {
	if len(text) < 5 {
		return
	}
	l.folded = appendFolded(l.folded[:0], text)
	var said []string
	for i, c := range l.folded {
		if i > 0 && isNamePart(l.folded[i-1]) {
			continue // it is within a word
		}
		for _, phrase := range l.names.orders[c] {
			if !bytes.HasPrefix(l.folded[i:], []byte(phrase)) || slices.Contains(said, phrase) {
				continue
			}
			if !slices.Contains(keys(), phrase) || !isRefused(sentence(l.folded, i, i+len(phrase))) {
				said = append(said, phrase)
				l.add(place, fmt.Sprintf("words that read as an order, or about other tools: %q", phrase), near(string(l.folded), i, i+len(phrase)))
			}
		}
	}
}

// appendFolded appends a text in lower case, with one space for all that is between words, without marks of emphasis
// and what nobody sees, and with Latin letters for what looks like them.
func appendFolded(dst []byte, text string) []byte {
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
		case unicode.IsSpace(r):
			r = ' '
		case foreign.Hidden(r):
			continue
		default:
			r = latin(unicode.ToLower(r))
		}
		switch {
		case r == '*' || r == '`':
			continue
		case r == ' ' || r == '\n' || r == '\t' || r == '\r':
			if len(dst) == 0 || dst[len(dst)-1] == ' ' {
				continue
			}
			r = ' '
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// others looks for the names of tools that only other servers have.
func (l *look) others(place []string, text string) {
	if len(l.names.owners) == 0 {
		return
	}
	var said []string
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && isNamePart(text[end]) {
			end++
		}
		word := text[start:end]
		if owners := l.names.owners[word]; len(word) >= leastCoined && len(owners) > 0 && !slices.Contains(owners, l.server.Name) && !slices.Contains(said, word) {
			said = append(said, word)
			l.add(place, fmt.Sprintf("the name of a tool of %s: %q", strings.Join(owners, " and "), foreign.NewName(word)), near(text, start, end))
		}
		start = end + 1
	}
}

func isNamePart(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
