package toolbox

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// MaxName is the longest exposed name. Clients put a name of their own before it, mcp__workbench__ where workbench
	// is called workbench, and models take 64 characters in all.
	MaxName = 64 - len("mcp__workbench__")
	// digestLen is how much of a name the digest is that tells it from others, the "_" before it included.
	digestLen = 1 + 10
)

// ExposedName gives the name under which a client sees a downstream tool or prompt: {toolbox}__{server}__{name}, or
// with an empty toolbox {server}__{name}, or with both empty the name itself. It is at most 48 characters of
// [A-Za-z0-9_-] and depends on nothing but its arguments, so it is the same in every run. Where the plain form would be
// too long, hold other characters, or could be read in two ways, it is shortened and ends in a digest of the whole
// identity.
func ExposedName(toolbox, server, name string) string {
	prefix, clean := exposedPrefix(toolbox, server)
	s, same := sanitize(name)
	plain := prefix + s
	// A name that looks like one with a digest gets one too: else a server could give a tool the name that another
	// server's tool is given here.
	if clean && same && len(plain) <= MaxName && !digested(plain) {
		return plain
	}
	sum := sha256.Sum256([]byte(toolbox + "\x00" + server + "\x00" + name))
	suffix := "_" + hex.EncodeToString(sum[:(digestLen-1)/2])
	return plain[:min(len(plain), MaxName-digestLen)] + suffix
}

// ExposedPrefix gives what the exposed names of all tools and prompts of a server begin with, whatever the server calls
// them. Names of other servers may begin with it too.
func ExposedPrefix(toolbox, server string) string {
	prefix, _ := exposedPrefix(toolbox, server)
	return prefix[:min(len(prefix), MaxName-digestLen)]
}

// exposedPrefix gives the part of an exposed name before the server's own, and reports whether no other toolbox and
// server have the same.
func exposedPrefix(toolbox, server string) (prefix string, clean bool) {
	clean = true
	for _, p := range []string{toolbox, server} {
		if p == "" {
			continue
		}
		s, same := sanitize(p)
		// A separator inside or at the edge of a part would let two identities share a name: ("a_", "b") and ("a",
		// "_b").
		if !same || strings.Contains(s, "__") || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") {
			clean = false
		}
		prefix += s + "__"
	}
	return prefix, clean
}

// digested reports whether a name ends as one does that has a digest.
func digested(name string) bool {
	if len(name) < digestLen || name[len(name)-digestLen] != '_' {
		return false
	}
	digest := name[len(name)-digestLen+1:]
	return strings.Trim(digest, "0123456789abcdef") == ""
}

// sanitize replaces what is not in [A-Za-z0-9_-], each run of it by one "_", and says whether nothing had to be
// replaced.
func sanitize(s string) (string, bool) {
	var b strings.Builder
	same, run := true, false
	for _, r := range s {
		ok := r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
		if ok {
			b.WriteRune(r)
			run = false
			continue
		}
		same = false
		if !run {
			b.WriteByte('_')
		}
		run = true
	}
	return b.String(), same && s != ""
}
