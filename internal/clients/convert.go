package clients

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/document"
)

// conversion carries the members of one entry over.
type conversion struct {
	*reader
	project string // the folder that the entry is for, or ""
	server  *Server
	said    string   // how the server is reached, in the words of the file
	byKey   string   // the key of its address
	refused bool     // the address cannot be reached, which is said
	given   []string // the variables that the entry gives its program, but for those that hand on the client's own
	include []string
	exclude []string
}

// note says something of a member.
func (c *conversion) note(line int, format string, args ...any) {
	n := Note{File: c.Path, Line: line, Server: shown(c.entry.Name), Message: fmt.Sprintf(format, args...)}
	c.entry.Notes = append(c.entry.Notes, n)
}

// members carries over each member, or has a note say that it is left out.
func (c *conversion) members(n *document.Node) {
	for _, key := range []string{"env", "envs", "environment"} {
		if env := n.Get(key); env != nil {
			for _, v := range env.Members {
				if !strings.Contains(v.Value.Value, v.Key) {
					c.given = append(c.given, v.Key)
				}
			}
		}
	}
	for i, m := range n.Members {
		if m.Value.Kind == document.Null || twice(n.Members[i+1:], m.Key) || strings.HasPrefix(m.Key, "_") || m.Key == "$schema" {
			continue
		}
		if !c.program(m) && !c.address(m) && !c.rule(m) {
			c.note(m.Line, "%s is left out: %s", shown(m.Key), c.why(m.Key))
		}
	}
}

// program carries over what belongs to a program.
func (c *conversion) program(m document.Member) bool {
	s := c.server
	switch m.Key {
	case "command", "cmd", "path":
		switch words := c.list(m.Value); {
		case m.Value.Kind == document.Object: // as Zed once wrote it
			c.members(m.Value)
		case len(words) > 0:
			s.Command, s.Args = words[0], append(words[1:len(words):len(words)], s.Args...)
		}
	case "args", "arguments":
		s.Args = append(s.Args, c.list(m.Value)...)
	case "env", "envs", "environment":
		for _, v := range m.Value.Members {
			if text, ok := c.text(v.Key, v.Value); ok {
				s.Env.Set(v.Key, text)
			}
		}
	case "env_keys":
		for _, name := range m.Value.Items {
			s.Env.Set(name.Text(), "${"+name.Text()+"}")
			c.note(name.Line, "the client keeps %s in its keyring: set the variable of that name", shown(name.Text()))
		}
	case "env_vars":
		for _, name := range m.Value.Items {
			if name.Kind == document.Object { // a name, and where it is from
				name = name.Get("name")
			}
			s.InheritEnv = append(s.InheritEnv, name.Text())
		}
	case "envFile", "env_file":
		for _, file := range c.list(m.Value) {
			s.EnvFile = append(s.EnvFile, c.place(m.Line, m.Key, file))
		}
	case "cwd", "workingDirectory", "working_directory":
		if text, ok := c.text(m.Key, m.Value); ok && text != "" {
			s.Cwd = c.place(m.Line, m.Key, text)
		}
	default:
		return false
	}
	return true
}

// address carries over what belongs to a remote server.
func (c *conversion) address(m document.Member) bool {
	s := c.server
	switch m.Key {
	case "url", "serverUrl", "httpUrl", "uri", "baseUrl":
		if text, ok := c.text(m.Key, m.Value); ok {
			s.URL, c.byKey = text, m.Key
		}
	case "headers", "http_headers":
		for _, h := range m.Value.Members {
			if text, ok := c.text(h.Key, h.Value); ok {
				s.Headers.Set(h.Key, text)
			}
		}
	case "requestOptions", "requestInit":
		for _, inner := range m.Value.Members {
			if inner.Key != "headers" || !c.address(inner) {
				c.note(inner.Line, "%s.%s is left out: it has no counterpart", m.Key, shown(inner.Key))
			}
		}
	case "env_http_headers":
		for _, h := range m.Value.Members {
			s.Headers.Set(h.Key, "${"+h.Value.Text()+"}")
		}
	case "bearer_token_env_var", "bearer_token_env":
		s.Headers.Set("Authorization", "Bearer ${"+m.Value.Text()+"}")
	case "bearer_token":
		if text, ok := c.text(m.Key, m.Value); ok {
			s.Headers.Set("Authorization", "Bearer "+text)
		}
	case "oauth", "auth":
		c.oauth(m)
	case "scopes":
		if scopes := m.Value.Items; len(scopes) > 0 {
			c.login().Scopes = c.list(m.Value)
		}
	default:
		return false
	}
	return true
}

