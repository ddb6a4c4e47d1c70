package pageview

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/document"
)

// Keys of a configuration below which every text may be a secret, keys that name one, and arguments that are or announce one.
var (
	secretFolders = []string{"env", "headers"}
	secretKey     = regexp.MustCompile(`(?i)secret|token|password|passwd|dsn|api_?-?key|authorization|credential`)
	secretFlag    = regexp.MustCompile(`(?i)(secret|token|passw|key|auth|credential|dsn)[\w-]*$`)
	secretPair    = regexp.MustCompile(`(?i)(secret|token|passw|key|auth|credential|dsn)[\w-]*[=:]`)
	secretURL     = regexp.MustCompile(`://[^/]*@|\?`)
	onlyReference = regexp.MustCompile(`^(Bearer )?(\$\{[^}]*\}\s*)+$`)
)

// masked gives the text of a configuration with the values left out that may be secrets. Its lines stay where they are. What
// cannot be read as one is not shown at all, and has no text.
func masked(path string, data []byte) string {
	var faults document.Faults
	root := document.ReadSettings(path, data, &faults)
	if len(faults) > 0 || root == nil {
		return ""
	}
	m := masking{data: data, starts: lineStarts(data)}
	m.visit(root, "", false)
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

// visit notes what stands at a key, or in a list there; secret says that every text of it is one.
func (m *masking) visit(n *document.Node, key string, secret bool) {
	m.marks = append(m.marks, m.at(n.Line, n.Column))
	secret = secret || secretKey.MatchString(key)
	if n.Kind == document.Text && !onlyReference.MatchString(n.Value) &&
		(secret || key == "url" && secretURL.MatchString(n.Value) || key == "args" && secretPair.MatchString(n.Value)) {
		m.secrets = append(m.secrets, m.at(n.Line, n.Column))
	}
	for i, item := range n.Items {
		after := key == "args" && i > 0 && strings.HasPrefix(n.Items[i-1].Value, "-") && secretFlag.MatchString(n.Items[i-1].Value)
		m.visit(item, key, secret || after)
	}
	for _, member := range n.Members {
		m.marks = append(m.marks, m.at(member.Line, member.Column))
		m.visit(member.Value, member.Key, secret || slices.Contains(secretFolders, member.Key))
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
