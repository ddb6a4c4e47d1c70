package proxy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Whose returns the server that a full name is about: TOOLBOX/SERVER/NAME, or an exposed name. It follows from the
// configuration alone. ok is false for a name of another form.
func Whose(cfg *config.Config, name string) (box, server string, ok bool) {
	of, _, ok := newSpaces(false, cfg.Toolboxes).whose(name)
	return of.toolbox, of.server, ok
}

// whose takes a full name apart that says its toolbox; of an exposed name there is no key.
func (n *spaces) whose(name string) (of address, key string, ok bool) {
	for known := range n.servers { // in lower case
		box, rest, ok := strings.Cut(name, "/")
		if !ok || known.toolbox != strings.ToLower(box) {
			continue
		}
		if of, key, form := n.read(box, name); form == parts && strings.EqualFold(rest, of.server+"/"+key) {
			return of, key, true
		}
	}
	of, ok = n.exposes(name)
	return of, "", ok
}

// NamedError says that a name leads to no item of a list, or to several.
type NamedError struct {
	error
	// Near are names that there are and that are like it.
	Near []string
}

// Meant returns the tool or prompt that a name means among those of toolboxes, whose servers have said what they offer:
// TOOLBOX/SERVER/NAME, an exposed name, or a name that one server alone has given. The error is a *NamedError.
func Meant(cfg *config.Config, boxes []*toolbox.Toolbox, k toolbox.Kind, name string) (toolbox.Item, error) {
	var to []route
	items := make(map[identity]toolbox.Item)
	for _, b := range boxes {
		for _, srv := range b.Servers() {
			for _, it := range srv.Items(k) {
				one := route{server: srv, key: it.Key.Verbatim()}
				if _, twice := items[one.identity()]; !twice {
					items[one.identity()] = it
				}
				to = append(to, one)
			}
		}
	}
	sp := newSpaces(false, cfg.Toolboxes)
	d := newDirectory(k, sp, newClaims(), to, func(*toolbox.Server) bool { return true })
	w := want{tool: name}
	if of, key, ok := sp.whose(name); ok && key != "" {
		w = want{of.toolbox, of.server, key, w.arguments}
	}
	found, err := d.meant(w)
	if err == nil {
		return items[found.identity()], nil
	}
	var unclear *unclearError
	if errors.As(err, &unclear) {
		return toolbox.Item{}, &NamedError{error: fmt.Errorf("%q could be several %s", foreign.NewName(name), k), Near: unclear.forms}
	}
	if errors.Is(err, errUnknown) {
		err = fmt.Errorf("no server has a %s %q", strings.TrimSuffix(string(k), "s"), foreign.NewName(name))
	}
	return toolbox.Item{}, &NamedError{error: err, Near: nearest.Names(name, d.names(), 3)}
}
