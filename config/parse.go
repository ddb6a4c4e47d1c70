package config

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// maxSize is the most bytes a configuration file may have.
const maxSize = 4 << 20

// Source is a configuration file as it was read, once: what is judged of it and what is then used are the same bytes.
type Source struct {
	Path  string
	Data  []byte
	Doubt string // why the file is not quite to be trusted, as in a [Config]
}

// Read reads the file at path. One that cannot be read is an *os.PathError; one that other users can write or replace
// is refused, as [openfile.ReadTrusted] says.
func Read(path string) (*Source, error) {
	data, doubt, err := openfile.ReadTrusted(path, maxSize)
	if err != nil {
		return nil, err
	}
	return &Source{Path: path, Data: data, Doubt: doubt}, nil
}

// Parse reads the configuration that the file holds, as the function [Parse] does.
func (s *Source) Parse(lookup func(string) (string, bool)) (*Config, error) {
	return s.parse(lookup, false)
}

// ParseUsable is Parse, but that a fault inside the entry of a server, or of the models, is the Problem of these alone.
func (s *Source) ParseUsable(lookup func(string) (string, bool)) (*Config, error) {
	return s.parse(lookup, true)
}

func (s *Source) parse(lookup func(string) (string, bool), lenient bool) (*Config, error) {
	cfg, err := parse(s.Path, s.Data, lookup, lenient)
	if err == nil {
		cfg.Doubt = s.Doubt
		cfg.pin()
	}
	return cfg, err
}

// Parse reads a configuration. Name becomes its Path and appears in errors; its ending decides between YAML (.yaml,
// .yml) and JSON with comments and trailing commas (anything else); its folder is what relative paths in the file start
// from. Lookup gives the value of a variable, and whether it is set; nil means that none is.
//
// The error is an *Error with every fault of the file; there is another only for a relative name where no current
// directory is. A variable that is not set is a fault only outside of servers; in a server it becomes that server's
// Problem.
func Parse(name string, data []byte, lookup func(string) (string, bool)) (*Config, error) {
	return parse(name, data, lookup, false)
}

func parse(name string, data []byte, lookup func(string) (string, bool), lenient bool) (*Config, error) {
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	root, fault := parseTree(name, data)
	if fault != nil {
		fault.File = name
		return nil, &Error{Faults: []Fault{*fault}}
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	c := checker{report: report{file: name, lenient: lenient}, folder: filepath.Dir(path), lookup: lookup}
	cfg := c.config(root)
	cfg.Path, cfg.Partly = name, c.partly
	switch {
	case len(c.faults) > 0 && lenient: // as long as it cannot be used at all, all that is wrong is told
		return parse(name, data, lookup, false)
	case len(c.faults) > 0:
		return nil, newError(c.faults)
	}
	return cfg, nil
}

func parseTree(name string, data []byte) (*document.Node, *Fault) {
	if len(data) > maxSize {
		return nil, &Fault{Message: fmt.Sprintf("want at most %d bytes, got more", maxSize)}
	}
	language := ".json"
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".yaml" || ext == ".yml" {
		language = ext
	}
	var faults document.Faults
	root := document.ReadSettings(language, data, &faults)
	switch {
	case root != nil: // what its faults say of keys is said of their paths, later
		return root, nil
	case language == ".json" && isTOML(name, data):
		return nil, &Fault{Line: 1, Column: 1, Message: "want JSON or YAML, got TOML", Hint: "workbench import reads the files of Codex and other clients"}
	}
	return nil, &Fault{Line: faults[0].Line, Column: faults[0].Column, Message: faults[0].Message}
}

// tomlLine is a line that a file in TOML has, and one in JSON has not.
var tomlLine = regexp.MustCompile(`(?m)^\s*(\[\[?[A-Za-z0-9_."-]+\]\]?|[A-Za-z0-9_-]+\s*=.*)\s*$`)

// isTOML reports whether a file is one in TOML, as Codex has it.
func isTOML(name string, data []byte) bool {
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		return true
	}
	first := bytes.TrimLeft(data, " \t\r\n")
	return len(first) > 0 && first[0] != '{' && tomlLine.Match(data)
}
