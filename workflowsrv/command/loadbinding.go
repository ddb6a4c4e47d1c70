package command

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/thishost"
)

func bindings() []string { return []string{"tool", "http", "process"} }

// A binder reads what commands are bound to.
type binder struct {
	*findings
	in    *folder         // that is being read
	named bool            // the workflow has a name; otherwise it is workflow.yaml that is not right
	boxes map[string]bool // toolboxes that are mentioned
}

// tool reads a call of a tool: server/tool, alone or under key.
func (l *binder) tool(file string, n *document.Node, path, key string) *ToolCall {
	name, box := n.Text(), l.in.toolbox
	at := n
	if n.Kind == document.Object {
		at, path, name = n.Get(key), path+"/"+key, n.Str(key)
		if own := n.Str("toolbox"); own != "" {
			box = own
		}
	}
	server, tool, ok := strings.Cut(name, "/")
	if !ok || server == "" || tool == "" {
		l.fault(file, at, path, "%q is not SERVER/TOOL", name)
	}
	if box != "" {
		l.boxes[box] = true
	} else if l.named {
		l.fault(file, at, path, `in which toolbox? Write "toolbox" here, or in workflow.yaml for all commands`)
	}
	call := &ToolCall{Toolbox: box, Server: server, Tool: tool}
	if args := n.Get("arguments"); args != nil {
		call.arguments = l.tree(file, args, strings.TrimSuffix(path, "/"+key)+"/arguments")
	}
	return call
}

func (l *binder) tree(file string, n *document.Node, path string) *tree {
	t, err := newTree(n.Decoded(), func(text string) (*template, error) { return l.parse(text, itsFolder) })
	if err != nil {
		l.fault(file, n, path, "%v", err)
		return nil
	}
	return t
}

// variables say which a template may refer to.
type variables int

const (
	noVariables variables = iota
	itsFolder             // ${WORKFLOW_DIR}
	environment           // and those of the environment
)

// dirVariable stands for the folder of a file, wherever workbench was started.
const dirVariable = "${WORKFLOW_DIR}"

// parse reads a template.
func (l *binder) parse(text string, may variables) (*template, error) {
	if may != noVariables && strings.Contains(text, dirVariable) {
		if l.in.place == "" {
			return nil, fmt.Errorf("this workflow is not in a folder, so %s has no value", dirVariable)
		}
		text = strings.ReplaceAll(text, dirVariable, strings.NewReplacer("{", "{{", "}", "}}").Replace(l.in.place))
	}
	return parseTemplate(text, may == environment)
}

func (l *binder) template(file string, n *document.Node, path string, may variables) *template {
	t, err := l.parse(n.Text(), may)
	if err == nil {
		err = t.wrongCredential()
	}
	if err != nil {
		l.fault(file, n, path, "%v", err)
		return &template{}
	}
	return t
}

func (l *binder) members(file string, n *document.Node, path string, may variables) []member {
	if n == nil {
		return nil
	}
	var list []member
	for _, m := range n.Members {
		list = append(list, member{m.Key, l.template(file, m.Value, path+document.Pointer(m.Key), may)})
	}
	return list
}

func (l *binder) timeout(file string, n *document.Node, path string) time.Duration {
	v := n.Get("timeout")
	if v == nil {
		return 0
	}
	d, err := time.ParseDuration(v.Text())
	if err != nil || d <= 0 || d > time.Hour {
		l.fault(file, v, path+"/timeout", "must be a time such as 30s, at most 1h")
	}
	return d
}

// ownHeaders are those that no request takes from a file.
var ownHeaders = []string{"Content-Length", "Host", "Trailer", "Transfer-Encoding"}

func (l *binder) http(file string, n *document.Node) *HTTPCall {
	b := &HTTPCall{Method: n.Str("method"), Timeout: l.timeout(file, n, "/http")}
	address := n.Get("url")
	b.url = l.template(file, address, "/http/url", noVariables)
	l.origin(file, address, b.url)
	b.header = l.members(file, n.Get("headers"), "/http/headers", environment)
	for _, m := range b.header {
		at, path := n.Get("headers").KeyOf(m.name), "/http/headers"+document.Pointer(m.name)
		switch {
		case !httpguts.ValidHeaderFieldName(m.name):
			l.fault(file, at, path, "%q is no name of a header", m.name)
		case slices.Contains(ownHeaders, http.CanonicalHeaderKey(m.name)):
			l.fault(file, at, path, "is set by workbench, from the address and the body")
		}
	}
	if body := n.Get("body"); body != nil {
		b.body = l.tree(file, body, "/http/body")
	}
	if b.Method == "" {
		b.Method = "GET"
		if b.body != nil {
			b.Method = "POST"
		}
	}
	if b.body != nil && (b.Method == "GET" || b.Method == "HEAD") {
		l.fault(file, n.Get("body"), "/http/body", "a %s request has no body", b.Method)
	}
	return b
}

// origin checks that a URL says where it leads before any value is filled in, and that it is not readable on the way
// there.
func (l *binder) origin(file string, n *document.Node, t *template) {
	if len(t.pieces) == 0 {
		return
	}
	fixed := t.pieces[0].literal
	u, err := url.Parse(fixed)
	if err != nil || u.Host == "" || u.User != nil || len(t.pieces) > 1 && !strings.Contains(strings.TrimPrefix(strings.TrimPrefix(fixed, "https://"), "http://"), "/") {
		l.fault(file, n, "/http/url", "must begin with https://host/; only what follows may have values")
		return
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !thishost.Is(u.Hostname())) {
		l.fault(file, n, "/http/url", "must be https; http is for this machine only")
	}
}

func (l *binder) process(file string, n *document.Node) *ProcessCall {
	b := &ProcessCall{Timeout: l.timeout(file, n, "/process"), env: l.members(file, n.Get("env"), "/process/env", environment)}
	for i, item := range n.Get("argv").Items {
		t := l.template(file, item, "/process/argv", itsFolder)
		if i == 0 && len(t.names()) > 0 {
			l.fault(file, item, "/process/argv/0", "the program is fixed; values can only be arguments")
		}
		b.argv = append(b.argv, t)
	}
	if stdin := n.Get("stdin"); stdin != nil {
		b.stdin = l.tree(file, stdin, "/process/stdin")
	}
	return b
}