// login returns what is said of logging in.
func (c *conversion) login() *OAuth {
	if c.server.OAuth == nil {
		c.server.OAuth = &OAuth{}
	}
	return c.server.OAuth
}

func (c *conversion) oauth(m document.Member) {
	if m.Value.Kind != document.Object {
		if m.Value.Kind != document.Boolean || m.Value.Value != "true" {
			c.note(m.Line, "%s is left out: a server that needs a login asks for it", shown(m.Key))
		}
		return
	}
	for _, inner := range m.Value.Members {
		var text string
		if inner.Value.Kind != document.Array {
			text, _ = c.text(inner.Key, inner.Value)
		}
		switch strings.ToLower(strings.ReplaceAll(inner.Key, "_", "")) {
		case "clientid":
			c.login().ClientID = text
		case "clientsecret":
			c.login().ClientSecret = text
		case "scopes", "scope":
			if scopes := c.list(inner.Value); inner.Value.Kind == document.Array && len(scopes) > 0 {
				c.login().Scopes = scopes
			} else if fields := strings.Fields(text); len(fields) > 0 {
				c.login().Scopes = fields
			}
		default:
			c.note(inner.Line, "%s.%s is left out: the login finds it by itself", shown(m.Key), shown(inner.Key))
		}
	}
}

// rule carries over what holds for both kinds of servers.
func (c *conversion) rule(m document.Member) bool {
	s := c.server
	switch m.Key {
	case "type", "transport", "source":
		c.said = m.Value.Text()
	case "disabled", "enabled":
		s.Disabled = s.Disabled || (m.Value.Value == "true") == (m.Key == "disabled")
	case "description":
		s.Description = m.Value.Text()
	case "name", "display_name":
	case "includeTools", "enabled_tools", "enabledTools", "allowedTools", "tools":
		if m.Value.Kind != document.Array {
			return false
		}
		c.include = append(c.include, c.list(m.Value)...)
		if len(m.Value.Items) == 0 {
			s.Disabled = true
			c.note(m.Line, "%s names no tool; the server is disabled", m.Key)
		}
	case "excludeTools", "disabled_tools", "disabledTools", "excludedTools":
		c.exclude = append(c.exclude, c.list(m.Value)...)
	case "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "toolTimeoutMs", "requestTimeoutMs", "timeout":
		return c.timeout(m)
	default:
		return false
	}
	return true
}

// timeout carries over a time, whose unit and meaning are the client's.
func (c *conversion) timeout(m document.Member) bool {
	unit, start := time.Millisecond, strings.HasPrefix(m.Key, "startup")
	if strings.HasSuffix(m.Key, "_sec") {
		unit = time.Second
	}
	if m.Key == "timeout" {
		if c.Client == nil || c.Client.Timeout == "" {
			return false
		}
		start = strings.HasPrefix(c.Client.Timeout, "start")
		if strings.HasSuffix(c.Client.Timeout, " s") {
			unit = time.Second
		}
	}
	number, err := strconv.ParseFloat(m.Value.Value, 64)
	if err != nil || !(number*float64(unit) >= float64(time.Millisecond) && number*float64(unit) <= float64(24*time.Hour)) {
		return false
	}
	if c.server.Timeouts == nil {
		c.server.Timeouts = &Times{}
	}
	d := Duration(number * float64(unit))
	if start {
		c.server.Timeouts.Start = d
	} else {
		c.server.Timeouts.CallTotal = d
	}
	return true
}

// why says why a key is left out.
func (c *conversion) why(key string) string {
	switch key {
	case "trust", "autoApprove", "alwaysAllow", "default_tools_approval_mode", "tools":
		return "set in the client, at its entry of workbench, which calls need a yes"
	case "timeout":
		return "its unit is not known, or it is out of range; see timeouts"
	}
	return "it has no counterpart"
}

