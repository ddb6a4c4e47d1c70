package command

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// arguments are the values of a call by parameter.
type arguments map[string]json.RawMessage

// json gives them as an object, in the order of the parameters.
func (a arguments) json(c *Command) json.RawMessage {
	dst := []byte{'{'}
	add := func(name string, v json.RawMessage) {
		dst = wire.AppendMember(dst, wire.AppendQuote(nil, name), v)
	}
	for _, p := range c.Params {
		if v, ok := a[p.Name]; ok {
			add(p.Name, v)
		}
	}
	for _, name := range sortedKeys(a) {
		if c.Param(name) == nil {
			add(name, a[name])
		}
	}
	return append(dst, '}')
}

// parse reads the tags that follow the name of the command, and makes values of them.
func (c *Command) parse(text string, rest int, problem *Problem) (arguments, error) {
	tags, err := Parse(text, rest, c.paramNames())
	if err != nil {
		return nil, err
	}
	return c.read(tags, problem)
}

// read makes values of the tags of a command string. A tag that comes twice is one of an array; for a parameter that is
// none it is an [*Error]. A text that is no value of the type wanted is noted in problem.
func (c *Command) read(tags []Argument, problem *Problem) (arguments, error) {
	texts := map[string][]string{}
	for _, tag := range tags {
		p := c.Param(tag.Name)
		if len(texts[tag.Name]) > 0 && !slices.Contains(p.Types, "array") {
			return nil, malformed(tag.Offset, "<%s> is given twice, and takes one value", tag.Name)
		}
		texts[tag.Name] = append(texts[tag.Name], tag.Text)
	}
	args := arguments{}
	for _, name := range sortedKeys(texts) {
		v, err := c.Param(name).read(c.schema, texts[name])
		if err != nil {
			problem.invalid(name, wire.AppendQuote(nil, strings.Join(texts[name], ", ")), err.Error())
			continue
		}
		args[name] = v
	}
	return args, nil
}

// read makes one value of the texts of a parameter.
func (p *Param) read(root map[string]any, texts []string) (json.RawMessage, error) {
	if !slices.Contains(p.Types, "array") {
		return typed(p.schema, p.Types, texts[0])
	}
	if v, err := jsontype.Value(texts[0], []string{"array"}); err == nil && len(texts) == 1 {
		return compacted(v), nil
	}
	part, _ := p.schema.(map[string]any)
	items := part["items"]
	types := jsontype.Of(root, items)
	if len(types) == 0 {
		types = []string{"string", "number", "boolean", "object", "array", "null"}
	}
	dst := []byte{'['}
	for i, text := range texts {
		v, err := typed(items, types, text)
		if err != nil {
			return nil, fmt.Errorf("item %d %w", i+1, err)
		}
		dst = append(wire.Comma(dst), v...)
	}
	return append(dst, ']'), nil
}

// typed makes a value of a text. What an enum has is taken as it is there.
func typed(schema any, types []string, text string) (json.RawMessage, error) {
	if slices.Contains(enumTexts(schema), text) {
		return wire.AppendQuote(nil, text), nil
	}
	if len(types) == 0 && enumHas(schema, text) {
		return compacted([]byte(text)), nil
	}
	if low := strings.ToLower(text); slices.Contains(types, "boolean") && (low == "true" || low == "false") {
		return json.RawMessage(low), nil
	}
	if slices.Equal(types, []string{"string"}) {
		return wire.AppendQuote(nil, text), nil
	}
	v, err := jsontype.Value(text, types)
	if err != nil {
		return nil, fmt.Errorf("must be %s", strings.Join(types, " or "))
	}
	return compacted(v), nil
}

func compacted(v []byte) json.RawMessage {
	if len(v) == 0 || v[0] != '{' && v[0] != '[' {
		return v
	}
	return wire.Compact(nil, v)
}

// enumTexts are the strings that a schema allows alone.
func enumTexts(schema any) []string {
	part, _ := schema.(map[string]any)
	list, _ := part["enum"].([]any)
	var texts []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

// enumHas reports whether a schema allows the value that a text is as JSON.
func enumHas(schema any, text string) bool {
	part, _ := schema.(map[string]any)
	list, _ := part["enum"].([]any)
	return slices.ContainsFunc(list, func(v any) bool {
		b, err := json.Marshal(v)
		return err == nil && string(b) == text
	})
}

// complete fills in what the call does not give, from the place where the command runs and from the defaults. Integers
// are written in one way: 2 and 2.0 are the key of the same place.
func (c *Command) complete(args arguments, at Path) {
	for _, p := range c.Params {
		if v, given := args[p.Name]; given {
			if n, ok := jsontype.Int(v); ok && slices.Equal(p.Types, []string{"integer"}) {
				args[p.Name] = strconv.AppendInt(nil, int64(n), 10)
			}
			continue
		}
		if p.FromContext != "" {
			if v, ok := at.lookup(p.FromContext); ok {
				args[p.Name] = v
				continue
			}
		}
		if p.Default != nil {
			args[p.Name] = p.Default
		}
	}
}

// check notes what is missing and what the schema of the command does not allow.
func (c *Command) check(ctx context.Context, args arguments, problem *Problem) {
	faulty := map[string]bool{}
	for _, bad := range problem.Invalid {
		faulty[bad.Name] = true
	}
	for _, p := range c.Params {
		if _, given := args[p.Name]; !given && p.Required && !faulty[p.Name] {
			problem.Missing = append(problem.Missing, p.Name)
		}
	}
	if c.judge == nil {
		return
	}
	for _, n := range c.judge().Check(ctx, string(args.json(c)), nil, criteria.Options{}).Faults() {
		c.note(n, args, problem, faulty)
	}
}

// note makes a part of the problem of a fault, unless it is there already.
func (c *Command) note(n *criteria.Node, args arguments, problem *Problem, faulty map[string]bool) {
	name, within := splitPlace(n.Where)
	reason := n.Expected
	switch {
	case n.Outcome == criteria.Undecided:
		reason = "could not be checked: " + n.Got
	case name == "" && n.Property != "":
		name, reason = n.Property, "is no parameter of "+c.Name
	case within != "":
		reason = within + ": " + reason
	}
	value, given := args[name]
	switch {
	case faulty[name] || slices.Contains(problem.Missing, name):
		return
	case !given && name == n.Property && name != "":
		problem.Missing = append(problem.Missing, name)
		return
	case !given:
		problem.invalid("", args.json(c), reason)
		return
	}
	faulty[name] = true
	problem.invalid(name, value, reason)
	if param := c.Param(name); param == nil {
		problem.suggest(name, near(name, c.paramNames()))
	} else {
		problem.suggest(name, near(plain(value), enumTexts(param.schema)))
	}
}

func (c *Command) paramNames() []string {
	list := make([]string, len(c.Params))
	for i := range c.Params {
		list[i] = c.Params[i].Name
	}
	return list
}

// splitPlace splits a place in the arguments into a parameter and the rest.
func splitPlace(where string) (name, within string) {
	path, ok := strings.CutPrefix(where, "/")
	if !ok {
		return "", ""
	}
	name, within, _ = strings.Cut(path, "/")
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name), within
}

// takes reports whether a parameter can have a value.
func (c *Command) takes(name string, value json.RawMessage) bool {
	problem := &Problem{}
	c.check(context.Background(), arguments{name: value}, problem)
	return !slices.ContainsFunc(problem.Invalid, func(i Invalid) bool { return i.Name == name })
}
