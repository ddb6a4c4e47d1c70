package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// checker turns the nodes of one file into a Config.
type checker struct {
	report
	folder string // absolute; relative paths start from it
	lookup func(string) (string, bool)

	workedOn []value // what names a toolbox whose tools are to be commands

	sources map[string]SecretSource // where secrets come from
	unread  string                  // what is to be said of files of variables that could not be read
}

// text reads a string and puts its variables in. The result is false if it cannot be used, which is reported.
func (c *checker) text(n *node, path string, secret bool) (value, bool) {
	if n.kind != kindString {
		hint := ""
		if n.kind == kindNumber || n.kind == kindBool {
			hint = "put it in double quotes"
		}
		c.fault(n.at, path, "want a string, got "+n.got(secret), hint)
		return value{}, false
	}
	e, err := expand(n.text, c.lookup)
	v := value{text: e.text, path: path, node: n, varied: e.varied, secret: secret, sealed: len(e.secrets) > 0}
	switch {
	case errors.Is(err, errTooLong) && e.varied:
		c.problem(n.at, path, err.Error()+" from its variables", "")
	case errors.Is(err, errTooLong):
		c.fault(n.at, path, err.Error(), "")
	case err != nil:
		of := referenceError{}
		_ = errors.As(err, &of) // any other error says what is wanted by itself
		c.fault(n.at, path, err.Error(), orElse(of.hint, referenceHint))
	case v.sealed && !secret:
		c.fault(n.at, path, "want a string without a secret, got ${secret:"+e.secrets[0]+"}", "what this string holds is shown to people and models; secrets go into args, env, url, headers, clientSecret and privateKey of oauth, models.apiKey and store.dsn")
	case strings.Count(v.text, "\x00") != len(e.secrets):
		c.reject(v, "want a string without a zero byte", "")
	case len(e.missing) == 0:
		return v, true
	}
	for _, name := range e.missing {
		hint := orElse(elsewhere(name), fmt.Sprintf("set it, or write ${%s:-default}", name))
		c.problem(n.at, path, fmt.Sprintf("want a value for variable %s, got none", name), hint+c.unread)
	}
	return v, false
}

// list reads an array of strings, without those that cannot be used.
func (c *checker) list(n *node, path string, secret bool) []value {
	if n.kind != kindArray {
		c.fault(n.at, path, "want an array of strings, got "+n.got(secret), arrayHint(n))
		return nil
	}
	all := make([]value, 0, len(n.items))
	for i, item := range n.items {
		if v, ok := c.text(item, index(path, i), secret); ok {
			all = append(all, v)
		}
	}
	return all
}

// arrayHint is what to do where an array of strings is wanted.
func arrayHint(n *node) string {
	if n.kind == kindString {
		return `write each as a string of its own: ["one", "two"]`
	}
	return ""
}

// config reads the whole file.
func (c *checker) config(root *node) *Config {
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
		c.sources = cfg.Secrets
	}
	o.fill(cfg, "toolMode", "openTimeout", "openBudget", "codeMode", "maxMessage")
	if n, path, ok := o.take("store"); ok {
		c.store(n, path, &cfg.Store)
	}
	if n, path, ok := o.take("models"); ok {
		c.models(n, path, &cfg.Models)
	}
	if n, path, ok := o.take("http"); ok {
		c.http(n, path, &cfg.HTTP)
	}
	if n, path, ok := o.take("toolboxes"); ok {
		for _, m := range c.named(n, path, "toolbox") {
			cfg.Toolboxes = append(cfg.Toolboxes, c.toolbox(m.value, m.key, join(path, m.key)))
		}
		c.workable(cfg)
	}
	cfg.Record = readRecord(o)
	readPins(o, cfg)
	o.done(func(key string) string {
		switch key {
		case "mcpServers", "servers", "mcp": // of Claude and Cursor, VS Code, opencode
			return `servers stand in a toolbox: {"toolboxes": {"NAME": {"description": "…", "mcpServers": {…}}}}; workbench import FILE takes over the file of a client`
		case "inputs": // of VS Code
			return "a secret is written ${secret:NAME}, and workbench secret set NAME asks for it once"
		}
		return ""
	})
	return cfg
}

