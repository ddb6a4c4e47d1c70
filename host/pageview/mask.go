package pageview

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/mask"
)

// secretFolders are keys of a configuration below which every text may be a secret.
var secretFolders = []string{"env", "headers"}

// Masked gives the text of a configuration with the values left out that may be secrets. Its lines stay where they are.
// What cannot be read as one is not shown at all, and has no text.
func Masked(path string, data []byte) string {
	var faults document.Faults
	root := document.ReadSettings(path, data, &faults)
	if len(faults) > 0 || root == nil {
		return ""
	}
	m := masking{data: data, starts: lineStarts(data)}
	m.visit(root, "", "", false)
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

// visit notes what stands at a key, or in a list there; secret says that every text of it is one, and before is the
// text before it.
func (m *masking) visit(n *document.Node, key, before string, secret bool) {
	m.marks = append(m.marks, m.at(n.Line, n.Column))
	secret = secret || mask.IsSecretMember(key)
	if n.Kind == document.Text && (secret && mask.Credentials(n.Value) != nil || mask.InArgument(before, n.Value) != nil) {
		m.secrets = append(m.secrets, m.at(n.Line, n.Column))
	}
	for _, item := range n.Items {
		m.visit(item, key, before, secret)
		before = item.Value
	}
	for _, member := range n.Members {
		m.marks = append(m.marks, m.at(member.Line, member.Column))
		m.visit(member.Value, member.Key, "", secret || slices.Contains(secretFolders, member.Key))
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
	if from < len(data) && data[from] == '"' {
		for i := from + 1; i < len(data); i++ {
			switch data[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
	}
	return limit
}
