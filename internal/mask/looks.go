package mask

import (
	"slices"
	"strings"
)

// sortLongestFirst sorts the longest values first, and those of one length by their letters.
func sortLongestFirst(values []string) {
	slices.SortFunc(values, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

// IsSecretName reports whether a variable or a header of that name mostly has a secret for its value.
func IsSecretName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"key", "token", "secret", "passw", "passphrase", "credential", "auth", "cookie", "dsn"},
		func(part string) bool { return strings.Contains(name, part) })
}

// SecretArguments returns what of the arguments of a command such a name stands before: --api-key VALUE, --token=VALUE and
// -e TOKEN=VALUE.
func SecretArguments(args []string) (values []string) {
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		if variable, inner, ok := strings.Cut(value, "="); ok && !IsSecretName(name) { // --env=TOKEN=VALUE
			name, value = variable, inner
		}
		switch {
		case !IsSecretName(name):
		case given:
			values = append(values, value)
		case strings.HasPrefix(name, "-") && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			values = append(values, args[i+1])
		}
	}
	return values
}

// isSecretName is the same of a member of arguments and results, where tokens and keys are often others: the number of words
// of a model, the key of a map.
func isSecretName(name string) bool {
	if len(name) > 32 {
		return false
	}
	var plain [32]byte
	n := 0
	for i := range len(name) {
		c := name[i]
		if c == '_' || c == '-' {
			continue
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		plain[n] = c
		n++
	}
	switch string(plain[:n]) {
	case "password", "passwd", "passphrase", "secret", "token", "apikey", "apitoken", "apisecret", "accesstoken", "refreshtoken",
		"idtoken", "authtoken", "bearertoken", "clientsecret", "secretkey", "secretaccesskey", "privatekey", "authorization",
		"cookie", "setcookie", "sessiontoken", "connectionstring":
		return true
	}
	return false
}

// prefix begins a secret of a well-known kind.
type prefix struct {
	text  string
	least int // how many bytes follow at least
}

func prefixes() [32]prefix {
	return [...]prefix{
		{"sk-", 16}, {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16}, // OpenAI, Anthropic, Stripe
		{"ghp_", 20}, {"gho_", 20}, {"ghu_", 20}, {"ghs_", 20}, {"ghr_", 20}, {"github_pat_", 20}, {"glpat-", 16},
		{"xoxb-", 16}, {"xoxp-", 16}, {"xoxa-", 16}, {"xoxs-", 16}, {"xapp-", 16}, // Slack
		{"AKIA", 16}, {"ASIA", 16}, {"AIza", 30}, {"ya29.", 20}, // AWS, Google
		{"npm_", 30}, {"pypi-", 30}, {"hf_", 30}, {"dop_v1_", 30}, {"lin_api_", 20}, {"ntn_", 30}, {"wb_", 40},
		{"eyJ", 40}, // a JSON Web Token
		{"Bearer ", 12}, {"bearer ", 12}, {"Basic ", 12},
		{"-----BEGIN ", 20},
	}
}

// withoutTokens gives a text without what looks like a secret.
func withoutTokens(text string) string {
	for _, p := range prefixes() {
		for from := 0; ; {
			at := strings.Index(text[from:], p.text)
			if at < 0 {
				break
			}
			at += from
			end := at + len(p.text)
			if p.text == "-----BEGIN " {
				end = endOfKey(text, end)
			} else {
				for end < len(text) && isTokenByte(text[end]) {
					end++
				}
			}
			if end-at-len(p.text) < p.least || at > 0 && isWord(text[at-1]) && p.text != "-----BEGIN " {
				from = at + len(p.text)
				continue
			}
			text = text[:at] + Masked + text[end:]
			from = at + len(Masked)
		}
	}
	return text
}

// endOfKey is where a key in armour ends; its beginning if it is none that is secret.
func endOfKey(text string, from int) int {
	head := text[from:min(len(text), from+40)]
	if !strings.Contains(head, "PRIVATE KEY") && !strings.Contains(head, "ENCRYPTED") {
		return from
	}
	const last = "-----END "
	at := strings.Index(text[from:], last)
	if at < 0 {
		return len(text)
	}
	end := from + at + len(last)
	if n := strings.Index(text[end:], "-----"); n >= 0 && n < 60 {
		end += n + len("-----")
	}
	return end
}

func isTokenByte(c byte) bool {
	return isWord(c) || c == '-' || c == '.' || c == '_' || c == '/' || c == '+' || c == '=' || c == '~'
}

func isWord(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }
