package config

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Untrusted is a file of a project that is there and is not used, or not as it is now, because the user has not trusted
// it.
type Untrusted struct {
	Path    string
	Why     string   // such as "nobody has trusted it"
	Digest  string   // of what was read; "" if it cannot be trusted as it is
	Shown   []string // what it would start, line by line, for a person
	Changes []string // the same, with how it differs from what was trusted; nil if nothing was
	Before  bool     // meanwhile it is used as it was when it was trusted
}

// String says that the file is not used, and what the user can do.
func (u *Untrusted) String() string {
	used := "is not used"
	if u.Before {
		used = "is not used as it is now, but as it was when it was trusted"
	}
	return fmt.Sprintf("the configuration file of this project, %q, %s: %s", foreign.NewName(u.Path), used, foreign.NewText(u.Why))
}

// Hint says what the user can do about it.
func (u *Untrusted) Hint() string {
	return u.Command() + " shows what it would start, and uses it if you agree"
}

// Command is what the user is to run. Folders with names that a shell might take for something else are left to the
// user.
func (u *Untrusted) Command() string {
	folder := strings.TrimSuffix(u.Path, FileName)
	for _, r := range folder {
		plain := strings.ContainsRune(`/\:._-+@`, r) || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
		if !plain {
			return `"workbench trust" in its folder`
		}
	}
	if folder == "" || folder[0] == '-' {
		return `"workbench trust" in its folder`
	}
	return fmt.Sprintf(`"workbench trust %s"`, strings.TrimRight(folder, `/\`))
}
