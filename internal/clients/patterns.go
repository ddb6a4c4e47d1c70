package clients

import (
	"regexp"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// patterns are made once for a file.
type patterns struct {
	reference *regexp.Regexp // what may stand for something else
	named     *regexp.Regexp // a variable, perhaps with a default
	known     *regexp.Regexp // what a client may know, perhaps of a kind
	begins    *regexp.Regexp // how secrets of known services do
	inURL     *regexp.Regexp
	user      *regexp.Regexp // of an address, which is no secret without a password
	secret    *regexp.Regexp // keys of secrets
	public    *regexp.Regexp // ends of keys that are none all the same
}

func newPatterns() *patterns {
	return &patterns{
		reference: regexp.MustCompile(`\$\{\{\s*[^}]*\}\}|\$\{[^}]*\}|\{(?:env|file):[^}]*\}|\$[A-Za-z_][A-Za-z0-9_]*|` +
			`%[A-Za-z_][A-Za-z0-9_]*%|\$\(|op://[^\s"']+|\$\{`),
		named: regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(:-.*)?$`),
		known: regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.]*(:[A-Za-z_/~].*)?$`),
		begins: regexp.MustCompile(`^(gh[pousr]_|github_pat_|glpat-|sk-|xox[abprs]-|AKIA|AIza|eyJ|npm_|pplx-|tvly-|fc-|ntn_|secret_|` +
			`sbp_|lin_api_|hf_|dop_v1_|ctx7sk)`),
		inURL:  regexp.MustCompile(`://[^/\s:@]*:[^/\s@]+@|(?i:[?&](api_?key|access_?token|token|key|secret)=[^&\s]{8})`),
		user:   regexp.MustCompile(`://[^/\s:@]*@`),
		secret: regexp.MustCompile(`token|secret|passw|api[-_]?key|auth|credential|private[-_]?key|cookie`),
		public: regexp.MustCompile(`(file|path|url|uri|host|type|method|mode|dir|name|id)$`),
	}
}

// shown is a name for people.
func shown(name string) string { return foreign.NewName(name).String() }
