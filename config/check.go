package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// config reads the whole file.
func (c *checker) config(root *document.Node) *Config {
	cfg := &Config{ToolMode: ToolModeAuto, OpenTimeout: DefaultOpenTimeout, OpenBudget: DefaultOpenBudget, MaxMessage: DefaultMaxMessage}
	o, ok := c.object(root, "")
	if !ok {
		return cfg
	}
	cfg.given = make(map[string]bool, len(o.members))
	for key := range o.members {
		cfg.given[key] = true
	}
	cfg.EnvFile = readEnvFiles(o)
	c.borrow(cfg.EnvFile)
	if n, path, ok := o.take("secrets"); ok {
		cfg.Secrets = c.secrets(n, path)
	}
	o.fill(cfg, "toolMode", "openTimeout", "openBudget", "codeMode", "maxMessage")
	if in, ok := o.within("store"); ok {
		readStore(in, &cfg.Store)
	}
	if in, ok := o.within("models"); ok {
		readModels(in, &cfg.Models)
	}
	if in, ok := o.within("http"); ok {
		readHTTP(in, &cfg.HTTP)
	}
	if n, path, ok := o.take("toolboxes"); ok {
		for _, m := range c.named(n, path, "toolbox") {
			cfg.Toolboxes = append(cfg.Toolboxes, c.toolbox(m.Value, m.Key, join(path, m.Key)))
		}
		c.workable(cfg)
		cfg.source()
	}
	cfg.Record = readRecord(o)
	readPins(o, cfg)
	o.done(func(key string) string {
		switch key {
		case "mcpServers", "servers", "mcp": // of Claude and Cursor, VS Code, opencode
			return `servers belong in a toolbox: {"toolboxes": {"NAME": {"description": "…", "mcpServers": {…}}}}; workbench import FILE copies them from the file of a client`
		case "inputs": // of VS Code
			return "a secret is written ${secret:NAME}, and workbench secret set NAME asks for it once"
		}
		return ""
	})
	return cfg
}

func readStore(o *object, s *Store) {
	s.Path = o.place("path")
	o.filled("dsn", true, &s.DSN, "want a connection string", "such as postgres://workbench:${PGPASSWORD}@db.example.com/workbench")
	o.fill(s, "keepFor", "expireRuns")
	if o.has("path") && o.has("dsn") {
		o.c.fault(o.at, o.path, "want only one of path and dsn, got both", "")
	}
	o.done(func(string) string { return "" })
}

// workable reports toolboxes that are to be worked by commands and are not there.
func (c *checker) workable(cfg *Config) {
	names := cfg.ToolboxNames()
	for _, v := range c.workedOn {
		end := c.tolerate(c.owner(cfg, v.path))
		if name := strings.TrimPrefix(v.text, CommandsToolbox); !slices.Contains(names, name) {
			c.reject(v, "want "+CommandsToolbox+" and the name of a toolbox of this file", nearest.Hint(name, names, ""))
		}
		end()
	}
}

// owner gives the problem of the server whose entry a path leads into.
func (c *checker) owner(cfg *Config, path string) *error {
	for t, s := range cfg.Servers() {
		if strings.HasPrefix(path, join(join(join("toolboxes", t.Name), "mcpServers"), s.Name)+".") {
			return &s.Problem
		}
	}
	return new(error) // there is none
}

// oneDesk reports servers of commands beyond the first: over HTTP their toolbox is what names them.
func (c *checker) oneDesk(n *document.Node, path string, servers []Server) {
	first := ""
	for i, s := range servers {
		switch {
		case s.Builtin != BuiltinCommands:
		case first == "":
			first = s.Name
		default:
			end := c.tolerate(&servers[i].Problem)
			c.fault(position{n.Line, n.Column}, join(path, s.Name), fmt.Sprintf(`want one server with builtin "commands" in a toolbox, got %s beside %s`, quote(s.Name), quote(first)), "")
			end()
		}
	}
}

func (c *checker) toolbox(n *document.Node, name, path string) Toolbox {
	t := Toolbox{Name: name, File: c.file, Prefix: PrefixToolbox}
	o, ok := c.object(n, path)
	if !ok {
		return t
	}
	if v, ok := o.text("description", false); ok {
		t.Description = foreign.NewLines(v.text)
	}
	o.fill(&t, "open", "prefix", "pins")
	servers, serversPath, ok := o.take("mcpServers")
	if ok {
		for _, m := range c.named(servers, serversPath, "server") {
			t.Servers = append(t.Servers, c.server(m.Value, m.Key, join(serversPath, m.Key)))
		}
		c.oneDesk(servers, serversPath, t.Servers)
	} else {
		c.fault(position{n.Line, n.Column}, path, "want mcpServers in a toolbox, got none", "")
	}
	o.done(func(key string) string {
		switch key {
		case "servers", "command", "url", "builtin":
			return `servers belong in "mcpServers"`
		}
		return ""
	})
	return t
}

// named returns the members of n, whose keys are names of things, and reports names that cannot be used.
func (c *checker) named(n *document.Node, path, thing string) []document.Member {
	members, _ := c.members(n, path, ignored)
	folded := make(map[string]document.Member, len(members))
	for _, m := range members {
		if wrong := wrongName(m.Key); wrong != "" {
			c.fault(position{m.Line, m.Column}, join(path, m.Key), fmt.Sprintf("want a %s's name %s, got %s", thing, wrong, quote(m.Key)), "")
		}
		fold := strings.ToLower(m.Key)
		if other, ok := folded[fold]; ok {
			c.fault(position{m.Line, m.Column}, join(path, m.Key), fmt.Sprintf("want names that differ in more than case, got %s and on line %d %s",
				quote(m.Key), position{other.Line, other.Column}.line, quote(other.Key)), "")
		}
		folded[fold] = m
	}
	return members
}

// wrongName says what a name should be like, or "" if it is.
func wrongName(name string) string {
	switch {
	case name == "":
		return "that is not empty"
	case len(name) > maxName:
		return fmt.Sprintf("of at most %d bytes", maxName)
	case strings.TrimSpace(name) != name:
		return "without space at its ends"
	case strings.Contains(name, "/"):
		return "without /, which stands between toolbox, server and tool"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "of visible characters"
	}
	return ""
}

// maxName is the most bytes of a toolbox's or server's name. Exposed tool names, which begin with both, have 48
// characters.
const maxName = 64

// readPins reads which tools are always offered. Their toolboxes and servers are those of the file.
func readPins(o *object, cfg *Config) {
	for _, v := range o.list("pin", false) {
		parts := strings.SplitN(v.text, "/", 3)
		if len(parts) < 3 || parts[2] == "" {
			o.c.reject(v, "want TOOLBOX/SERVER/TOOL", "")
			continue
		}
		p := Pin{parts[0], parts[1], parts[2]}
		box, ok := cfg.Toolbox(p.Toolbox)
		if !ok {
			o.c.reject(v, "want a toolbox of this file before the first /", nearest.Hint(p.Toolbox, cfg.ToolboxNames(), ""))
			continue
		}
		names := box.ServerNames()
		if !slices.Contains(names, p.Server) {
			o.c.reject(v, "want a server of toolbox "+quote(p.Toolbox)+" before the second /", nearest.Hint(p.Server, names, ""))
			continue
		}
		cfg.Pinned = append(cfg.Pinned, p)
	}
}
