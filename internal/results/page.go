package results

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Bounds of a page.
const (
	pageLength = 5600 // bytes of the text
	pageCost   = 7400 // bytes as they stand in the reply, where some are escaped: less than 2,000 tokens
	alignment  = 400  // bytes that a page is shorter to end with a line
	around     = 120  // bytes on either side of what grep found in a long line
	maxPattern = 1 << 10
	window     = 64 << 10 // bytes that are searched at once
	patience   = 10 * time.Second
)

// Query says what of a kept result is wanted: of Lines, Path and Grep at most one, and all of the text if there is
// none.
type Query struct {
	Lines string // "10-20", "10-", "-20" or "10"
	Path  string // a JSONPath
	Grep  string // a regular expression
	Page  int    // from 1; 0 is 1
}

// Page gives a page of a kept result, and a line of what it is. One page is made at a time, until ctx ends.
func (s *Shelf) Page(ctx context.Context, id string, q Query) (told string, page []byte, err error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	k, part, err := s.find(id)
	if err != nil {
		return "", nil, err
	}
	if part != "" {
		return "", nil, fmt.Errorf("the pages are those of the whole text: give the id without %s; resources/read gives one piece", foreign.NewName("."+part))
	}
	q.Page = max(q.Page, 1)
	switch {
	case q.Path != "":
		told, page, err = k.follow(q.Path, q.Page)
	case q.Grep != "":
		told, page, err = k.grep(ctx, q.Grep, q.Page)
	default:
		told, page, err = k.some(q.Lines, q.Page)
	}
	return told, page, err
}

// index notes where lines begin.
func (k *kept) index(text []byte) {
	for at := 0; at < len(text); k.lines++ {
		if k.lines%lineStep == 0 {
			k.marks = append(k.marks, int64(at))
		}
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			n = len(text) - at - 1
		}
		at += n + 1
	}
}

// line is where a line begins, counted from 1; the one behind the last begins at the end.
func (k *kept) line(n int64) (int64, error) {
	if n > k.lines {
		return k.text, nil
	}
	at := k.marks[(n-1)/lineStep]
	for skip := (n - 1) % lineStep; skip > 0; {
		chunk, err := k.read(at, min(window, k.text-at))
		if err != nil {
			return 0, err
		}
		for skip > 0 {
			i := bytes.IndexByte(chunk, '\n')
			if i < 0 {
				at += int64(len(chunk))
				break
			}
			at, chunk, skip = at+int64(i)+1, chunk[i+1:], skip-1
		}
		if at >= k.text {
			break
		}
	}
	return at, nil
}

// lineRange reads "10-20".
func (k *kept) lineRange(text string) (from, to int64, err error) {
	from, to = 1, k.lines
	text = strings.TrimSpace(text)
	if text == "" {
		return from, to, nil
	}
	first, last, isRange := strings.Cut(text, "-")
	read := func(text string, n *int64) bool {
		if text = strings.TrimSpace(text); text == "" {
			return isRange
		}
		v, err := strconv.ParseInt(text, 10, 64)
		*n = v
		return err == nil && v > 0
	}
	ok := read(first, &from)
	if !isRange {
		to = from
	} else {
		ok = ok && read(last, &to)
	}
	switch {
	case !ok || from > to:
		return 0, 0, fmt.Errorf("lines are given as \"10-20\", \"10-\", \"-20\" or \"10\", from 1")
	case from > k.lines:
		return 0, 0, fmt.Errorf("the result has %d lines", k.lines)
	}
	return from, min(to, k.lines), nil
}

// some gives a page of some lines.
func (k *kept) some(lines string, page int) (string, []byte, error) {
	from, to, err := k.lineRange(lines)
	if err != nil {
		return "", nil, err
	}
	begin, err := k.line(from)
	if err != nil {
		return "", nil, err
	}
	end, err := k.line(to + 1)
	if err != nil {
		return "", nil, err
	}
	pages, data := 0, []byte{}
	var ahead []byte
	for at := begin; at < end || pages == 0; {
		if len(ahead) <= pageLength && int64(len(ahead)) < end-at {
			if ahead, err = k.read(at, min(4*window, end-at)); err != nil {
				return "", nil, err
			}
		}
		n := pageEnd(ahead)
		if pages++; pages == page {
			data = ahead[:n]
		}
		at, ahead = at+int64(n), ahead[n:]
	}
	if page > pages {
		return "", nil, noPage(pages)
	}
	told := fmt.Sprintf("lines %d to %d of %d, page %d of %d", from, to, k.lines, page, pages)
	return told, data, nil
}

