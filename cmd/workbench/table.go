package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
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
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print prints the table within a width, 0 for any; without rows nothing is printed.
func (t *table) print(to io.Writer, width int) error {
	if len(t.rows) == 0 {
		return nil
	}
	all := append([][]string{t.head}, t.rows...)
	last := len(t.head) - 1
	wide := make([]int, last)
	left := width
	for i := range wide {
		for _, row := range all {
			wide[i] = max(wide[i], utf8.RuneCountInString(row[i]))
		}
		left -= wide[i] + 2
	}
	if width == 0 {
		left = plainText
	}
	for _, row := range all {
		var line strings.Builder
		for i, w := range wide {
			fmt.Fprintf(&line, "%-*s", w+2, row[i])
		}
		line.WriteString(shorten(row[last], max(left, leastText)))
		if _, err := fmt.Fprintln(to, line.String()); err != nil {
			return err
		}
	}
	return nil
}