// finish settles what hangs on several members.
func (c *conversion) finish(n *document.Node) {
	s := c.server
	if s.URL != "" && s.Command != "" {
		c.note(n.Line, "the entry has a command and an address; the address is left out")
		s.URL, s.Headers, s.OAuth = "", nil, nil
	}
	if s.URL != "" {
		gemini := c.Client != nil && (c.Client.Name == "gemini" || c.Client.Name == "qwen")
		if c.said == "sse" || c.said == "" && gemini && c.byKey == "url" {
			s.Transport = "sse"
		}
		if !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://") && !strings.HasPrefix(s.URL, "${") {
			scheme, _, _ := strings.Cut(s.URL, ":")
			c.note(n.Line, "an address that begins with %s: cannot be reached; the server is left out", shown(scheme))
			s.URL, c.refused = "", true
		}
	}
	if s.OAuth != nil && slices.ContainsFunc(s.Headers, func(p Pair) bool { return strings.EqualFold(p.Key, "Authorization") }) {
		c.note(n.Line, "the login with OAuth is left out: the header Authorization takes its place")
		s.OAuth = nil
	}
	switch inCwd := s.Cwd != "" && !strings.HasPrefix(s.Cwd, "${"); {
	case !strings.ContainsAny(s.Command, `/\`):
	case inCwd && !absolute(s.Command) && !strings.HasPrefix(s.Command, "${"):
		s.Command = c.System.join(s.Cwd, path.Clean(strings.ReplaceAll(s.Command, `\`, "/")))
	default:
		s.Command = c.place(n.Line, "command", s.Command)
	}
	c.docker()
	if !slices.Contains(c.include, "*") {
		s.ToolFilters = c.include
	}
	for _, name := range c.exclude {
		if len(s.ToolFilters) == 0 {
			s.ToolFilters = []string{"*"}
		}
		s.ToolFilters = append(s.ToolFilters, "!"+name)
	}
}

// docker hands on the variables that a container is to get from the environment of docker.
func (c *conversion) docker() {
	program := strings.TrimSuffix(path.Base(strings.ReplaceAll(c.server.Command, `\`, "/")), ".exe")
	if program != "docker" && program != "podman" {
		return
	}
	add := func(name string) {
		own := slices.ContainsFunc(c.server.Env, func(p Pair) bool { return p.Key == name })
		if name != "" && !own && !slices.Contains(c.server.InheritEnv, name) {
			c.server.InheritEnv = append(c.server.InheritEnv, name)
		}
	}
	for i, arg := range c.server.Args {
		name, joined := strings.CutPrefix(arg, "--env=")
		if !joined && i > 0 && (c.server.Args[i-1] == "-e" || c.server.Args[i-1] == "--env") {
			name, joined = arg, true
		}
		if joined && !strings.ContainsAny(name, "=$ ") {
			add(name)
		}
	}
	add("DOCKER_HOST")
	add("DOCKER_CONFIG")
}

// place returns a path that does not depend on where workbench runs, as far as that is known.
func (c *conversion) place(line int, key, file string) string {
	switch {
	case absolute(file) || strings.HasPrefix(file, "${"):
		return file
	case file == "~" || strings.HasPrefix(file, "~/") || strings.HasPrefix(file, `~\`):
		return c.home() + file[1:]
	case c.project != "":
		return c.System.join(c.project, path.Clean(strings.ReplaceAll(file, `\`, "/")))
	}
	c.note(line, "%s is relative to where the client runs, and here to the folder of the configuration: write the whole path", key)
	return file
}

// absolute reports whether a path of any system is.
func absolute(file string) bool {
	return path.IsAbs(file) || strings.HasPrefix(file, `\\`) || len(file) > 1 && file[1] == ':'
}

// home is the variable that holds the home of the user.
func (c *conversion) home() string {
	if c.System.GOOS == "windows" {
		return "${USERPROFILE}"
	}
	return "${HOME}"
}

// unreachable says why an entry is none of a server.
func (c *conversion) unreachable() string {
	if c.said != "" {
		return fmt.Sprintf("an entry of type %s has neither a command nor an address; it is left out", shown(c.said))
	}
	return "the entry has neither a command nor an address that can be used; it is left out"
}

// list returns the strings of an array, or of one string.
func (c *conversion) list(n *document.Node) []string {
	items := n.Items
	if n.Kind == document.Text {
		items = []*document.Node{n}
	}
	var list []string
	for _, item := range items {
		if text, ok := c.text("", item); ok {
			list = append(list, text)
		}
	}
	return list
}

// text returns a string with the variables that workbench knows. Numbers and flags are strings here.
func (c *conversion) text(key string, n *document.Node) (string, bool) {
	switch n.Kind {
	case document.Text, document.Number, document.Boolean:
		return c.variables(key, n), true
	case document.Null:
		return "", false
	}
	c.note(n.Line, "%s is not a string; it is left out", shown(key))
	return "", false
}
