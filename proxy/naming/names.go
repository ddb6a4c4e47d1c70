package naming

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
	of, _, ok := NewSpaces(false, cfg.Toolboxes).whose(name)
	return of.Toolbox, of.Server, ok
}

// whose takes a full name apart that says its toolbox; of an exposed name there is no key.
func (n *Spaces) whose(name string) (of Address, key string, ok bool) {
	for known := range n.servers { // in lower case
		box, rest, ok := strings.Cut(name, "/")
		if !ok || known.Toolbox != strings.ToLower(box) {
			continue
		}
		if of, key, form := n.read(box, name); form == parts && strings.EqualFold(rest, of.Server+"/"+key) {
			return of, key, true
		}
	}
	of, ok = n.Exposes(name)
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
	var to []Route
	items := make(map[Identity]toolbox.Item)
	for _, b := range boxes {
		for _, srv := range b.Servers() {
			for _, it := range srv.Items(k) {
				one := Route{Server: srv, Key: it.Key.Verbatim()}
				if _, twice := items[one.Identity()]; !twice {
					items[one.Identity()] = it
				}
				to = append(to, one)
			}
		}
	}
	sp := NewSpaces(false, cfg.Toolboxes)
	d := NewDirectory(k, sp, NewClaims(), to, func(*toolbox.Server) bool { return true })
	w := Want{Tool: name}
	if of, key, ok := sp.whose(name); ok && key != "" {
		w = Want{of.Toolbox, of.Server, key}
	}
	found, err := d.Meant(w)
	if err == nil {
		return items[found.Identity()], nil
	}
	if unclear, ok := errors.AsType[*unclearError](err); ok {
		return toolbox.Item{}, &NamedError{error: fmt.Errorf("%q could be several %s", foreign.NewName(name), k), Near: unclear.forms}
	}
	if errors.Is(err, ErrUnknown) {
		err = fmt.Errorf("no server has a %s %q", strings.TrimSuffix(string(k), "s"), foreign.NewName(name))
	}
	return toolbox.Item{}, &NamedError{error: err, Near: nearest.Names(name, d.Names(), 3)}
}
