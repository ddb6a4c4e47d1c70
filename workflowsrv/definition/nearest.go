package definition

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Nearest returns the candidates that name could have been meant for, best
// first and at most limit: those that differ in few letters, and those that
// contain name or are contained in it. Case is not looked at. It is for
// answers to a name that does not exist.
func Nearest(name string, candidates []string, limit int) []string {
	// A longer name is no typing error, and comparing it would cost time that
	// a caller could choose.
	if len(name) > 128 {
		return nil
	}
	type hit struct {
		name     string
		distance int
	}
	wanted := strings.ToLower(name)
	var hits []hit
	for _, candidate := range candidates {
		c := strings.ToLower(candidate)
		d := editDistance(wanted, c)
		within := len(wanted) >= 3 && (strings.Contains(c, wanted) || strings.Contains(wanted, c) && len(c) >= 3)
		if d <= max(len(wanted), len(c))*2/5 || within {
			hits = append(hits, hit{candidate, d})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, h := range hits[:min(limit, len(hits))] {
		names = append(names, h.name)
	}
	return names
}

// didYouMean gives the half sentence that names the nearest candidate, or "".
func didYouMean(name string, candidates []string) string {
	near := Nearest(name, candidates, 1)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strconv.Quote(near[0]) + "?"
}

// editDistance counts the bytes to insert, delete or replace to turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j]+1, row[j+1]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
