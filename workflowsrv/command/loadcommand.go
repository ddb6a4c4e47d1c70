package command

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// ownKeys are the keys of a parameter that are no JSON Schema.
func ownKeys() []string { return []string{"optional", "available_from", "from_context", "lookup"} }

// command makes a command of its file. A file that has the name of a command which the workflow extends changes what it
// says and leaves the rest.
func (l *loader) command(file, context, name string, doc *document.Node) {
	full := qualified(context, name)
	c := &Command{Name: full, Context: context, Leaf: name, Effect: Unknown}
	base := l.w.commands[full]
	if base != nil {
		copied := *base
		c = &copied
	}
	bound := slices.ContainsFunc(bindings(), func(key string) bool { return doc.Get(key) != nil })
	if base == nil && !bound && l.unknown[context] {
		l.warn(file, doc, "", "the tools of the server %s are not known, so this command is left out", context)
		return
	}
	c.file = file
	sum := sha256.Sum256(doc.AppendJSON([]byte(c.written)))
	c.written = hex.EncodeToString(sum[:])
	l.w.commands[full] = c
	if v := doc.Get("description"); v != nil {
		c.Description = v.Value
	}
	if v := doc.Get("utterances"); v != nil {
		c.Utterances = doc.Strs("utterances")
	}
	if v := doc.Get("effect"); v != nil {
		c.Effect = Effect(v.Value)
	}
	if doc.Get("confirm") != nil {
		c.Confirm = doc.Truth("confirm")
	}
	if doc.Get("leave") != nil {
		c.Leave = doc.Truth("leave")
	}
	if c.Leave {
		at := l.w.contexts[context]
		switch {
		case doc.Get("enter") != nil || c.enter != nil:
			l.fault(file, doc.Get("leave"), "/leave", `a command with "enter" goes there; it cannot leave as well`)
		case at == nil || at.group() && !l.unsound[context]:
			l.fault(file, doc.Get("leave"), "/leave", "there is no place to leave: the command is not one of a context with a key")
		}
	}
	l.binding(c, doc, base != nil)
	l.params(c, doc, base)
	l.outputs(c, doc)
	if c.Description == "" && !c.unsound {
		l.fault(file, doc, "", `"description" is missing`)
	}
	if base == nil && doc.Get("effect") == nil {
		l.warn(file, doc, "", `"effect" is missing: the command counts as unknown, and must be confirmed if it was found by words`)
	}
	l.sources = append(l.sources, &source{file: file, doc: doc, command: c})
}

// params reads the parameters. Without any, those of the tool that the command is bound to stand in where it is known
// and gets them as they are.
func (l *loader) params(c *Command, doc *document.Node, base *Command) {
	n := doc.Get("params")
	schema := []byte(`{"type":"object","properties":{},"additionalProperties":false}`)
	switch {
	case n != nil:
		schema = paramsSchema(n)
	case base != nil && (base.ownParams || c.Bind == base.Bind):
		return
	case c.Bind.Tool != nil && c.Bind.Tool.arguments == nil:
		b := c.Bind.Tool
		if def := l.tools.find(b); def != nil {
			schema = def.schema
		}
	}
	c.Params, c.ownParams = nil, n != nil
	err := c.setSchema(schema)
	if n == nil {
		if err != nil {
			l.warn(c.file, doc, "", "values cannot be checked before the tool is called: %v", err)
		}
		return
	}
	if err != nil {
		l.badSchema(c, n, err)
	}
	for _, m := range n.Members {
		l.param(c, c.Param(m.Key), m.Value, "/params"+document.Pointer(m.Key))
	}
}

// badSchema reports a parameter that no value can be held against, at the place in its schema that is wrong.
func (l *loader) badSchema(c *Command, n *document.Node, err error) {
	if bad, ok := errors.AsType[*criteria.SchemaError](err); ok {
		err = bad.Err
	}
	where, what, ok := strings.Cut(err.Error(), ": ")
	within, isPlace := strings.CutPrefix(where, "/properties/")
	if !ok || !isPlace {
		l.fault(c.file, n, "/params", "not a usable JSON Schema: %v", err)
		return
	}
	at := n.At(document.Tokens("/" + within))
	if strings.HasSuffix(within, "/type") && at.Kind == document.Text {
		types := []string{"string", "integer", "number", "boolean", "array", "object", "null"}
		l.fault(c.file, at, "/params/"+within, "%q is no type; the types are %s%s", at.Value, strings.Join(types, ", "), document.Faults{}.DidYouMean(at.Value, types))
		return
	}
	if strings.HasSuffix(within, "/required") && at.Kind == document.Boolean {
		l.fault(c.file, at, "/params/"+within, `a parameter is required unless it has "optional": true or a "default"`)
		return
	}
	l.fault(c.file, at, "/params/"+within, "not a usable JSON Schema: %s", what)
}

