package trust

import "slices"

// Marks of the lines that [Changes] returns.
const (
	same    = "  "
	removed = "- "
	added   = "+ "
)

// maxCells bounds the table by which the lines that stayed are found.
const maxCells = 4 << 20

// Changes returns what is to be shown of a file with how it differs from what was shown of it before: each line with a
// mark, "- " for one that is there no more, "+ " for a new one, else two spaces; nil if nothing differs.
func Changes(before, now []string) []string {
	if slices.Equal(before, now) {
		return nil
	}
	var out []string
	for len(before) > 0 && len(now) > 0 && before[0] == now[0] {
		out = append(out, same+now[0])
		before, now = before[1:], now[1:]
	}
	end := 0
	for end < len(before) && end < len(now) && before[len(before)-1-end] == now[len(now)-1-end] {
		end++
	}
	out = append(out, middle(before[:len(before)-end], now[:len(now)-end])...)
	for _, line := range now[len(now)-end:] {
		out = append(out, same+line)
	}
	return out
}

// middle keeps as many lines as can be (longest common subsequence), and none where that is too much work.
func middle(before, now []string) (out []string) {
	var longest [][]int32 // of what is left from a line of before and one of now on
	if len(before)*len(now) <= maxCells {
		longest = make([][]int32, len(before)+1)
		for i := range longest {
			longest[i] = make([]int32, len(now)+1)
		}
		for i := len(before) - 1; i >= 0; i-- {
			for j := len(now) - 1; j >= 0; j-- {
				if before[i] == now[j] {
					longest[i][j] = longest[i+1][j+1] + 1
				} else {
					longest[i][j] = max(longest[i+1][j], longest[i][j+1])
				}
			}
		}
	}
	i, j := 0, 0
	for i < len(before) || j < len(now) {
		switch {
		case longest != nil && i < len(before) && j < len(now) && before[i] == now[j]:
			out = append(out, same+now[j])
			i, j = i+1, j+1
		case i < len(before) && (j == len(now) || longest == nil || longest[i+1][j] >= longest[i][j+1]):
			out = append(out, removed+before[i])
			i++
		default:
			out = append(out, added+now[j])
			j++
		}
	}
	return out
}
