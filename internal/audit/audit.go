// Package audit says what is odd in what MCP servers say: characters that nobody sees, orders about other tools and
// servers, names that look like those of others. It compares characters and phrases and understands nothing: it says what
// it saw and where, and never that anything is safe.
package audit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

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

// Inspect looks at what servers say that a model is offered together. The hints come in the order of the servers, at most
// 50 of each.
func Inspect(servers []Server) (hints []Hint) {
	names := newNames(servers)
	for i := range servers {
		l := look{names: names, server: &servers[i]}
		for _, label := range servers[i].Loosened {
			l.add(label+", annotations", "it said that it only reads when it was agreed to, and does not say so now", "")
		}
		for _, t := range servers[i].Texts {
			l.name(t)
			l.value(t.Label, t.Raw, wire.Span{Start: 0, End: len(t.Raw)})
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

func (l *look) add(place, saw, shown string) {
	if len(l.hints) == mostOf {
		l.more++
		return
	}
	l.hints = append(l.hints, Hint{l.server.Name, place, saw, shown})
}

// value looks at all strings of a value but those that no model is shown.
func (l *look) value(place string, raw []byte, at wire.Span) {
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
			in := place + ", " + foreign.Visible(name, foreign.MaxName)
			l.hidden(in, name)
			if name == "name" && raw[val.Start] == '"' {
				text, _ := wire.Unquote(raw[val.Start:val.End])
				l.hidden(in, text) // what it means is for those who look at names
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
		"ignore previous", "ignore all previous", "ignore the previous", "ignore prior", "ignore the above", "ignore any other",
		"disregard previous", "disregard all", "disregard the above", "forget previous", "forget your instructions",
		"do not tell the user", "don't tell the user", "do not inform the user", "don't inform the user",
		"do not mention this", "don't mention this", "without telling the user", "without asking the user", "hide this from the user",
		"before using any other", "before calling any other", "before any other tool", "before using this tool, read",
		"before using this tool, call", "call this tool first", "always call this tool", "must call this tool", "must be called first",
		"use this tool instead of", "use instead of any", "prefer this tool over", "do not use any other tool", "do not use other tools",
		"don't use other tools", "never use other tools", "when using other tools", "when calling other tools", "all other tools",
		"tools of other servers", "other mcp servers", "any other mcp", "system prompt", "<important>", "<system>", "</system>",
		"<instructions>", "<secret>", "[system]", "~/.ssh", "id_rsa",
	}
}

func (l *look) orders(place, text string) {
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
			if bytes.HasPrefix(l.folded[i:], []byte(phrase)) && !slices.Contains(said, phrase) {
				said = append(said, phrase)
				l.add(place, fmt.Sprintf("words that read as an order, or about other tools: %q", phrase), near(string(l.folded), i, i+len(phrase)))
			}
		}
	}
}

// appendFolded appends a text in lower case, with one space for all that is between words.
func appendFolded(dst []byte, text string) []byte {
	for i := range len(text) {
		c := text[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			if len(dst) == 0 || dst[len(dst)-1] == ' ' {
				continue
			}
			c = ' '
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// others looks for the names of tools that only other servers have.
func (l *look) others(place, text string) {
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