func noPage(pages int) error { return fmt.Errorf("there is no such page: there are %d", pages) }

// pageEnd gives how long the first page of a text is: it ends with a line if one ends near, else with a character.
func pageEnd(text []byte) int {
	n := min(len(text), pageLength)
	for used := cost(text[:n]); used > pageCost; n-- {
		used -= int(costs[text[n-1]])
	}
	if n == len(text) {
		return n
	}
	if line := bytes.LastIndexByte(text[:n], '\n') + 1; line > 0 && line > n-alignment {
		return line
	}
	for cut := n; cut > n-utf8.UTFMax; cut-- {
		if utf8.RuneStart(text[cut]) {
			return cut
		}
	}
	return n
}

// a pager takes the pieces of an answer and keeps those of one page.
type pager struct {
	want  int
	page  int
	used  int
	first int // the number of the first piece of the page
	count int
	open  bool // a piece was begun and not ended
	out   []byte
}

// add takes a piece, and with its end a line of the answer is whole; it reports false when the page is full.
func (p *pager) add(ends bool, piece ...[]byte) bool {
	n := 1
	for _, part := range piece {
		n += cost(part)
	}
	if p.page == 0 || p.used+n > pageCost {
		if p.page == p.want {
			return false
		}
		p.page++
		p.used, p.first = 0, p.count
	}
	p.used += n
	p.open = !ends
	if p.page == p.want {
		for _, part := range piece {
			p.out = append(p.out, part...)
		}
	}
	if ends {
		p.used++ // the end of a line is written as two characters
		p.count++
		if p.page == p.want {
			p.out = append(p.out, '\n')
		}
	}
	return true
}

// cost is how many bytes a text takes in the reply.
func cost(text []byte) int {
	n := 0
	for _, c := range text {
		n += int(costs[c])
	}
	return n
}

// costs are how many bytes each byte takes, as [wire.AppendQuote] writes it.
var costs = func() (n [256]uint8) {
	for c := range n {
		switch {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			n[c] = 2
		case c < ' ':
			n[c] = uint8(len(`\u0000`))
		case c == 0xe2: // it may begin U+2028 or U+2029, of which the other two bytes count by themselves
			n[c] = uint8(len(`\u2028`) - 2)
		default:
			n[c] = 1
		}
	}
	return n
}()

// told says what a page has of things that are called so.
func (p *pager) told(what string, more bool) string {
	last := p.count
	if p.open {
		last++
	}
	text := fmt.Sprintf("page %d: %s %d to %d", p.want, what, p.first+1, last)
	if more {
		return text + fmt.Sprintf("; there are more on page %d", p.want+1)
	}
	return text + fmt.Sprintf(" of %d", p.count)
}

// grep gives a page of what a regular expression finds.
func (k *kept) grep(ctx context.Context, pattern string, page int) (string, []byte, error) {
	if len(pattern) > maxPattern {
		return "", nil, fmt.Errorf("grep takes at most %d bytes", maxPattern)
	}
	e := &expression{pattern, needed(pattern), map[[2]bool]*regexp.Regexp{}}
	if _, err := e.in(true, true); err != nil {
		return "", nil, fmt.Errorf("grep: %w (regular expressions are those of RE2; (?i) at the beginning ignores case)", err)
	}
	text, err := k.read(0, k.text)
	if err != nil {
		return "", nil, err
	}
	p := &pager{want: page}
	more, err := k.matches(ctx, e, text, p)
	switch {
	case err != nil:
		return "", nil, err
	case p.count == 0:
		return "nothing matches", nil, nil
	case p.page < page:
		return "", nil, noPage(p.page)
	}
	return p.told("matches", more), p.out, nil
}

// needed is the longest text that stands in all that an expression matches, as far as that is plain. It is found much
// sooner than the expression where that is not.
func needed(pattern string) []byte {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return longest(tree)
}

