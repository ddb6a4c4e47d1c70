package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// The narrowest and the plain width of a column of descriptions.
const (
	leastText = 20
	plainText = 80
)

// width is how many columns standard output has; 0 if it is no terminal.
func (e *environment) width() int {
	if !isTerminal(e.out) {
		return 0
	}
	if set, _ := e.lookup("COLUMNS"); set != "" {
		if n, err := strconv.Atoi(set); err == nil && n > 0 {
			return n
		}
	}
	return columns(e.out.(*os.File))
}

// textWidth is how wide text that is set in lines may be.
func (e *environment) textWidth() int {
	if n := e.width(); n > 0 {
		return min(max(n, 2*leastText), 100)
	}
	return plainText
}

// table is what is printed in columns, of which the last takes what is left of a terminal's width.
type table struct {
	head []string
	rows [][]string
	most int // characters of the last column where no terminal says how wide it may be; 0 for all
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print prints a table within the width of the terminal, if standard output is one.
func (e *environment) print(t *table) error {
	_, err := io.WriteString(e.out, t.draw(e.width(), e.paint(e.out)))
	return err
}

// draw sets the table within a width, 0 for any; without rows it is empty. Where the columns leave too little of the width,
// each row is a block of lines, a name and a value each.
func (t *table) draw(width int, p paint) string {
	if len(t.rows) == 0 {
		return ""
	}
	last := len(t.head) - 1
	wide, left := make([]int, last), width
	for i := range wide {
		wide[i] = t.longest(i)
		left -= wide[i] + 2
	}
	if width > 0 && left < min(leastText, t.longest(last)) {
		return t.blocks(width, p)
	}
	var b strings.Builder
	for at, row := range append([][]string{t.head}, t.rows...) {
		text := row[last]
		switch {
		case width > 0:
			text = cut.Within(text, left)
		case t.most > 0:
			text = cut.Within(text, t.most)
		}
		for i, w := range wide {
			b.WriteString(t.painted(p, at, i, row[i]) + strings.Repeat(" ", w+2-utf8.RuneCountInString(row[i])))
		}
		b.WriteString(t.painted(p, at, last, text) + "\n")
	}
	return b.String()
}

// blocks sets each row as lines of its own: nothing is cut but the last column, to three lines.
func (t *table) blocks(width int, p paint) string {
	label := 0
	for _, name := range t.head {
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
			name := strings.TrimSpace(t.head[i])
			b.WriteString(p.bold(name) + strings.Repeat(" ", label-utf8.RuneCountInString(name)))
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
func (t *table) longest(column int) int {
	n := utf8.RuneCountInString(t.head[column])
	for _, row := range t.rows {
		n = max(n, utf8.RuneCountInString(row[column]))
	}
	return n
}

// painted sets off the head, which is row 0, and states.
func (t *table) painted(p paint, row, column int, text string) string {
	switch strings.TrimSpace(t.head[column]) {
	case "STATE", "STATUS", "OUTCOME":
		if row > 0 {
			return p.state(text)
		}
	}
	if row == 0 {
		return p.bold(text)
	}
	return text
}
