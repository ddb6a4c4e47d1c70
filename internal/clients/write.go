package clients

import (
	"bytes"
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
	URL     string
	Token   string
}

// OwnEntry returns the entry of workbench as the client's file has it, as JSON. It is nil where an address cannot be
// written.
func (c Client) OwnEntry(own Own) []byte {
	f := c.Form
	var out bytes.Buffer
	put := func(key string, value []byte) {
		separator := ","
		if out.Len() == 0 {
			separator = "{"
		}
		out.WriteString(separator)
		out.Write(wire.MustEncode(key))
		out.WriteByte(':')
		out.Write(value)
	}
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
		put(or(f.Command, "command"), wire.MustEncode(append([]string{own.Command}, own.Args...)))
	case own.URL == "":
		put(or(f.Command, "command"), wire.MustEncode(own.Command))
		put("args", wire.MustEncode(own.Args))
	case f.NoHTTP:
		return nil
	default:
		put(or(f.URL, "url"), wire.MustEncode(own.URL))
		if f.TokenVar != "" {
			put(f.TokenVar, wire.MustEncode(TokenVariable))
		} else {
			put("headers", wire.MustEncode(Pairs{{"Authorization", "Bearer " + own.Token}}))
		}
	}
	for _, fixed := range f.Fixed {
		put(fixed.Key, []byte(fixed.JSON))
	}
	out.WriteByte('}')
	return out.Bytes()
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
