package command

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// Bounds of a command string, in bytes.
const (
	maxCommand = 1 << 20
	maxName    = 256
)

// An Argument is one tag of a command string: its name and its text, decoded.
type Argument struct {
	Name, Text string
	// Offset is where the tag begins, in characters from 0.
	Offset int
}

// ParseName reads the name at the beginning of a command string. rest is where the tags begin. The error is an
// [*Error].
func ParseName(text string) (name string, rest int, err error) {
	switch {
	case len(text) > maxCommand:
		return "", 0, malformed(0, "the command has %d bytes, at most %d are read", len(text), maxCommand)
	case !utf8.ValidString(text):
		return "", 0, malformed(0, "the command is not valid UTF-8")
	}
	start := len(text) - len(strings.TrimLeft(text, space))
	end := start
	for end < len(text) && strings.IndexByte(space+"<>&()", text[end]) < 0 {
		end++
	}
	switch {
	case start == len(text):
		return "", 0, malformed(start, "the command is empty; write a name such as what_can_i_do")
	case end == start:
		return "", 0, malformed(start, "a command begins with its name, not with %q", text[start:start+1])
	case end-start > maxName:
		return "", 0, malformed(start, "the name has %d bytes, at most %d are possible", end-start, maxName)
	case end < len(text) && strings.IndexByte(">&()", text[end]) >= 0:
		return "", 0, malformed(utf8.RuneCountInString(text[:end]), "%q cannot follow the name; write parameters as <name>value</name>", text[end:end+1])
	}
	return text[start:end], end, nil
}

// Parse reads the tags of a command string that follow the name, for a command whose parameters have the given names:
//
//	command = [ ws ] , name , { [ ws ] , tag } , [ ws ] ;
//	name    = ( char - ws - "<" - ">" - "&" - "(" - ")" ) , { … } ;
//	tag     = "<" , param , ">" , { text | entity | cdata } , "</" , param , ">" ;
//	entity  = "&lt;" | "&gt;" | "&amp;" | "&quot;" | "&apos;" | "&#" , digits , ";" | "&#x" , hex , ";" ;
//	cdata   = "<![CDATA[" , ? anything but the end ? , "]]>" ;
//	ws      = ? blank, tab, line feed, carriage return ? ;
//
// A param is the name of a parameter, compared exactly. Within a value a "<" that begins no tag of the command's own
// parameters is text, as is an "&" that begins no entity; a tag of one of its parameters is a fault there, because
// either it or the end of the value was forgotten. White space at both ends of a value is dropped, except in CDATA. The
// error is an [*Error] of code 422.
func Parse(text string, rest int, params []string) ([]Argument, error) {
	p := &tagParser{text: text, at: rest, params: params, known: make(map[string]bool, len(params))}
	for _, name := range params {
		p.known[name] = true
		p.longest = max(p.longest, len(name))
	}
	var list []Argument
	for {
		p.skip()
		if p.at == len(text) {
			return list, nil
		}
		arg, err := p.tag()
		if err != nil {
			return nil, err
		}
		list = append(list, arg)
	}
}

// space is what counts as white space.
const space = " \t\r\n"

const (
	cdataOpen  = "<![CDATA["
	cdataClose = "]]>"
)

type tagParser struct {
	text    string
	at      int
	params  []string
	known   map[string]bool
	longest int // of the names

	counted, characters int // bytes, and how many characters they are
}

// malformed words a fault at a place that is not before the last tag's.
func (p *tagParser) malformed(at int, format string, args ...any) *Error {
	return malformed(p.offset(at), format, args...)
}

// offset gives a place in characters. It does not go back.
func (p *tagParser) offset(at int) int {
	p.characters += utf8.RuneCountInString(p.text[p.counted:at])
	p.counted = at
	return p.characters
}

func (p *tagParser) skip() {
	for p.at < len(p.text) && strings.IndexByte(space, p.text[p.at]) >= 0 {
		p.at++
	}
}

// tag reads a tag with its value.
func (p *tagParser) tag() (Argument, error) {
	start := p.at
	if p.text[start] != '<' {
		return Argument{}, p.malformed(start, "%q is outside the tags; write parameters as <name>value</name>", cut.After(p.text[start:min(len(p.text), start+80)], 20))
	}
	name, ok := p.opens(start)
	if !ok {
		return Argument{}, p.unknown(start)
	}
	p.at = start + len(name) + 2
	offset := p.offset(start)
	value, err := p.value(name, start)
	return Argument{Name: name, Text: value, Offset: offset}, err
}

// opens reports which parameter's tag begins at a place.
func (p *tagParser) opens(at int) (name string, ok bool) { return p.named(at, "<") }