func (c *checker) store(n *node, path string, s *Store) {
	o, ok := c.object(n, path)
	if !ok {
		return
	}
	if v, ok := o.text("path", false); ok {
		s.Path = c.place(v)
	}
	if v, ok := o.text("dsn", true); ok {
		s.DSN = v.text
		if v.text == "" {
			c.reject(v, "want a connection string", "such as postgres://workbench:${PGPASSWORD}@db.example.com/workbench")
		}
	}
	o.fill(s, "keepFor", "expireRuns")
	if o.has("path") && o.has("dsn") {
		c.fault(o.at, o.path, "want only one of path and dsn, got both", "")
	}
	o.done(func(string) string { return "" })
}

// workable reports toolboxes that are to be worked by commands and are not there.
func (c *checker) workable(cfg *Config) {
	var names []string
	for _, t := range cfg.Toolboxes {
		names = append(names, t.Name)
	}
	for _, v := range c.workedOn {
		end := c.tolerate(c.owner(cfg, v.path))
		if name := strings.TrimPrefix(v.text, CommandsToolbox); !slices.Contains(names, name) {
			c.reject(v, "want "+CommandsToolbox+" and the name of a toolbox of this file", didYouMean(name, names))
		}
		end()
	}
}

// owner gives the problem of the server whose entry a path leads into.
func (c *checker) owner(cfg *Config, path string) *error {
	for _, t := range cfg.Toolboxes {
		for i := range t.Servers {
			if strings.HasPrefix(path, join(join(join("toolboxes", t.Name), "mcpServers"), t.Servers[i].Name)+".") {
				return &t.Servers[i].Problem
			}
		}
	}
	return new(error) // there is none
}

// oneDesk reports servers of commands beyond the first: over HTTP their toolbox is what names them.
func (c *checker) oneDesk(n *node, path string, servers []Server) {
	first := ""
	for i, s := range servers {
		switch {
		case s.Builtin != BuiltinCommands:
		case first == "":
			first = s.Name
		default:
			end := c.tolerate(&servers[i].Problem)
			c.fault(n.at, join(path, s.Name), fmt.Sprintf(`want one server with builtin "commands" in a toolbox, got %s beside %s`, quote(s.Name), quote(first)), "")
			end()
		}
	}
}

func (c *checker) toolbox(n *node, name, path string) Toolbox {
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
			t.Servers = append(t.Servers, c.server(m.value, m.key, join(serversPath, m.key)))
		}
		c.oneDesk(servers, serversPath, t.Servers)
	} else {
		c.fault(n.at, path, "want mcpServers in a toolbox, got none", "")
	}
	o.done(func(key string) string {
		switch key {
		case "servers", "command", "url", "builtin":
			return `servers stand in "mcpServers"`
		}
		return ""
	})
	return t
}

// named returns the members of n, whose keys are names of things, and reports names that cannot be used.
func (c *checker) named(n *node, path, thing string) []member {
	members, _ := c.members(n, path, ignored)
	folded := make(map[string]member, len(members))
	for _, m := range members {
		if wrong := wrongName(m.key); wrong != "" {
			c.fault(m.at, join(path, m.key), fmt.Sprintf("want a %s's name %s, got %s", thing, wrong, quote(m.key)), "")
		}
		fold := strings.ToLower(m.key)
		if other, ok := folded[fold]; ok {
			c.fault(m.at, join(path, m.key), fmt.Sprintf("want names that differ in more than case, got %s and on line %d %s",
				quote(m.key), other.at.line, quote(other.key)), "")
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

// maxName is the most bytes of a toolbox's or server's name. Exposed tool names, which begin with both, have 48 characters.
const maxName = 64
