package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/gitaddress"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// server reads one server. What is wrong with its variables becomes its Problem.
func (c *checker) server(n *document.Node, name, path string) (s Server) {
	s = Server{Name: name, Timeouts: DefaultTimeouts()}
	defer c.tolerate(&s.Problem)()
	o, ok := c.object(n, path)
	if !ok {
		return s
	}

	o.fill(&s, "disabled", "shared")
	if o.isFalse("idleTimeout") {
		s.IdleTimeout = NeverIdle
	} else {
		o.fill(&s, "idleTimeout")
	}
	o.fill(&s, "maxInFlight")
	readTransport(o, &s)
	readStdio(o, &s)
	readRemote(o, &s)
	readBuiltin(o, &s)
	s.ToolFilters = readToolFilters(o)
	s.Tools = readTools(o)
	o.fill(&s, "readOnly")
	s.Approve = readApprove(o)
	if in, ok := o.within("timeouts"); ok {
		in.fill(&s.Timeouts, "start", "install", "callIdle", "callTotal")
		in.done(func(string) string { return "" })
	}
	if in, ok := o.within("largeResults"); ok {
		in.fill(&s.LargeResults, "over", "do", "images")
		in.done(func(string) string { return "" })
	}
	s.Written = written(o)
	o.done(foreignServerKey)
	return s
}

// foreignServerKey hints at what keys of other clients' files are here, where their spelling does not tell.
func foreignServerKey(key string) string {
	switch key {
	case "includeTools", "excludeTools", "enabled_tools", "disabled_tools": // Gemini CLI, Codex
		return `did you mean "toolFilters"? A filter that begins with ! leaves tools out`
	case "env_file": // Docker Compose
		return `did you mean "envFile"?`
	case "enabled": // opencode
		return `did you mean "disabled"? It says the opposite`
	}
	return ""
}

// reachedBy returns those keys of o that say how a server is reached. A server has exactly one of them.
func reachedBy(o *object) []string {
	var by []string
	for _, w := range ways() {
		if o.has(w.key) && !slices.Contains(by, w.key) {
			by = append(by, w.key)
		}
	}
	return by
}

// readTransport decides how s is reached: by the one of command, url and builtin that it has, and what transport or
// type say.
func readTransport(o *object, s *Server) {
	by := reachedBy(o)
	said, saidOK := saidTransport(o)
	switch {
	case len(by) == 0:
		o.c.fault(o.at, o.path, "want one of command, url and builtin, got none", "")
		return
	case len(by) > 1:
		o.c.fault(o.at, o.path, "want only one of command, url and builtin, got "+strings.Join(by, " and "), "")
		return
	}
	fitting := Transports(by[0])
	s.Transport = Transport(fitting[0])
	if !saidOK {
		s.AnyHTTP = by[0] == "url" && !o.has("transport") && !o.has("type")
		return
	}
	if t := transportOf(said.text); slices.Contains(fitting, string(t)) {
		s.Transport = t
		return
	}
	o.c.reject(said, "want "+oneOf(fitting)+" with "+by[0], "")
}

// saidTransport returns what transport, or its other spelling type, says.
func saidTransport(o *object) (value, bool) {
	v, ok := spelledTransport(o, "transport")
	other, otherOK := spelledTransport(o, "type")
	switch {
	case !ok:
		return other, otherOK
	case otherOK && transportOf(v.text) != transportOf(other.text):
		other.varied = other.varied || v.varied // Either may be to blame.
		o.c.reject(other, "want what transport says, "+got(v.node, false), "one of the two is enough")
		return value{}, false
	}
	return v, true
}

// spelledTransport reads a string that transportOf knows.
func spelledTransport(o *object, key string) (value, bool) {
	v, ok := o.text(key, false)
	if ok && transportOf(v.text) == "" {
		options := Transports("")
		o.c.reject(v, "want "+oneOf(options), nearest.Hint(v.text, options, ""))
		return value{}, false
	}
	return v, ok
}

// onlyBeside reports those of the keys that are there although the server is reached by another key than owner.
func onlyBeside(o *object, owner string, keys ...string) {
	by := reachedBy(o)
	if len(by) != 1 || by[0] == owner {
		return
	}
	for _, key := range keys {
		if m, ok := o.members[key]; ok {
			o.c.fault(position{m.Line, m.Column}, join(o.path, key), fmt.Sprintf("want it beside %s, got it beside %s", owner, by[0]), "")
		}
	}
}

func readStdio(o *object, s *Server) {
	onlyBeside(o, "command", "args", "env", "envFile", "inheritEnv", "cwd", "sandbox")
	if v, ok := o.text("command", false); ok {
		s.Command = o.c.program(v)
		if v.text == "" {
			o.c.reject(v, "want a program", "")
		}
	}
	if env := o.members["env"].Value; env != nil {
		o.c.given = env.Members
	}
	s.Args = texts(o.list("args", true))
	o.c.given = nil
	s.Env = readEnv(o)
	s.EnvFile = readEnvFiles(o)
	if n, path, ok := o.take("inheritEnv"); ok {
		s.InheritEnv = o.c.inheritEnv(n, path)
	}
	s.Cwd = o.place("cwd")
	s.Sandbox = readSandbox(o)
}

