package command

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// lint looks for what keeps to the form and still goes wrong when it runs.
func (l *checker) lint(folders *folders) {
	l.lintRoot(folders)
	for _, s := range l.sources {
		switch {
		case s.command != nil:
			l.lintEffect(s)
			l.lintParams(s)
			l.lintArguments(s)
			l.lintResult(s)
			l.lintEnter(s)
			l.lintSurroundings(s)
			l.lintBraces(s, s.doc, "")
		case s.context != nil:
			l.lintContext(s)
		}
	}
	l.lintUtterances()
	l.lintCase()
}

// lintRoot tells folders whose names are nearly those that are read.
func (l *checker) lintRoot(folders *folders) {
	for _, in := range folders.made {
		for _, entry := range folders.list(in, ".") {
			name := entry.Name()
			if name == "commands" || name == "contexts" || !folders.isDir(in, name, entry) {
				continue
			}
			if near := nearest.Names(strings.ToLower(name), []string{"commands", "contexts"}, 1); len(near) > 0 {
				l.fault(in.name(name), nil, "", "this folder is not read; did you mean %q?", near[0])
			}
		}
	}
}

// lintEffect holds the effect against what the command is bound to.
func (l *checker) lintEffect(s *source) {
	c, n := s.command, s.doc.Get("effect")
	if n == nil || c.Effect != Read && c.Effect != Navigate {
		return
	}
	if b := c.Bind.Tool; b != nil {
		if def := l.tools.find(b); def != nil && (def.effect == Write || def.effect == External) {
			note := l.warn
			if def.destroys {
				note = l.fault
			}
			note(s.file, n, "/effect", "%s, but the server says that %s changes something: it would run without being asked about", c.Effect, b.Tool)
		}
	}
	if b := c.Bind.HTTP; b != nil && b.Method != "GET" {
		l.warn(s.file, n, "/effect", "%s, but a %s request may change something: it runs without being asked about", c.Effect, b.Method)
	}
	if c.Effect == Navigate && c.enter == nil && s.doc.Get("enter") == nil {
		l.warn(s.file, n, "/effect", `navigate, but there is no "enter": the command leads nowhere`)
	}
}

// lintParams holds defaults and examples against the parameters, and looks for those that nothing uses.
func (l *checker) lintParams(s *source) {
	c, used := s.command, s.command.uses()
	for i := range c.Params {
		p := &c.Params[i]
		n := s.doc.Get("params").Get(p.Name)
		if n == nil {
			continue
		}
		at := "/params" + document.Pointer(p.Name)
		if p.Default != nil && !c.takes(p.Name, p.Default) {
			l.fault(s.file, n.Get("default"), at+"/default", "is not a value that the parameter can have, got %s", cut.After(string(p.Default), 80))
		}
		for i, choice := range n.Get("enum").List() {
			if text := string(choice.AppendJSON(nil)); !c.takes(p.Name, json.RawMessage(text)) {
				l.fault(s.file, choice, at+document.Pointer("enum", strconv.Itoa(i)), "is not a value that the parameter can have, got %s", cut.After(text, 80))
			}
		}
		for _, example := range p.Examples {
			if !c.takes(p.Name, example) {
				l.warn(s.file, n.Get("examples"), at+"/examples", "%s is not a value that the parameter can have", cut.After(string(example), 80))
			}
		}
		if len(p.Types) == 0 && len(enumTexts(p.schema)) == 0 {
			l.warn(s.file, n, at, `"type" is missing: every value is accepted, and none is recognised in words`)
		}
		if p.Description == "" && p.FromContext == "" {
			l.warn(s.file, n, at, `"description" is missing: nobody learns what the value is`)
		}
		if used != nil && !slices.Contains(used, p.Name) {
			l.warn(s.file, n, at, "nothing uses the parameter")
		}
	}
}

var doubleBraces = regexp.MustCompile(`\{\{([^{}]+)\}\}`)

// lintBraces looks for names of values in double braces, which stand for braces.
func (l *checker) lintBraces(s *source, n *document.Node, path string) {
	for i, item := range n.Items {
		l.lintBraces(s, item, path+document.Pointer(strconv.Itoa(i)))
	}
	for _, m := range n.Members {
		if !slices.Contains([]string{"params", "description", "utterances", "outputs"}, m.Key) || path != "" {
			l.lintBraces(s, m.Value, path+document.Pointer(m.Key))
		}
	}
	for _, found := range doubleBraces.FindAllStringSubmatch(n.Text(), -1) {
		if s.command.Param(found[1]) != nil {
			l.warn(s.file, n, path, "%s is the text {%s}; write {%s} for the value", found[0], found[1], found[1])
		}
	}
}

