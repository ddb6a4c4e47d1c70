package clients

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Origin is where a server was found.
type Origin struct {
	Client string `json:"client"` // "" if the file is none of a known client
	File   string `json:"file"`
	Line   int    `json:"line"`
	Name   string `json:"name"` // what it is called there
}

// Found is a server that was found, perhaps in several files.
type Found struct {
	Kind   Kind
	Name   string
	Server Server
	Runs   string // what is run or reached, without what looks like a secret
	From   []Origin
	Notes  []Note
}

// Merge makes one of entries that say the same, and gives names that none other has in its toolbox. Entries of
// workbench itself are left out. Box chooses the toolbox of an entry of a client; nil leaves that to the kind of the
// server. Taken reports whether a name is taken by another server.
func Merge(entries []Entry, client func(Entry) string, box func(Entry) Kind, taken func(box, name string, s Server) bool) []Found {
	var all []Found
	known := map[string]int{}
	names := map[string]bool{}
	secrets := map[string]string{} // by the names that are proposed for them
	for _, e := range entries {
		if e.Workbench() {
			continue
		}
		origin := Origin{Client: client(e), File: e.File, Line: e.Line, Name: e.Name}
		if i, same := known[e.Server.identity()]; same {
			f := &all[i]
			f.From = append(f.From, origin)
			f.Notes = append(f.Notes, e.Notes...)
			f.Server.Disabled = f.Server.Disabled && e.Server.Disabled
			if plain(e.Name) != plain(f.From[0].Name) {
				f.Notes = append(f.Notes, Note{File: e.File, Line: e.Line, Server: shown(e.Name), Message: "it is the same server as " + shown(f.Name) + ", and merged with it"})
			}
			continue
		}
		f := Found{Kind: KindOf(e.Name, e.Server), Server: e.Server, Runs: e.Server.Summary(), From: []Origin{origin}, Notes: e.Notes}
		if box != nil {
			f.Kind = box(e)
		}
		full := func(name string) string { return f.Kind.Name + "/" + strings.ToLower(name) }
		free := func(name string) bool { return !names[full(name)] && !taken(f.Kind.Name, name, e.Server) }
		f.Name = plain(e.Name)
		if !free(f.Name) && origin.Client != "" {
			f.Name = plain(e.Name + "-" + origin.Client)
		}
		for n := 2; !free(f.Name); n++ {
			f.Name = plain(fmt.Sprintf("%s-%d", e.Name, n))
		}
		if f.Name != e.Name {
			f.Notes = append(f.Notes, Note{File: e.File, Line: e.Line, Server: shown(e.Name), Message: "it is called " + shown(f.Name) + " here"})
		}
		for i, n := range f.Notes {
			own := n.name
			for k := 1; n.Secret && secrets[n.name] != "" && secrets[n.name] != n.value; k++ {
				n = n.named(strings.TrimSuffix(fmt.Sprintf("%s_%s_%d", Variable(f.Name), own, k), "_1"))
			}
			if f.Notes[i] = n; n.Secret {
				secrets[n.name] = n.value
			}
		}
		names[full(f.Name)] = true
		known[e.Server.identity()] = len(all)
		all = append(all, f)
	}
	return all
}

// identity is the same for servers that are run or reached in the same way.
func (s Server) identity() string {
	s.Description, s.Timeouts, s.Disabled = "", nil, false
	s.Env = slices.Clone(s.Env)
	slices.SortFunc(s.Env, func(a, b Pair) int { return strings.Compare(a.Key, b.Key) })
	return string(s.JSON())
}

// plain is a name that a server may have.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '-'
		}
		return r
	}, name)
	for len(name) > 64 {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	if name = strings.Trim(strings.TrimSpace(name), "_"); name == "" {
		return "server"
	}
	return name
}
