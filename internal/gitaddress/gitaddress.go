// Package gitaddress reads how the configuration names a git repository.
package gitaddress

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Prefix begins what names a repository: git+https://HOST/PATH#REF.
const Prefix = "git+"

// bare is the address of a repository that git itself would take: a URL, or USER@HOST:PATH.
var bare = regexp.MustCompile(`^(?i:[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:)`)

// IsBare reports whether text is the address of a repository that lacks the prefix.
func IsBare(text string) bool { return bare.MatchString(text) && !strings.HasPrefix(text, Prefix) }

// A Repository is where files come from.
type Repository struct {
	URL string // for git
	Ref string // a branch, a tag or a commit; "" is what the repository has as its head
}

// refs are the names of branches, tags and commits that are taken, if they have at most maxRef bytes.
var refs = regexp.MustCompile(`^\w[\w./+@-]*$`)

const maxRef = 200

// Parse reads git+https://HOST/PATH#REF; ssh and file are the other ways. It does not look whether the repository is
// there.
func Parse(text string) (Repository, error) {
	rest, ok := strings.CutPrefix(text, Prefix)
	u, err := url.Parse(rest)
	switch {
	case !ok || err != nil:
		return Repository{}, errors.New("want git+https://HOST/PATH#REF")
	case !slices.Contains([]string{"https", "ssh", "file"}, u.Scheme):
		return Repository{}, fmt.Errorf("want git+https, git+ssh or git+file, got git+%s", foreign.NewText(u.Scheme))
	case u.Scheme == "file" && (u.Host != "" || u.Path == ""), u.Scheme != "file" && u.Host == "":
		return Repository{}, errors.New("want a host and a path, or file:// and three slashes")
	case strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User.Username(), "-") || strings.HasPrefix(u.Path, "/-"):
		return Repository{}, errors.New("want a name that no option begins like")
	}
	if _, secret := u.User.Password(); secret || u.Scheme == "https" && u.User != nil {
		return Repository{}, errors.New("want an address without a user: git asks its credential helpers")
	}
	if u.RawQuery != "" || strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return Repository{}, errors.New("want an address without a query and without white space")
	}
	ref := u.Fragment
	if ref != "" && (len(ref) > maxRef || !refs.MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref, "@{")) {
		return Repository{}, fmt.Errorf("want a branch, a tag or a commit after #, got %q", foreign.NewText(ref))
	}
	u.Fragment, u.RawFragment = "", ""
	return Repository{URL: u.String(), Ref: ref}, nil
}
