package published

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/clients"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Detail is a server.json.
type Detail struct {
	Name        string    `json:"name"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Version     string    `json:"version"`
	Packages    []pack    `json:"packages"`
	Remotes     []address `json:"remotes"`
}

// pack is a package that is fetched and run.
type pack struct {
	Type      string     `json:"registryType"`
	Base      string     `json:"registryBaseUrl"`
	ID        string     `json:"identifier"`
	Version   string     `json:"version"`
	Digest    string     `json:"fileSha256"`
	Hint      string     `json:"runtimeHint"`
	Transport address    `json:"transport"`
	Before    []argument `json:"runtimeArguments"`
	After     []argument `json:"packageArguments"`
	Env       []input    `json:"environmentVariables"`
}

// address is how a server is spoken to.
type address struct {
	Type      string           `json:"type"`
	URL       string           `json:"url"`
	Headers   []input          `json:"headers"`
	Variables map[string]input `json:"variables"`
}

// input is a value that the publisher fixes, proposes or asks for.
type input struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Required    bool             `json:"isRequired"`
	Secret      bool             `json:"isSecret"`
	Value       string           `json:"value"`
	Default     string           `json:"default"`
	Choices     []string         `json:"choices"`
	Variables   map[string]input `json:"variables"`
}

// argument is a word of a command line, or two.
type argument struct {
	input
	Type string `json:"type"`
	Hint string `json:"valueHint"`
}

// Way is one of the ways to start or reach a server.
type Way struct {
	Kind    string // npm, pypi, oci, nuget, mcpb or remote
	Program string // what has to be installed for it; "" for none
	URL     string // where the bundle is, for mcpb
	Digest  string // the SHA-256 of the bundle, in hexadecimal
	pack    *pack
	remote  *address
}

// Ways returns the ways that workbench can go, in the publisher's order, packages first.
func (d *Detail) Ways() (ways []Way) {
	for i := range d.Packages {
		p := &d.Packages[i]
		w := Way{Kind: p.Type, pack: p}
		switch {
		case p.Type == "mcpb":
			w.URL, w.Digest = p.ID, p.Digest
		case p.Transport.Type != "stdio" && p.Transport.Type != "": // it wants a port, and somebody who starts it
			continue
		default:
			if w.Program = p.runner(); w.Program == "" {
				continue
			}
		}
		ways = append(ways, w)
	}
	for i := range d.Remotes {
		ways = append(ways, Way{Kind: "remote", remote: &d.Remotes[i]})
	}
	return ways
}

// runner is the program that fetches and runs a package.
func (p *pack) runner() string {
	usual := map[string]string{"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}[p.Type]
	if usual != "" && slices.Contains([]string{"npx", "bunx", "uvx", "pipx", "docker", "podman", "dnx"}, p.Hint) {
		return p.Hint
	}
	return usual
}

// Entry is what a server is entered as.
type Entry struct {
	Name   string
	Server clients.Server
	Notes  []string // what is to be done before it works
}

// Entry makes an entry of a way with the values that were given. The error is an *[InputError] if they do not fit.
func (d *Detail) Entry(w Way, given Values) (Entry, error) {
	name, err := short(d.Name)
	if err != nil {
		return Entry{}, err
	}
	s := newSettings(given)
	e := Entry{Name: name, Server: clients.Server{Description: d.Name + " " + d.Version}}
	if w.remote != nil {
		err = s.reach(&e.Server, w.remote)
	} else {
		err = s.run(&e.Server, w.pack)
	}
	if err == nil {
		err = s.err()
	}
	e.Notes = s.notes
	return e, err
}

func (s *settings) reach(to *clients.Server, at *address) error {
	to.URL = written(s.filled(at.URL, at.Variables))
	if !strings.HasPrefix(to.URL, "https://") && !strings.HasPrefix(to.URL, "http://") && !strings.HasPrefix(to.URL, "${") {
		return fmt.Errorf("its address %q is none of http", foreign.NewName(at.URL))
	}
	switch at.Type {
	case "sse":
		to.Transport = "sse"
	case "streamable-http", "http":
		to.Transport = "http"
	default:
		return fmt.Errorf("it uses the transport %q, which workbench does not know", foreign.NewName(at.Type))
	}
	for _, h := range at.Headers {
		if text, ok := s.value(h, h.Name, true); ok {
			to.Headers.Set(h.Name, written(text))
		}
	}
	return nil
}

// plain is what a package may be called: no word that a runner takes for a flag.
var plain = regexp.MustCompile(`^[A-Za-z0-9@][A-Za-z0-9@._/:+-]*$`)

func (s *settings) run(to *clients.Server, p *pack) error {
	if !plain.MatchString(p.ID) || p.Version != "" && !plain.MatchString(p.Version) {
		return fmt.Errorf("its package %q %q has no name of a package", foreign.NewName(p.ID), foreign.NewName(p.Version))
	}
	to.Command = p.runner()
	before, after := s.words(p.Before), s.words(p.After)
	for _, v := range p.Env {
		if text, ok := s.value(v, v.Name, true); ok {
			to.Env.Set(v.Name, written(text))
		}
	}
	named := p.ID
	if p.Version != "" {
		named += "@" + p.Version
	}
	switch to.Command {
	case "npx":
		if !slices.Contains(before, "-y") && !slices.Contains(before, "--yes") {
			before = append([]string{"-y"}, before...)
		}
	case "pipx":
		named = strings.Replace(named, "@", "==", 1)
		before = append([]string{"run"}, before...)
	case "docker", "podman":
		before = p.container(before, to.Env)
		named = p.ID
		if last := p.ID[strings.LastIndexByte(p.ID, '/')+1:]; p.Version != "" && !strings.ContainsAny(last, ":@") {
			named += ":" + p.Version
		}
	case "dnx":
		after = append([]string{"--yes", "--"}, after...)
		if len(after) == 2 {
			after = after[:1]
		}
	}
	to.Args = append(append(before, named), after...)
	return nil
}

// container are the words before an image: what keeps its input open, takes it away at its end, and hands variables in.
func (p *pack) container(before []string, env clients.Pairs) []string {
	words := []string{"run", "-i", "--rm"}
	for _, pair := range env {
		words = append(words, "-e", pair.Key)
	}
	for _, w := range before {
		if !slices.Contains([]string{"run", "-i", "--interactive", "--rm"}, w) {
			words = append(words, w)
		}
	}
	return words
}

// words are those of arguments that have a value.
func (s *settings) words(list []argument) (words []string) {
	for _, a := range list {
		label := a.Hint
		if a.Type == "named" {
			label = strings.TrimLeft(a.Name, "-")
		}
		if a.Type == "named" && a.Value == "" && a.Default == "" && !a.Required && s.given[label] == "" {
			s.known[label] = true
			continue // an option that nobody chose
		}
		text, ok := s.value(a.input, label, false)
		if a.Type == "named" {
			words = append(words, written(theirs(a.Name)))
		}
		if ok && text != "" {
			words = append(words, written(text))
		}
	}
	return words
}

// value is that of an input, to be written; false if there is none. Where it is looked for elsewhere when the server
// starts, a name is enough.
func (s *settings) value(in input, label string, later bool) (string, bool) {
	if in.Value != "" {
		return s.filled(in.Value, in.Variables), true
	}
	label = cmp.Or(label, "value")
	s.known[label] = true
	if text, ok := s.given[label]; ok {
		if len(in.Choices) > 0 && !slices.Contains(in.Choices, text) {
			s.want(label, "one of "+strings.Join(in.Choices, ", "))
		}
		return ours(text), true
	}
	switch name := variable(label); {
	case in.Default != "":
		return theirs(in.Default), true
	case !in.Required:
	case later && in.Secret:
		s.notes = append(s.notes, fmt.Sprintf("workbench secret set %s keeps %s", name, said(label, in.Description)))
		return ours("${secret:" + name + "}"), true
	case later:
		s.notes = append(s.notes, fmt.Sprintf("set the variable %s, or give --set %s=VALUE: %s", name, foreign.NewName(label), said(label, in.Description)))
		return ours("${" + name + "}"), true
	default:
		s.want(label, in.Description)
	}
	return "", false
}

func said(label, description string) string {
	return foreign.NewText(cmp.Or(description, label)).String()
}

// slot is a variable in a value.
var slot = regexp.MustCompile(`\{([A-Za-z0-9_.-]+)\}`)

// filled puts the values of variables into a text; what is no variable stays.
func (s *settings) filled(text string, variables map[string]input) string {
	return slot.ReplaceAllStringFunc(theirs(text), func(found string) string {
		name := found[1 : len(found)-1]
		in, ok := variables[name]
		if !ok {
			return found
		}
		in.Required = true // the text has no end without it
		value, _ := s.value(in, name, true)
		return value
	})
}

// variable is a label as a variable or a secret is called.
func variable(label string) string {
	name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9_]+`).ReplaceAllString(label, "_"), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "V_" + name
	}
	if name == strings.ToLower(name) || strings.Contains(label, "-") {
		name = strings.ToUpper(name)
	}
	return name
}

// Read reads a server.json.
func Read(data []byte) (*Detail, error) {
	d := new(Detail)
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("its server.json cannot be read: %w", foreign.Misread(err, d))
	}
	return d, nil
}
