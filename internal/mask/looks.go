package mask

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
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
	if slices.ContainsFunc([]string{"key", "token", "secret", "passw", "passphrase", "credential", "auth", "cookie", "dsn"},
		func(part string) bool { return strings.Contains(name, part) }) {
		return true
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == ' ' })
	return slices.ContainsFunc(words, func(word string) bool {
		switch word {
		case "pass", "pgpass", "dbpass", "pw", "pat", "jwt", "bearer":
			return true
		}
		return word == "pwd" && len(words) > 1 // alone it is the folder that one is in
	})
}

// AddVariable has the value of a variable masked whose name says that it is a secret, or what of any other is secret as
// in an argument, such as the password in the address of a database.
func (s *Set) AddVariable(name, value string) {
	if IsSecretName(name) {
		s.Add(value, "${"+name+"}")
		return
	}
	for _, part := range InArgument("", value) {
		s.Add(part, Masked)
	}
}

// InArguments returns what of the arguments of a command is secret, by what [InArgument] says of each.
func InArguments(args []string) (values []string) {
	before := ""
	for _, arg := range args {
		values = append(values, InArgument(before, arg)...)
		before = arg
	}
	return values
}

// InArgument returns what of an argument is secret, by the names that stand before it (--api-key VALUE, --token=VALUE,
// -e TOKEN=VALUE,
// --header "X-Api-Key: VALUE") and in addresses ([InAddress]).
func InArgument(before, arg string) (values []string) {
	arg = reference().ReplaceAllString(arg, "")
	if strings.HasPrefix(before, "-") && !strings.ContainsAny(before, "=:") && IsSecretName(before) && !strings.HasPrefix(arg, "-") {
		values = append(values, Credentials(arg)...)
	}
	if at := pair().FindStringIndex(arg); at != nil && at[0] == 0 && IsSecretName(arg[:at[1]]) { // all of the rest, with its spaces
		values = append(values, Credentials(arg[at[1]:])...)
	}
	for rest := arg; ; {
		at := pair().FindStringIndex(rest)
		if at == nil {
			break
		}
		name := rest[at[0]:at[1]]
		rest = strings.TrimLeft(rest[at[1]:], ` "'`)
		if IsSecretName(name) {
			value, _, _ := strings.Cut(rest, " ")
			values = append(values, Credentials(strings.TrimRight(value, `"';`))...)
		}
	}
	for _, word := range strings.Fields(arg) {
		values = append(values, InAddress(word)...)
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// pair is the beginning of a name and its value.
var pair = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\w.-]+[=:]`) })

// Credentials returns a value that is secret, and what of it stands behind the name of a scheme such as Bearer. What
// only refers to a variable or a secret is none.
func Credentials(value string) (values []string) {
	value = reference().ReplaceAllString(value, "")
	for value = strings.TrimSpace(value); value != ""; _, value, _ = strings.Cut(value, " ") {
		if value != "Bearer" && value != "Basic" && !shellReference().MatchString(value) {
			values = append(values, value)
		}
	}
	return values
}

var (
	reference      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}]*\}`) })
	shellReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$\w+$`) })
)

// InAddress returns what of an address is secret: who logs in by it, and those parameters and parts of its path whose
// name says so, or that look as if somebody had drawn them.
func InAddress(address string) (values []string) {
	scheme, rest, is := strings.Cut(address, "://")
	if !is || strings.ContainsAny(scheme, "/?") {
		return nil
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	place, query, _ := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(place, "/")
	if at := strings.LastIndex(host, "@"); at >= 0 {
		who := host[:at]
		if _, password, is := strings.Cut(who, ":"); is {
			who = password
		}
		values = append(values, who)
	}
	for _, pair := range strings.FieldsFunc(query+"&"+fragment, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, is := strings.Cut(pair, "=")
		if is && (IsSecretName(name) || isShortSecretName(name)) || looksDrawn(value) {
			values = append(values, value)
		}
	}
	for part := range strings.SplitSeq(path, "/") {
		if looksDrawn(part) {
			values = append(values, part)
		}
	}
	var all []string
	for _, value := range values {
		if all = append(all, Credentials(value)...); strings.Contains(value, "%") {
			if plain, err := url.QueryUnescape(value); err == nil {
				all = append(all, Credentials(plain)...)
			}
		}
	}
	return all
}

// isShortSecretName is whether a parameter of an address has a secret that only addresses call so.
func isShortSecretName(name string) bool {
	return slices.Contains([]string{"code", "sig", "signature", "pass", "pwd", "k"}, strings.ToLower(name))
}

// looksDrawn is whether a part of an address was probably drawn by lot: it is long, and has letters and digits.
func looksDrawn(part string) bool {
	digits := 0
	for i := range len(part) {
		if '0' <= part[i] && part[i] <= '9' {
			digits++
		}
	}
	return len(part) >= 20 && digits > 1 && digits < len(part) && !strings.ContainsAny(part, ",.")
}

// IsSecretMember is the same of a member of JSON, where tokens and keys are often others: the number of words of a
// model, the key of a map.
func IsSecretMember(name string) bool {
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
		"cookie", "setcookie", "sessiontoken", "connectionstring", "dsn":
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
		if len(text) < len(p.text)+p.least {
			continue // as names are, of which one is asked about for each call
		}
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
