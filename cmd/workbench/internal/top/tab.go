package top

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// tab is one of the things that are shown: a table, of which one row is chosen.
type tab interface {
	name() string
	// heard takes what a model was told, if it is for this tab.
	heard(any)
	columns() []string
	len() int
	// id tells a row from the others, also after a change.
	id(row int) string
	// words are what a filter looks in.
	words(row int) string
	cells(row int) []string
	// about is what else there is to say of a row, in lines of a width.
	about(row, width int) string
	// none says why there is no row.
	none() string
	keys() []key
}

// because says why there is no row: what went wrong, or otherwise.
func because(wrong error, otherwise string) string {
	if wrong != nil {
		return foreign.NewText(wrong.Error()).String()
	}
	return otherwise
}

// take replaces what a tab shows by what was read anew, if a model was told just that.
func take[T any](shown *T, told any) {
	if now, is := told.(T); is {
		*shown = now
	}
}

// key is what a key does with a row of a tab.
type key struct {
	key, does string
	command   func(row int) []string // of this program
	form      func(row int) *form    // or this is shown, to make one
}

// list is what is shown of a tab: the rows that a filter leaves, in a window of lines.
type list struct {
	filter string
	rows   []int
	at     int    // the chosen one of rows
	chosen string // its id; "" before somebody chose, so that the first is
	first  int    // of rows, in the window
}

// settle finds the rows again after a change, and the one that was chosen among them.
func (l *list) settle(t tab) {
	l.rows = l.rows[:0]
	wanted := strings.Fields(strings.ToLower(l.filter))
	for row := range t.len() {
		if len(wanted) > 0 {
			words := strings.ToLower(t.words(row))
			if slices.ContainsFunc(wanted, func(word string) bool { return !strings.Contains(words, word) }) {
				continue
			}
		}
		l.rows = append(l.rows, row)
	}
	if l.chosen == "" {
		l.at = 0
	} else if i := slices.IndexFunc(l.rows, func(row int) bool { return t.id(row) == l.chosen }); i >= 0 {
		l.at = i
	}
	l.at = max(min(l.at, len(l.rows)-1), 0)
}

// move chooses another row. The first stays chosen whatever comes before it.
func (l *list) move(t tab, by int) {
	l.at = max(min(l.at+by, len(l.rows)-1), 0)
	if l.chosen = ""; l.at > 0 {
		l.chosen = t.id(l.rows[l.at])
	}
}

// row is the one that is chosen; false if there is none.
func (l *list) row() (int, bool) {
	if len(l.rows) == 0 {
		return 0, false
	}
	return l.rows[l.at], true
}

// window gives the rows for so many lines, the chosen one among them.
func (l *list) window(lines int) []int {
	lines = max(lines, 1)
	l.first = max(min(l.first, l.at, len(l.rows)-lines), l.at-lines+1, 0)
	return l.rows[l.first:min(l.first+lines, len(l.rows))]
}
