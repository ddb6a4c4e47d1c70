package clients

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/amend"
	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// OwnName is what workbench is called in clients' files.
const OwnName = "workbench"

// TokenVariable is the variable that holds the token of the gateway for clients that want no token in their file.
const TokenVariable = "WORKBENCH_TOKEN"

// Own is how clients start workbench, or with a URL reach its gateway.
type Own struct {
	Command string
	Args    []string
	Env     Pairs  // what its environment has besides that of the client
	Needs   []Need // what of the client's environment is to be in its own
	URL     string
	Token   string
}

// Need is a variable of the environment of a client.
type Need struct {
	Name string
	Set  bool // as far as is known
}

// OwnEntry returns the entry of workbench as the client's file has it, as JSON. It is nil where an address cannot be
// written.
func (c Client) OwnEntry(own Own) []byte {
	f := c.Form
	out := []byte{'{'}
	put := func(key string, value []byte) { out = wire.AppendMember(out, wire.MustEncode(key), value) }
	if f.Named {
		put("name", wire.MustEncode(OwnName))
	}
	kind := f.Stdio
	if own.URL != "" {
		kind = f.HTTP
	}
	if kind != "" {
		put(f.TypeKey, wire.MustEncode(kind))
	}
	switch {
	case own.URL == "" && f.Array:
		put(cmp.Or(f.Command, "command"), wire.MustEncode(append([]string{own.Command}, own.Args...)))
	case own.URL == "":
		put(cmp.Or(f.Command, "command"), wire.MustEncode(own.Command))
		put("args", wire.MustEncode(own.Args))
	case f.NoHTTP:
		return nil
	default:
		put(cmp.Or(f.URL, "url"), wire.MustEncode(own.URL))
		if f.TokenVar != "" {
			put(f.TokenVar, wire.MustEncode(TokenVariable))
		} else {
			put("headers", wire.MustEncode(Pairs{{"Authorization", "Bearer " + own.Token}}))
		}
	}
	if own.URL == "" {
		env, names := c.handedOn(own)
		if len(env) > 0 {
			put(cmp.Or(f.Env, "env"), wire.MustEncode(env))
		}
		if len(names) > 0 {
			put("env_vars", wire.MustEncode(names))
		}
	}
	for _, fixed := range f.Fixed {
		put(fixed.Key, []byte(fixed.JSON))
	}
	return append(out, '}')
}

// handedOn says by which variables, and by the names of which, an entry gives workbench what the client would keep from
// it. A reference to a variable that is not set would be its value.
func (c Client) handedOn(own Own) (env Pairs, names []string) {
	env = slices.Clone(own.Env)
	for _, v := range own.Needs {
		switch {
		case !c.keeps(v.Name):
		case c.Keeps == KeepsMost:
			names = append(names, v.Name)
		case v.Set:
			env = append(env, Pair{v.Name, "$" + v.Name})
		}
	}
	return env, names
}

// keeps reports whether the client keeps a variable from the programs that it starts, of those that not every client
// gives them.
func (c Client) keeps(name string) bool {
	return c.Keeps == KeepsMost || c.Keeps == KeepsSecrets && slices.ContainsFunc(secretWords(), func(word string) bool {
		return strings.Contains(strings.ToUpper(name), word)
	})
}

// secretWords are what names of variables have in them that a client with KeepsSecrets takes for secrets.
func secretWords() []string {
	return []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "AUTH", "CREDENTIAL", "CREDS", "PRIVATE", "CERT"}
}

// Lacking gives those of the variables that workbench needs which it would not get by an entry of the client.
func (c Client) Lacking(entry Server, needs []Need) (names []string) {
	for _, v := range needs {
		given := slices.Contains(entry.InheritEnv, v.Name) || slices.ContainsFunc(entry.Env, func(p Pair) bool { return p.Key == v.Name })
		if v.Set && !given && c.keeps(v.Name) {
			names = append(names, v.Name)
		}
	}
	return names
}

// OwnPlace returns where the entry of workbench stands in a file of the client, whatever it is called there, or where
// it is to stand. Own reports whether the file has an entry of workbench.
func (c Client) OwnPlace(path string, data []byte) (at amend.Place, own bool) {
	at = amend.Place{File: path, Language: strings.ToLower(string(c.Format)), List: c.Form.List}
	at.Keys = append(at.Keys, c.Key...)
	root := document.ReadSettings("file."+at.Language, data, new(document.Faults))
	if servers := root.Get(c.Key[0]); len(c.Key) == 1 && servers != nil && inner(c.Key[0], servers) != servers {
		at.Keys = append(at.Keys, "servers")
	}
	name := OwnName
	entries, _, _ := Read(Source{Client: &c, Path: path, Data: data}) // a file that cannot be read has none
	for _, e := range entries {
		if e.Workbench() && e.Project == "" && (!own || e.Name == OwnName) {
			name, own = e.Name, true
		}
	}
	at.Keys = append(at.Keys, name)
	return at, own
}
