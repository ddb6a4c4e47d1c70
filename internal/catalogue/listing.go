package catalogue

import (
	"os"
	"strings"
	"sync"
)

// Listing finds the entries of servers whose clients are not known. It reads the folder once, when it is first asked,
// however many servers it is asked for; what is put there later is none of it. It is safe for concurrent use.
type Listing struct {
	c    *Catalogue
	keys func() map[string][]Key // of each server, by name
}

// List gives a listing of the folder.
func (c *Catalogue) List() *Listing { return &Listing{c: c, keys: sync.OnceValue(c.keys)} }

// Newest returns the entry of a server that was put last, for whatever client; nil if there is none.
func (l *Listing) Newest(server string) *Entry {
	var newest *Entry
	for _, k := range l.keys()[server] {
		if e := l.c.Get(k); e != nil && !e.Late && (newest == nil || e.Seen.After(newest.Seen)) {
			newest = e
		}
	}
	return newest
}

// keys gives the keys of the files in the folder, by their servers.
func (c *Catalogue) keys() map[string][]Key {
	entries, _ := os.ReadDir(c.dir) // as much as can be read; a folder that is not there has none
	keys := make(map[string][]Key, len(entries))
	for _, entry := range entries {
		name, ours := strings.CutSuffix(entry.Name(), suffix)
		server, client, both := strings.Cut(name, "-")
		if ours && both {
			keys[server] = append(keys[server], Key{server, client})
		}
	}
	return keys
}