func readEnv(o *object) map[string]string {
	var env map[string]string
	for _, p := range o.table("env") {
		if p.key == "" || strings.ContainsAny(p.key, "=\x00") {
			o.c.fault(p.at, p.path, "want a variable's name without =, got "+quote(p.key), "")
		}
		env = with(env, p)
	}
	return env
}

func (c *checker) inheritEnv(n *document.Node, path string) InheritEnv {
	switch n.Kind {
	case document.Boolean:
		return InheritEnv{All: n.Value == "true"}
	case document.Array:
		names := c.list(n, path, false)
		for _, v := range names {
			if v.text == "" || strings.Contains(v.text, "=") {
				c.reject(v, "want a variable's name", "")
			}
		}
		return InheritEnv{Names: texts(names)}
	}
	c.fault(position{n.Line, n.Column}, path, "want true, false or an array of variables' names, got "+got(n, false), "")
	return InheritEnv{}
}

func readRemote(o *object, s *Server) {
	onlyBeside(o, "url", "headers", "oauth")
	if v, ok := o.text("url", true); ok {
		s.URL = v.text
		if !v.sealed && !isURL(v.text) {
			o.c.reject(v, "want a URL that begins with http:// or https:// and a host", urlHint(v.text))
		}
	}
	s.Headers = readHeaders(o)
	if n, path, ok := o.take("oauth"); ok {
		if in, ok := o.c.object(n, path); ok {
			s.OAuth = readOAuth(in)
		}
		for name := range s.Headers {
			if strings.EqualFold(name, "Authorization") {
				o.c.fault(position{n.Line, n.Column}, path, "want it or the header Authorization, got both", "")
			}
		}
	}
}

func readHeaders(o *object) map[string]string {
	var headers map[string]string
	lines := map[string]int{}
	for _, p := range o.table("headers") {
		fold := strings.ToLower(p.key)
		switch line, twice := lines[fold]; {
		case !isToken(p.key):
			o.c.fault(p.at, p.path, "want a header's name, got "+quote(p.key), "")
		case twice:
			o.c.fault(p.at, p.path, fmt.Sprintf("want each header once whatever its case, got it on line %d and again on line %d", line, p.at.line), "")
		case !p.sealed && strings.ContainsFunc(p.text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			o.c.reject(p.value, "want a header's value without line ends and control characters", "")
		}
		lines[fold] = p.at.line
		headers = with(headers, p)
	}
	return headers
}

// with puts p into m, which is made when it is nil.
func with(m map[string]string, p pair) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[p.key] = p.text
	return m
}

// isToken says whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for _, r := range s {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) {
			return false
		}
	}
	return s != ""
}

func readBuiltin(o *object, s *Server) {
	onlyBeside(o, "builtin", "workflows", "conditions", "commands")
	o.fill(s, "builtin")
	for _, v := range o.list("workflows", false) {
		if gitaddress.IsBare(v.text) {
			v.secret = true // It may hold a password.
			o.c.reject(v, "want a folder or git+https://HOST/PATH#REF", "the address of a git repository begins with git+, such as git+ssh://git@HOST/PATH")
			continue
		}
		if !strings.HasPrefix(v.text, gitaddress.Prefix) {
			s.Workflows = append(s.Workflows, o.c.place(v))
			continue
		}
		if _, err := gitaddress.Parse(v.text); err != nil {
			v.secret = true // It may hold a password.
			o.c.reject(v, err.Error(), "")
		}
		s.Workflows = append(s.Workflows, v.text)
	}
	if o.has("builtin") && s.Builtin != "commands" {
		s.Conditions = "strict"
	}
	o.fill(s, "conditions")
	readCommands(o, s)
}

// readCommands reads what a server of commands serves.
func readCommands(o *object, s *Server) {
	v, ok := o.text("commands", false)
	if !o.has("builtin") {
		return
	}
	unlike := func(builtin string, keys ...string) {
		for _, key := range keys {
			if m, there := o.members[key]; there && s.Builtin == builtin {
				o.c.fault(position{m.Line, m.Column}, join(o.path, key), fmt.Sprintf("want it without builtin %q", builtin), "")
			}
		}
	}
	unlike(BuiltinWorkflow, "commands")
	unlike("commands", "workflows", "conditions")
	if s.Builtin != "commands" {
		return
	}
	if s.Shared {
		o.c.fault(o.at, join(o.path, "shared"), `want it without builtin "commands", whose sessions are each client's own`, "")
	}
	switch {
	case !o.has("commands"):
		o.c.fault(o.at, o.path, `want commands beside builtin "commands": example, toolbox:NAME or the folder of a workflow`, "")
	case !ok:
	case v.text == CommandsExample:
		s.Commands = v.text
	case strings.HasPrefix(v.text, CommandsToolbox):
		s.Commands = v.text
		o.c.workedOn = append(o.c.workedOn, v)
	default:
		s.Commands = o.c.place(v)
	}
}