// paramsSchema makes the schema of all parameters from those of each.
func paramsSchema(n *document.Node) []byte {
	dst := []byte(`{"type":"object","properties":{`)
	var required []string
	for _, m := range n.Members {
		part := &document.Node{Kind: document.Object}
		for _, key := range m.Value.Members {
			if !slices.Contains(ownKeys(), key.Key) {
				part.Members = append(part.Members, key)
			}
		}
		dst = part.AppendJSON(append(wire.AppendQuote(wire.Comma(dst), m.Key), ':'))
		if !m.Value.Truth("optional") && m.Value.Get("default") == nil {
			required = append(required, m.Key)
		}
	}
	dst = append(dst, `},"required":[`...)
	for _, name := range required {
		dst = wire.AppendQuote(wire.Comma(dst), name)
	}
	return append(dst, `],"additionalProperties":false}`...)
}

// param reads what a parameter has beside its schema.
func (l *loader) param(c *Command, p *Param, n *document.Node, path string) {
	p.AvailableFrom, p.FromContext = n.Strs("available_from"), n.Str("from_context")
	if v := n.Get("default"); v != nil {
		p.Default = v.AppendJSON(nil)
	}
	if strings.ContainsAny(p.Name, "<>") {
		l.fault(c.file, n, path, "the name has a < or >, which no tag can have")
	}
	if look := n.Get("lookup"); look != nil {
		p.Lookup = &Lookup{Values: look.Str("values")}
		if call := l.binder.tool(c.file, look, path+"/lookup", "tool"); call != nil {
			p.Lookup.Tool = *call
		}
	}
}

// outputs reads what is made of the result.
func (l *loader) outputs(c *Command, doc *document.Node) {
	if n := doc.Get("outputs"); n != nil {
		c.Outputs = nil
		for _, m := range n.Members {
			c.Outputs = append(c.Outputs, Output{m.Key, m.Value.Text()})
		}
	}
	if n := doc.Get("reply"); n != nil {
		c.reply = l.binder.template(c.file, n, "/reply", noVariables)
	}
	if n := doc.Get("enter"); n != nil {
		c.enter = l.enter(c, n)
	}
}

// enter reads the place that the command leads to.
func (l *loader) enter(c *Command, n *document.Node) *enter {
	name, at := n.Text(), n
	if n.Kind == document.Object {
		name, at = n.Str("context"), n.Get("context")
	}
	context := l.w.contexts[name]
	switch {
	case context == nil:
		l.fault(c.file, at, "/enter", "there is no context %q%s", name, document.Faults{}.DidYouMean(name, sortedKeys(l.w.contexts)))
		return nil
	case l.unsound[name]:
		return nil
	case context.group():
		l.fault(c.file, at, "/enter", "the context %q has no key, so there is no place of it to go to", name)
		return nil
	}
	e := &enter{context: context, values: l.binder.members(c.file, n.Get("values"), "/enter/values", noVariables)}
	given := n.Get("key")
	for _, key := range context.Key {
		text := &template{source: "{" + key + "}", pieces: []piece{{name: key}}}
		if v := given.Get(key); v != nil {
			text = l.binder.template(c.file, v, "/enter/key"+document.Pointer(key), noVariables)
		}
		e.key = append(e.key, member{key, text})
	}
	if given != nil {
		for _, m := range given.Members {
			if !slices.Contains(context.Key, m.Key) {
				l.fault(c.file, given.KeyOf(m.Key), "/enter/key"+document.Pointer(m.Key), "the context %q has no key %q%s", name, m.Key, document.Faults{}.DidYouMean(m.Key, context.Key))
			}
		}
	}
	return e
}

// binding reads the one thing that the command does.
func (l *loader) binding(c *Command, doc *document.Node, projected bool) {
	var have []string
	for _, key := range bindings() {
		if doc.Get(key) != nil {
			have = append(have, key)
		}
	}
	switch {
	case len(have) == 0 && projected:
		return
	case len(have) == 0:
		meant := ""
		if len(l.extended) > 0 && c.Context != "" {
			others := slices.DeleteFunc(sortedKeys(l.w.commands), func(name string) bool { return name == c.Name })
			meant = fmt.Sprintf(", because the toolbox %s has no tool %s%s", strings.Join(l.extended, " or "), c.Name, document.Faults{}.DidYouMean(c.Name, others))
		}
		l.fault(c.file, doc, "", "needs one of %s%s", document.Quoted(bindings()), meant)
		return
	case len(have) > 1:
		l.fault(c.file, doc.KeyOf(have[1]), "/"+have[1], "has %s; only one of them may be given", document.Quoted(have))
		return
	}
	n := doc.Get(have[0])
	c.Bind = Binding{}
	switch have[0] {
	case "tool":
		c.Bind.Tool = l.binder.tool(c.file, n, "/tool", "name")
	case "http":
		c.Bind.HTTP = l.binder.http(c.file, n)
	case "process":
		c.Bind.Process = l.binder.process(c.file, n)
	}
}