func longest(tree *syntax.Regexp) (literal []byte) {
	switch tree.Op {
	case syntax.OpLiteral:
		var run []byte
		for _, c := range tree.Rune {
			// U+FFFD stands for any byte that is none of UTF-8, too.
			if c == utf8.RuneError || tree.Flags&syntax.FoldCase != 0 && unicode.SimpleFold(c) != c {
				run = nil
				continue
			}
			if run = utf8.AppendRune(run, c); len(run) > len(literal) {
				literal = run
			}
		}
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, part := range tree.Sub {
			if l := longest(part); len(l) > len(literal) {
				literal = l
			}
		}
	}
	return literal
}

// expression finds what a pattern matches within lines, and within pieces of long ones.
type expression struct {
	pattern string
	literal []byte // what stands in all that matches
	pieces  map[[2]bool]*regexp.Regexp
}

// in compiles the expression for a piece of a line, which begins or ends where the line does: elsewhere ^ and $ match
// nothing.
func (e *expression) in(begins, ends bool) (*regexp.Regexp, error) {
	if re := e.pieces[[2]bool{begins, ends}]; re != nil {
		return re, nil
	}
	tree, err := syntax.Parse(e.pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if !begins {
		forbid(tree, syntax.OpBeginText, syntax.OpBeginLine)
	}
	if !ends {
		forbid(tree, syntax.OpEndText, syntax.OpEndLine)
	}
	re, err := regexp.Compile(tree.String())
	e.pieces[[2]bool{begins, ends}] = re
	return re, err
}

// forbid makes parts of an expression match nothing.
func forbid(tree *syntax.Regexp, ops ...syntax.Op) {
	if slices.Contains(ops, tree.Op) {
		*tree = syntax.Regexp{Op: syntax.OpNoMatch}
	}
	for _, part := range tree.Sub {
		forbid(part, ops...)
	}
}

// matches searches line by line, and long lines piece by piece, and reports whether there is more than the page holds.
func (k *kept) matches(ctx context.Context, e *expression, text []byte, p *pager) (more bool, err error) {
	deadline := time.Now().Add(patience)
	for number, begin := 1, 0; begin < len(text); number++ {
		found := bytes.Index(text[begin:], e.literal)
		if found < 0 {
			return false, nil
		}
		skipped := text[begin : begin+bytes.LastIndexByte(text[begin:begin+found], '\n')+1]
		number += bytes.Count(skipped, []byte{'\n'})
		begin += len(skipped)
		next := len(text)
		if i := bytes.IndexByte(text[begin:], '\n'); i >= 0 {
			next = begin + i + 1
		}
		end := begin + len(bytes.TrimSuffix(bytes.TrimSuffix(text[begin:next], []byte{'\n'}), []byte{'\r'}))
		for at := begin; at < end || at == begin; {
			if err := context.Cause(ctx); err != nil {
				return false, err
			}
			if time.Now().After(deadline) {
				return false, fmt.Errorf("the search took longer than %s: use a simpler expression", patience)
			}
			own := min(at+window, end) // what is searched now; a match may reach beyond it
			to := min(own+around, end)
			re, err := e.in(at == begin, to == end)
			if err != nil {
				return false, err
			}
			var loc []int
			if bytes.Contains(text[at:to], e.literal) {
				loc = re.FindIndex(text[at:to])
			}
			if loc == nil || at+loc[0] >= own && own < end {
				if at = own; own == end {
					break
				}
				continue
			}
			shown, on := surroundings(text, at+loc[0], at+loc[1])
			if !p.add(true, strconv.AppendInt(nil, int64(number), 10), []byte(": "), shown) {
				return true, nil
			}
			at = max(on, at+1)
		}
		begin = next
	}
	return false, nil
}

// surroundings gives the line of a match, or a part of it where it is long, and where to search on.
func surroundings(text []byte, from, to int) (shown []byte, next int) {
	const most = 4 * around
	line, end := max(0, from-most), min(len(text), from+most)
	isWhole := line == 0 && end == len(text)
	if i := bytes.LastIndexByte(text[line:from], '\n'); i >= 0 || line == 0 {
		line += i + 1
		if i := bytes.IndexByte(text[from:end], '\n'); i >= 0 {
			end, isWhole = from+i, true
		}
	}
	if isWhole {
		return text[line:end], end + 1
	}
	line, end = max(line, from-around), min(len(text), max(from+around, min(to, from+2*around)))
	if i := bytes.IndexByte(text[from:end], '\n'); i >= 0 {
		return bytes.ToValidUTF8(text[line:from+i], nil), from + i + 1
	}
	return bytes.ToValidUTF8(text[line:end], nil), end
}