// uses are the names that the command fills in anywhere; nil means that all its parameters are passed on.
func (c *Command) uses() []string {
	if b := c.Bind; b.Process != nil && b.Process.stdin == nil || b.HTTP == nil && b.Process == nil && (b.Tool == nil || b.Tool.arguments == nil) {
		return nil
	}
	list := []string{""}
	for _, f := range c.fillings() {
		list = append(list, f.names...)
	}
	for _, p := range c.Params {
		if p.Lookup != nil {
			list = append(list, p.Lookup.Tool.arguments.names()...)
		}
	}
	return list
}

// lintArguments holds what a command passes to a tool against the tool's schema.
func (l *checker) lintArguments(s *source) {
	c := s.command
	b := c.Bind.Tool
	if b == nil || s.doc.Get("tool") == nil {
		return
	}
	def := l.tools.find(b)
	if def == nil {
		return
	}
	target := def.command()
	for _, p := range target.Params {
		given := c.Param(p.Name)
		at := s.doc.Get("tool")
		if b.arguments != nil {
			part := b.arguments.object[p.Name]
			if part == nil {
				continue
			}
			if n := at.Get("arguments").Get(p.Name); n != nil {
				at = n
			}
			if len(part.names()) == 0 {
				if v, ok := part.append(nil, func(string) (json.RawMessage, bool) { return nil, false }); ok && !target.takes(p.Name, v) {
					l.fault(s.file, at, "/tool/arguments"+document.Pointer(p.Name), "%s is not a value that the tool %s takes", cut.After(string(v), 80), b.Tool)
				}
				continue
			}
			given = nil
			if part.text != nil && len(part.text.pieces) == 1 {
				given = c.Param(part.text.pieces[0].name)
			}
		}
		if given != nil && apart(given.Types, p.Types) {
			l.fault(s.file, at, "/tool", "the tool %s wants %s as %s, and the parameter %q is %s", b.Tool, p.Name, strings.Join(p.Types, " or "), given.Name, strings.Join(given.Types, " or "))
		}
	}
}

// apart reports whether no value is of both types.
func apart(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	return !slices.ContainsFunc(a, func(t string) bool {
		return slices.Contains(b, t) || t == "integer" && slices.Contains(b, "number") || t == "number" && slices.Contains(b, "integer")
	})
}

// lintResult holds pointers into results against what tools say of theirs.
func (l *checker) lintResult(s *source) {
	c := s.command
	if b := c.Bind.Tool; b != nil {
		for _, out := range c.Outputs {
			if n := s.doc.Get("outputs").Get(out.Name); n != nil {
				l.lintPointer(s, n, "/outputs"+document.Pointer(out.Name), b, out.Pointer)
			}
		}
	}
	for _, p := range c.Params {
		if n := s.doc.Get("params").Get(p.Name).Get("lookup"); n != nil && p.Lookup != nil {
			l.lintPointer(s, n.Get("values"), "/params"+document.Pointer(p.Name)+"/lookup/values", &p.Lookup.Tool, p.Lookup.Values)
		}
	}
}

// lintPointer follows a pointer through the schema of a tool's result.
func (l *checker) lintPointer(s *source, n *document.Node, path string, b *ToolCall, pointer string) {
	def := l.tools.find(b)
	if def == nil || def.output == nil {
		return
	}
	here := def.output
	for _, token := range document.Tokens(pointer) {
		if items, ok := here["items"].(map[string]any); ok {
			here = items
			continue
		}
		properties, ok := here["properties"].(map[string]any)
		if !ok {
			return // it does not say
		}
		next, ok := properties[token].(map[string]any)
		if !ok {
			note := l.warn
			if here["additionalProperties"] == false || len(nearest.Names(token, sortedKeys(properties), 1)) > 0 {
				note = l.fault
			}
			note(s.file, n, path, "the result of %s has no %q%s", b.Tool, token, document.Faults{}.DidYouMean(token, sortedKeys(properties)))
			return
		}
		here = next
	}
}