// named finds the name of a parameter between open and ">".
func (p *tagParser) named(at int, open string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(p.text[at:], open)
	if !ok {
		return "", false
	}
	rest = rest[:min(len(rest), p.longest+1)]
	end := strings.IndexByte(rest, '>')
	if end < 0 || !p.known[rest[:end]] {
		return "", false
	}
	return rest[:end], true
}

// unknown words the fault of a tag that is none of the parameters'.
func (p *tagParser) unknown(at int) error {
	rest := p.text[at+1 : min(len(p.text), at+1+maxName)]
	end := strings.IndexByte(rest, '>')
	if end < 0 {
		return p.malformed(at, "the tag %q is not closed by a >", "<"+cut.After(rest, 20))
	}
	name := rest[:end]
	if closing, ok := strings.CutPrefix(name, "/"); ok {
		return p.malformed(at, "</%s> closes a tag that was not opened", cut.After(closing, 40))
	}
	if bare := strings.TrimRight(strings.TrimSuffix(name, "/"), space); p.known[bare] {
		return p.malformed(at, "write <%s>value</%s>; a tag has no white space or slash in it", bare, bare)
	}
	if bare, _, more := strings.Cut(name, " "); more && p.known[bare] {
		return p.malformed(at, "<%s> takes no attributes; write <%s>value</%s>", bare, bare, bare)
	}
	hint := "; the command takes no parameters"
	if near := nearest.Names(name, p.params, 1); near != nil {
		hint = fmt.Sprintf("; did you mean <%s>?", near[0])
	} else if len(p.params) > 0 {
		hint = "; the parameters are " + strings.Join(p.params, ", ")
	}
	return p.malformed(at, "there is no parameter <%s>%s", cut.After(name, 40), hint)
}

// value reads up to the end of a tag. White space at the ends is dropped as far as it was written as such.
func (p *tagParser) value(name string, start int) (string, error) {
	var b strings.Builder
	kept := 0 // what of b stays whatever stands there
	first := true
	for p.at < len(p.text) {
		at := p.at
		switch c := p.text[at]; c {
		case '<':
			if strings.HasPrefix(p.text[at:], cdataOpen) {
				body, _, ok := strings.Cut(p.text[at+len(cdataOpen):], cdataClose)
				if !ok {
					return "", p.malformed(at, "the CDATA section is not closed by ]]>")
				}
				b.WriteString(body)
				p.at += len(cdataOpen) + len(body) + len(cdataClose)
				kept, first = b.Len(), false
				continue
			}
			if closed, ok := p.named(at, "</"); ok && closed == name {
				p.at += len(name) + 3
				text := b.String()
				return text[:kept] + strings.TrimRight(text[kept:], space), nil
			} else if ok {
				return "", p.malformed(at, "</%s> is inside the value of <%s>, which is not closed; write &lt;/%s> for the text", closed, name, closed)
			}
			if opened, ok := p.opens(at); ok {
				return "", p.malformed(at, "<%s> begins in the value of <%s>, which is not closed; write &lt;%s> for the text", opened, name, opened)
			}
		case '&':
			r, n, known := entity(p.text[at:])
			if !known {
				return "", p.malformed(at, "%s is no character", p.text[at:at+n])
			}
			if n > 0 {
				b.WriteRune(r)
				p.at += n
				kept, first = b.Len(), false
				continue
			}
		case ' ', '\t', '\r', '\n':
			if p.at++; !first {
				b.WriteByte(c)
			}
			continue
		}
		b.WriteByte(p.text[at])
		p.at++
		first = false
	}
	return "", p.malformed(start, "<%s> is not closed by </%s>", name, name)
}

// entity decodes the entity at the beginning of text; n is its length, 0 where there is none. ok is false for one that
// stands for no character.
func entity(text string) (r rune, n int, ok bool) {
	end := strings.IndexByte(text[:min(len(text), 12)], ';')
	if end < 0 {
		return 0, 0, true
	}
	if r, named := map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"', "apos": '\''}[text[1:end]]; named {
		return r, end + 1, true
	}
	digits, numbered := strings.CutPrefix(text[1:end], "#")
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	if !numbered || digits == "" || strings.Trim(strings.ToLower(digits), "0123456789abcdef"[:base]) != "" {
		return 0, 0, true
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || code == 0 || code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
		return 0, end + 1, false
	}
	return rune(code), end + 1, true
}

func malformed(offset int, format string, args ...any) *Error {
	return &Error{Code: http.StatusUnprocessableEntity, Message: fmt.Sprintf(format, args...), Offset: offset}
}
