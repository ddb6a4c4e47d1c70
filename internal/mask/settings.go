package mask

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/document"
)

// secretFolders are keys of settings below which every text may be a secret.
var secretFolders = []string{"env", "envs", "environment", "headers", "http_headers"}

// Settings gives the text of a file of settings with the values left out that may be secrets. Its lines stay where they are.
// What cannot be read is not shown at all, and has no text.
func Settings(path string, data []byte) string {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var faults document.Faults
	root := document.ReadSettings(path, data, &faults)
	if len(faults) > 0 || root == nil {
		return ""
	}
	m := masking{data: data, starts: lineStarts(data), toml: strings.EqualFold(filepath.Ext(path), ".toml")}
	m.visit(root, 0, "", "", false)
	m.marks = append(m.marks, len(data))
	slices.Sort(m.marks)
	slices.Sort(m.secrets)
	var out bytes.Buffer
	at := 0
	for _, from := range m.secrets {
		if from < at {
			continue
		}
		to := m.end(data, from)
		out.Write(data[at:from])
		out.WriteString(`"•••"`)
		out.WriteString(strings.Repeat("\n", bytes.Count(data[from:to], []byte("\n"))))
		at = to
	}
	out.Write(data[at:])
	return out.String()
}

// masking finds the secrets of a document.
type masking struct {
	data    []byte
	starts  []int // of the lines
	toml    bool  // a value stands where its key does
	marks   []int // where keys and values begin
	secrets []int
}

func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, b := range data {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// visit notes what begins at an offset, at a key or in a list there; secret says that every text of it is one, and before is the
// text before it.
func (m *masking) visit(n *document.Node, from int, key, before string, secret bool) {
	m.marks = append(m.marks, from)
	secret = secret || IsSecretMember(key)
	if n.Kind == document.Text && (secret && Credentials(n.Value) != nil || InArgument(before, n.Value) != nil) {
		m.secrets = append(m.secrets, from)
	}
	for _, item := range n.Items {
		m.visit(item, m.at(item.Line, item.Column), key, before, secret)
		before = item.Value
	}
	for _, member := range n.Members {
		m.marks = append(m.marks, m.at(member.Line, member.Column))
		from := m.at(member.Value.Line, member.Value.Column)
		if _, value, is := bytes.Cut(m.data[from:], []byte("=")); m.toml && member.Value.Kind == document.Text && is {
			from = len(m.data) - len(bytes.TrimLeft(value, " \t"))
		}
		m.visit(member.Value, from, member.Key, "", secret || slices.Contains(secretFolders, member.Key))
	}
}

// at gives a place as an offset; columns are characters.
func (m *masking) at(line, column int) int {
	from := m.starts[min(max(line, 1), len(m.starts))-1]
	for ; column > 1 && from < len(m.data); column-- {
		_, size := utf8.DecodeRune(m.data[from:])
		from += size
	}
	return from
}

// end gives where a value ends that begins at from: at its quotation mark, or else before what comes next.
func (m *masking) end(data []byte, from int) int {
	next, _ := slices.BinarySearch(m.marks, from+1)
	limit := m.marks[min(next, len(m.marks)-1)]
	for _, quote := range []string{`"""`, "'''", `"`, "'"} { // the long ones are of TOML
		rest, quoted := bytes.CutPrefix(data[from:], []byte(quote))
		for i := 0; quoted && i < len(rest); i++ {
			switch {
			case rest[i] == '\\' && quote[0] == '"', quote == "'" && bytes.HasPrefix(rest[i:], []byte("''")):
				i++
			case bytes.HasPrefix(rest[i:], []byte(quote)):
				return len(data) - len(rest) + i + len(quote)
			}
		}
	}
	return from + len(bytes.TrimRight(data[from:limit], " \t\r\n"))
}
