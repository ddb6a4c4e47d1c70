// Package nearest finds the known names that a mistyped one was meant to be.
package nearest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names returns at most n of known that are like name, the likest first: those within a third of its length in edits,
// and those that contain it or are contained in it. Case does not count, and each is named once.
func Names(name string, known []string, n int) []string {
	type candidate struct {
		name string
		dist int
	}
	if len(name) > maxLen {
		return nil
	}
	low := strings.ToLower(name)
	var found []candidate
	for _, k := range known {
		if len(k) > maxLen {
			continue
		}
		kl := strings.ToLower(k)
		d := distance(low, kl)
		switch {
		case d <= max(1, utf8.RuneCountInString(low)/3):
		case len(low) >= 3 && (strings.Contains(kl, low) || len(kl) >= 3 && strings.Contains(low, kl)):
			d += len(low)
		default:
			continue
		}
		found = append(found, candidate{k, d})
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.dist, b.dist) })
	var names []string
	for _, c := range found {
		if len(names) < n && !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// Hint asks whether the known name that a mistyped one is likest to was meant; otherwise is said where it is like none.
func Hint(name string, known []string, otherwise string) string {
	if near := Names(name, known, 1); near != nil {
		return fmt.Sprintf("did you mean %q?", near[0])
	}
	return otherwise
}

// Before is Hint with a text behind it that is said in any case.
func Before(name string, known []string, text string) string {
	return strings.TrimPrefix(Hint(name, known, "")+" "+text, " ")
}

// maxLen bounds the work for hostile names; longer ones are like nothing.
const maxLen = 256

// distance is the number of single-character edits, swaps of neighbours included, that turn a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var before, last []int
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before, last, row = last, row, make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(y)]
}
