package proxy

import (
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// view is what a front serves by one configuration. It is replaced by a reload
// and never changed.
type view struct {
	*shelf.View
	direct  *config.Toolbox // the one that is served directly; nil if all are, or it is not there any more
	control *control
}

// newView makes what a front serves by a configuration, with the shared servers
// of that.
func (p *Proxy) newView(cfg *config.Config, commons map[string]*toolbox.Toolbox) *view {
	if p.only != nil {
		some := *cfg
		some.Untrusted = nil // who may use a part is not the one to decide
		some.Toolboxes = slices.DeleteFunc(slices.Clone(cfg.Toolboxes), func(t config.Toolbox) bool { return !slices.Contains(p.only, t.Name) })
		cfg = &some
	}
	v := &view{View: &shelf.View{Cfg: cfg, Commons: commons, Direct: p.opts.Direct}}
	if !p.direct() {
		v.Spaces = naming.NewSpaces(false, cfg.Toolboxes)
		v.Meta = meta.Tools(cfg)
		text := meta.Instructions(cfg)
		if v.Denies = p.only != nil && len(cfg.Toolboxes) == 0; v.Denies {
			text = meta.Denied + "."
		}
		v.control = newControl(p.opts.Version, text, cfg.Toolboxes)
		return v
	}
	text := fmt.Sprintf("Toolbox %s is in the configuration no longer.", p.opts.Direct)
	var served []config.Toolbox
	if t, ok := cfg.Toolbox(p.opts.Direct); ok {
		v.direct, text, served = t, meta.DirectInstructions(cfg, t), []config.Toolbox{*t}
	}
	v.Meta = meta.ResultTools(false, served)
	v.Spaces = naming.NewSpaces(true, served)
	v.control = newControl(p.opts.Version, text, served)
	return v
}

// cfg is the configuration that the session works by.
func (s *Session) cfg() *config.Config { return s.shelf.View().Cfg }

// available says which toolboxes there are for the user of the session.
func (s *Session) available(name string) string { return s.shelf.View().Available(name) }

// isMeta reports whether a name is one that a tool of workbench's own answers to, of those that the client has.
func (s *Session) isMeta(name string) bool { return s.shelf.View().HasMeta(name) }