// lintEnter looks for what tells the key of the place that a command leads to.
func (l *checker) lintEnter(s *source) {
	c := s.command
	if c.enter == nil {
		return
	}
	for _, m := range c.enter.key {
		for _, name := range m.text.names() {
			if c.Param(name) != nil || name == textValue || name == userValue || slices.ContainsFunc(c.Outputs, func(o Output) bool { return o.Name == name }) {
				continue
			}
			own := l.w.contexts[c.Context]
			if own != nil && !own.group() && l.learns(c.Context, name) {
				continue // the place where it runs knows
			}
			if !l.around(c, name) {
				continue // which is a fault of its own
			}
			if len(c.Outputs) == 0 && l.mayTell(c, name) {
				continue
			}
			l.fault(s.file, s.doc.Get("enter"), "/enter", "nothing gives the %s of the %s to go to: no parameter and no output has that name", name, c.enter.context.Name)
		}
	}
}

// mayTell reports whether the result of a command may have a member, as far as is known.
func (l *checker) mayTell(c *Command, name string) bool {
	b := c.Bind.Tool
	if b == nil || !l.tools.known() {
		return true
	}
	def := l.tools.find(b)
	if def == nil || def.output == nil {
		return def == nil
	}
	properties, ok := def.output["properties"].(map[string]any)
	_, has := properties[name]
	return !ok || has
}

// lintSurroundings looks for programs and variables that are not there.
func (l *checker) lintSurroundings(s *source) {
	variables := func(t *template, n *document.Node, path string) {
		if t == nil || l.lookupEnv == nil {
			return
		}
		for _, p := range t.pieces {
			if _, set := l.lookupEnv(p.name); p.env && !set && !strings.HasPrefix(p.name, credentialPrefix) {
				l.warn(s.file, n, path, "the variable %s is not set", p.name)
			}
		}
	}
	if b := s.command.Bind.HTTP; b != nil {
		for _, m := range b.header {
			variables(m.text, s.doc.Get("http").Get("headers").Get(m.name), "/http/headers"+document.Pointer(m.name))
		}
	}
	b := s.command.Bind.Process
	if b == nil {
		return
	}
	for _, m := range b.env {
		variables(m.text, s.doc.Get("process").Get("env").Get(m.name), "/process/env"+document.Pointer(m.name))
	}
	if len(b.argv) > 0 && l.lookPath != nil && len(b.argv[0].names()) == 0 {
		program := b.argv[0].text(func(string) (json.RawMessage, bool) { return nil, false })
		if _, err := l.lookPath(program); err != nil {
			l.warn(s.file, s.doc.Get("process").Get("argv"), "/process/argv", "the program %s is not there", program)
		}
	}
}

// lintContext looks for places that nobody goes to.
func (l *checker) lintContext(s *source) {
	c := s.context
	if c.group() || l.vague || l.w.contexts[c.Name] != c || slices.ContainsFunc(sortedKeys(l.w.contexts), func(other string) bool { return slices.Contains(l.w.contexts[other].Bases, c.Name) }) {
		return
	}
	for _, command := range l.w.commands {
		if command.enter != nil && command.enter.context.Name == c.Name {
			return
		}
	}
	l.warn(s.file, s.doc, "", "no command leads to this context")
}

// lintUtterances looks for an utterance of two commands that are seen together.
func (l *checker) lintUtterances() {
	said := map[string]*source{}
	for _, s := range l.sources {
		if s.command == nil {
			continue
		}
		for i, u := range s.command.Utterances {
			key := normal(u)
			other := said[key]
			if other == nil {
				said[key] = s
				continue
			}
			if n := s.doc.Get("utterances"); n != nil && i < len(n.Items) && other.command.Name != s.command.Name && l.together(s.command, other.command) {
				l.warn(s.file, n.Items[i], "/utterances", "%q is also an utterance of %s, so the user is asked which one is meant", u, other.command.Name)
			}
		}
	}
}

// lintCase looks for names that are told apart by capital letters alone.
func (l *checker) lintCase() {
	seen := map[string]string{}
	for _, name := range append(sortedKeys(l.w.commands), sortedKeys(l.w.contexts)...) {
		key := strings.ToLower(name)
		if other := seen[key]; other != "" && other != name && path.Dir(name) == path.Dir(other) {
			file := name + ".yaml"
			for _, s := range l.sources {
				if s.command != nil && s.command.Name == name || s.context != nil && s.context.Name == name {
					file = s.file
				}
			}
			l.warn(file, nil, "", "only capital letters tell %s from %s", name, other)
		}
		seen[key] = name
	}
}
