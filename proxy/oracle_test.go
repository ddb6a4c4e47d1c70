package proxy_test

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// The oracle says what names mean by writing down all names of all tools and comparing.

// modelsTake are the names of tools that the interfaces of models take.
var modelsTake = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// seenAs is the name by which clients see a tool; "" if that is to be a new one.
func (w *nameWorld) seenAs(t proxy.Named) string {
	if of := w.plain(t.Key); len(of) == 1 && of[0] == t && modelsTake.MatchString(t.Key) {
		if holder, ok := w.given[[2]string{"", t.Key}]; !ok || sameServer(holder, t) {
			return t.Key
		}
	}
	name := w.exposed(t)
	if holder, ok := w.given[[2]string{"", name}]; ok && !sameServer(holder, t) {
		return ""
	}
	return name
}

// seen is what a client means by a name.
func (w *nameWorld) seen(name string) *proxy.Named {
	holder, isGiven := w.given[[2]string{"", name}]
	for _, t := range w.tools {
		if w.exposed(t) == name {
			if isGiven && !sameServer(holder, t) {
				return nil
			}
			return &t
		}
	}
	for i, t := range w.tools {
		// Where its name was another's before, it is seen under a name that nobody could have thought of.
		if w.shown[i] == name && w.seenAs(t) == "" {
			return &t
		}
	}
	if of := w.plain(name); len(of) == 1 {
		return w.give("", name, of[0])
	}
	return nil
}

// used is what workbench_use_tool is to call.
func (w *nameWorld) used(box, server, name string) *proxy.Named {
	if server != "" {
		if t := w.tool(box, server, name); t != nil {
			return t
		}
	}
	of, key, full := w.fullName(box, name)
	switch {
	case full && of == "": // an exposed name
		t := w.seen(name)
		if t == nil || t.Toolbox != box || server != "" && t.Server != server {
			return nil
		}
		return t
	case full && (server == "" || server == of):
		if t := w.tool(box, of, key); t != nil {
			return t
		}
		return w.tool(box, of, name)
	case server != "" || isMeta(name):
		return nil
	}
	if of := w.owners(box, name); len(of) == 1 {
		return w.give(box, name, of[0])
	}
	return nil
}

// fullName reads toolbox/server/tool, server/tool, exposed names (of no server) and server__tool.
func (w *nameWorld) fullName(box, name string) (server, key string, full bool) {
	low := strings.ToLower(name)
	for _, form := range []string{box + "/%/", "%/"} {
		for _, of := range w.ever {
			prefix := strings.ToLower(strings.Replace(form, "%", of.Server, 1))
			if of.Toolbox == box && strings.HasPrefix(low, prefix) {
				n := strings.Count(prefix, "/")
				return of.Server, strings.SplitN(name, "/", n+1)[n], true
			}
		}
	}
	if w.isExposed(name) {
		return "", "", true
	}
	for i := len(name) - 2; i > 0; i-- {
		for _, of := range w.ever {
			if name[i:i+2] == "__" && of.Toolbox == box && strings.EqualFold(name[:i], of.Server) {
				return of.Server, name[i+2:], true
			}
		}
	}
	return "", "", false
}

// owners are the tools of a toolbox with a name of their servers' choice.
func (w *nameWorld) owners(box, key string) (of []proxy.Named) {
	for _, t := range w.tools {
		if t.Toolbox == box && t.Key == key && !slices.Contains(of, t) {
			of = append(of, t)
		}
	}
	return of
}

// plain are the tools that could be seen under a name of their servers' choice.
func (w *nameWorld) plain(key string) (of []proxy.Named) {
	if len(key) > 48 || w.isExposed(key) || !w.direct && isMeta(key) {
		return nil
	}
	for _, b := range w.boxes {
		if w.direct || b.Prefix == config.PrefixNone {
			for _, t := range w.owners(b.Name, key) {
				if w.own(t, key) {
					of = append(of, t)
				}
			}
		}
	}
	return of
}

// own reports whether a name is not the full form of what another server has: whose the longest full form is that it
// begins as.
func (w *nameWorld) own(t proxy.Named, key string) bool {
	whose := make(map[int][]proxy.Named)
	longest := 0
	for _, of := range w.ever {
		for _, form := range []string{of.Toolbox + "/" + of.Server + "/", of.Server + "/", of.Server + "__"} {
			if len(key) >= len(form) && strings.EqualFold(key[:len(form)], form) {
				whose[len(form)] = append(whose[len(form)], proxy.Named{Toolbox: of.Toolbox, Server: of.Server})
				longest = max(longest, len(form))
			}
		}
	}
	return longest == 0 || slices.ContainsFunc(whose[longest], func(of proxy.Named) bool { return sameServer(of, t) })
}

func (w *nameWorld) tool(box, server, key string) *proxy.Named {
	for _, t := range w.tools {
		if t == (proxy.Named{Toolbox: box, Server: server, Key: key}) {
			return &t
		}
	}
	return nil
}

// give notes that a name was given for a tool, and returns that, or nil if it is another's.
func (w *nameWorld) give(scope, name string, t proxy.Named) *proxy.Named {
	if holder, ok := w.given[[2]string{scope, name}]; ok && !sameServer(holder, t) {
		return nil
	}
	w.given[[2]string{scope, name}] = t
	return &t
}

func (w *nameWorld) exposed(t proxy.Named) string {
	if w.direct {
		return toolbox.ExposedName("", t.Server, t.Key)
	}
	return toolbox.ExposedName(t.Toolbox, t.Server, t.Key)
}

var odd = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// isExposed reports whether a name begins as exposed names of a server do.
func (w *nameWorld) isExposed(name string) bool {
	for _, of := range w.ever {
		prefix := odd.ReplaceAllString(of.Server, "_") + "__"
		if !w.direct {
			prefix = odd.ReplaceAllString(of.Toolbox, "_") + "__" + prefix
		}
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(prefix[:min(len(prefix), 37)])) {
			return true
		}
	}
	return false
}

func isMeta(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "workbench_") || name == "open_toolbox" || name == "use_tool"
}

func sameServer(a, b proxy.Named) bool { return a.Toolbox == b.Toolbox && a.Server == b.Server }
