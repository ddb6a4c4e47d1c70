// Command picture writes what a program printed, on standard input, as a picture of a terminal (SVG).
package main

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Sizes in pixels.
const (
	lineHeight = 19
	charWidth  = 8.43
	margin     = 18
)

func main() {
	if err := draw(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func draw(in io.Reader, out io.Writer) error {
	lines := []string{"$ make demo"}
	widest := 0
	for scan := bufio.NewScanner(in); scan.Scan(); {
		lines = append(lines, scan.Text())
		widest = max(widest, utf8.RuneCountInString(scan.Text()))
	}
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">`+"\n",
		float64(widest)*charWidth+2*margin, len(lines)*lineHeight+2*margin)
	fmt.Fprintln(w, `<rect width="100%" height="100%" rx="8" fill="#16181d"/>`)
	for i, line := range lines {
		if line == "" {
			continue
		}
		fmt.Fprintf(w, `<text x="%d" y="%d" xml:space="preserve" %s>`, margin, margin+(i+1)*lineHeight-5, style(i, line))
		if err := xml.EscapeText(w, []byte(line)); err != nil {
			return err
		}
		fmt.Fprintln(w, "</text>")
	}
	fmt.Fprintln(w, "</svg>")
	return w.Flush()
}

// style is how a line is set, by what it begins with.
func style(i int, line string) string {
	switch {
	case i == 0:
		return `fill="#8b93a1"`
	case strings.HasPrefix(line, " ✓"):
		return `fill="#7fd88f"`
	case strings.HasPrefix(line, " ✗"):
		return `fill="#f07178"`
	case !strings.HasPrefix(line, " "):
		return `fill="#ffffff" font-weight="bold"`
	}
	return `fill="#c8ccd4"`
}
