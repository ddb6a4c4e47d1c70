package toolbox

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the longest name that all clients accept.
const maxName = 64

// ExposedName gives the name under which a client sees a downstream tool or
// prompt: {toolbox}__{server}__{name}, or with an empty toolbox
// {server}__{name}, or with both empty the name itself. It is at most 64
// characters of [A-Za-z0-9_-] and depends on nothing but its arguments, so it
// is the same in every run. Where the plain form would be too long, hold other
// characters, or could be read in two ways, it is shortened and ends in a
// digest of the whole identity.
func ExposedName(toolbox, server, name string) string {
	var parts []string
	clean := true
	for _, p := range []string{toolbox, server} {
		if p == "" {
			continue
		}
		s, same := sanitize(p)
		// A separator inside or at the edge of a part would let two
		// identities share a name: ("a_", "b") and ("a", "_b").
		if !same || strings.Contains(s, "__") || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") {
			clean = false
		}
		parts = append(parts, s)
	}
	s, same := sanitize(name)
	plain := strings.Join(append(parts, s), "__")
	if clean && same && len(plain) <= maxName && plain != "" {
		return plain
	}
	sum := sha256.Sum256([]byte(toolbox + "\x00" + server + "\x00" + name))
	suffix := "_" + hex.EncodeToString(sum[:5])
	if len(plain) > maxName-len(suffix) {
		plain = plain[:maxName-len(suffix)]
	}
	return plain + suffix
}

// sanitize replaces what is not in [A-Za-z0-9_-], each run of it by one "_",
// and says whether nothing had to be replaced.
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
