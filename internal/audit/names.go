package audit

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// names are those of the tools of all servers.
type names struct {
	orders [256][]string       // by their first bytes
	owners map[string][]string // by names that are no words of a language: the servers that have such a tool
	like   map[string][]owned  // by what a name looks like
}

type owned struct{ name, server string }

func newNames(servers []Server) *names {
	n := &names{owners: make(map[string][]string), like: make(map[string][]owned)}
	for _, phrase := range slices.Concat(orders(), keys()) {
		n.orders[phrase[0]] = append(n.orders[phrase[0]], phrase)
	}
	for _, s := range servers {
		for _, t := range s.Texts {
			if t.Tool == "" {
				continue
			}
			if len(servers) > 1 && isCoined(t.Tool) && !slices.Contains(n.owners[t.Tool], s.Name) {
				n.owners[t.Tool] = append(n.owners[t.Tool], s.Name)
			}
			look := skeleton(t.Tool)
			n.like[look] = append(n.like[look], owned{t.Tool, s.Name})
		}
	}
	return n
}

// leastCoined is how long a name is at least that no text has by chance.
const leastCoined = 5

// isCoined reports whether a name is one that no text has by chance.
func isCoined(name string) bool {
	if len(name) < leastCoined {
		return false
	}
	inner := name[1:]
	return strings.ContainsAny(inner, "_-") || strings.ToLower(inner) != inner && strings.ToUpper(inner) != inner
}

// name looks for tools of other servers whose names look the same and are not.
func (l *look) name(t Text) {
	if t.Tool == "" {
		return
	}
	var said []string
	for _, other := range l.names.like[skeleton(t.Tool)] {
		if other.server == l.server.Name || other.name == t.Tool {
			continue
		}
		of := fmt.Sprintf("tool %q of %s", foreign.Visible(other.name, foreign.MaxName), other.server)
		if !slices.Contains(said, of) {
			said = append(said, of)
			l.add([]string{t.Label}, "its name looks like that of "+of, foreign.Visible(t.Tool, foreign.MaxName))
		}
	}
}

// skeleton gives what a name looks like: without what nobody sees, in lower case, with one letter for all that look
// like it.
func skeleton(name string) string {
	return strings.Map(func(r rune) rune {
		if foreign.Hidden(r) {
			return -1
		}
		return alike(unicode.ToLower(r))
	}, name)
}

// alike is latin with one letter for those Latin ones that look like each other.
func alike(r rune) rune {
	switch r = latin(r); r {
	case 'i', '1', '|':
		return 'l'
	case '0':
		return 'o'
	}
	return r
}

// latins are the Latin letters and signs that characters of other scripts, in lower case, look like.
var latins = sync.OnceValue(func() map[rune]rune {
	all := make(map[rune]rune)
	for _, alike := range []string{
		"aаα", "cсϲ", "dԁ", "eеёє", "gɡց", "hһ", "iіιı", "lӏ", "jј", "kкκ", "nп", "oоοօ", "pрρ", "qԛ",
		"rг", "sѕ", "tтτ", "uυս", "vνѵ", "wԝω", "xхχ", "yуγ", "-‐‑–—－", "'’‘", "_＿",
	} { // the first is the Latin one
		latin, size := utf8.DecodeRuneInString(alike)
		for _, r := range alike[size:] {
			all[r] = latin
		}
	}
	return all
})

// latin gives the Latin letter or sign that a character of another script, in lower case, looks like.
func latin(r rune) rune {
	if like, ok := latins()[r]; ok {
		return like
	}
	switch {
	case r >= 'ａ' && r <= 'ｚ':
		return r - 'ａ' + 'a'
	case r >= 0x1d400 && r <= 0x1d6a3: // the alphabets of mathematics
		return 'a' + (r-0x1d400)%26
	}
	return r
}
