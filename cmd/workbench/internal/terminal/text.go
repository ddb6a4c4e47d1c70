package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Count is a number of things.
func Count(n int, noun string) string { return CountVerb(n, noun, noun+"s") }

// Moment is a time as the clock of the user shows it.
func Moment(t time.Time) string { return t.Local().Format(time.DateTime) }

// Day is the day of a time for the user.
func Day(t time.Time) string { return t.Local().Format(time.DateOnly) }

// Bytes is a number of bytes.
func Bytes(n int64) string {
	if n < 100_000 {
		return fmt.Sprintf("%d kB", (n+999)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// CountVerb is a number with the verb that goes with it.
func CountVerb(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// Wrap breaks text into lines of at most width characters, each behind indent.
func Wrap(text, indent string, width int) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := indent
		for _, word := range strings.Fields(paragraph) {
			if len(line) > len(indent) && len([]rune(line))+1+len([]rune(word)) > width {
				b.WriteString(line + "\n")
				line = indent
			}
			if len(line) > len(indent) {
				line += " "
			}
			line += word
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Clean is for what others may have written: out gets it without what a terminal would obey or not show. What is
// written at once is one text, and keeps the space at its ends.
func Clean(out io.Writer) io.Writer { return &cleaner{out} }

type cleaner struct{ out io.Writer }

func (c *cleaner) Write(p []byte) (int, error) {
	text := string(p)
	rest := strings.TrimRight(text, " \n")
	if _, err := io.WriteString(c.out, foreign.Block(rest)+text[len(rest):]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Hanging is a text of any length whose lines but the first are moved to the right.
func Hanging(text string, by int) string {
	return strings.ReplaceAll(foreign.Block(text), "\n", "\n"+strings.Repeat(" ", by))
}
