package terminal

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// The narrowest and the plain width of a column of descriptions.
const (
	LeastText = 20
	PlainText = 80
)

// Table is what is printed in columns, of which the last takes what is left of a terminal's width.
type Table struct {
	Head []string
	rows [][]string
	Most int // characters of the last column where no terminal says how wide it may be; 0 for all
}

func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Draw sets the table within a width, 0 for any; without rows it is empty. Where the columns leave too little of the
// width, each row is a block of lines, a name and a value each.
func (t *Table) Draw(width int, p Paint) string {
	if len(t.rows) == 0 {
		return ""
	}
	wide, left := t.columns(width)
	if width > 0 && left < min(LeastText, t.longest(len(wide))) {
		return t.blocks(width, p)
	}
	return t.Lines(width, p)
}

// columns gives how wide the columns are, and how much of a width is left for the last of them.
func (t *Table) columns(width int) (wide []int, left int) {
	wide, left = make([]int, len(t.Head)-1), width
	for i := range wide {
		wide[i] = t.longest(i)
		left -= wide[i] + 2
	}
	return wide, left
}

// Lines sets the table as its head and one line for each row, which may be wider than the width by columns other than
// the last.
func (t *Table) Lines(width int, p Paint) string {
	wide, left := t.columns(width)
	last := len(wide)
	var b strings.Builder
	for at, row := range append([][]string{t.Head}, t.rows...) {
		text := row[last]
		switch {
		case width > 0:
			text = cut.Within(text, max(left, 1))
		case t.Most > 0:
			text = cut.Within(text, t.Most)
		}
		for i, w := range wide {
			b.WriteString(t.painted(p, at, i, row[i]) + strings.Repeat(" ", w+2-utf8.RuneCountInString(row[i])))
		}
		b.WriteString(t.painted(p, at, last, text) + "\n")
	}
	return b.String()
}

// blocks sets each row as lines of its own: nothing is cut but the last column, to three lines.
func (t *Table) blocks(width int, p Paint) string {
	label := 0
	for _, name := range t.Head {
		label = max(label, utf8.RuneCountInString(strings.TrimSpace(name))+2)
	}
	room := max(width-label, 1)
	var b strings.Builder
	for at, row := range t.rows {
		if at > 0 {
			b.WriteString("\n")
		}
		for i, cell := range row {
			if i == len(row)-1 {
				cell = cut.Within(cell, 3*room)
			}
			name := strings.TrimSpace(t.Head[i])
			b.WriteString(p.Bold(name) + strings.Repeat(" ", label-utf8.RuneCountInString(name)))
			rest := []rune(strings.TrimSpace(cell))
			for len(rest) > room {
				b.WriteString(string(rest[:room]) + "\n" + strings.Repeat(" ", label))
				rest = rest[room:]
			}
			b.WriteString(t.painted(p, at+1, i, string(rest)) + "\n")
		}
	}
	return b.String()
}

// longest is the length of the longest cell of a column.
func (t *Table) longest(column int) int {
	n := utf8.RuneCountInString(t.Head[column])
	for _, row := range t.rows {
		n = max(n, utf8.RuneCountInString(row[column]))
	}
	return n
}

// painted sets off the head, which is row 0, and states.
func (t *Table) painted(p Paint, row, column int, text string) string {
	switch strings.TrimSpace(t.Head[column]) {
	case "STATE", "STATUS", "OUTCOME":
		if row > 0 {
			return p.State(text)
		}
	}
	if row == 0 {
		return p.Bold(text)
	}
	return text
}
