package proxy

import (
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// view is what a front serves by one configuration. It is replaced by a reload
// and never changed.
type view struct {
	cfg     *config.Config
	direct  *config.Toolbox // the one that is served directly; nil if all are, or it is not there any more
	spaces  *naming.Spaces
	control *control
	meta    []meta.Tool
	commons map[string]*toolbox.Toolbox // the servers that sessions share, by toolbox
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
	v := &view{cfg: cfg, commons: commons}
	if !p.direct() {
		v.spaces = naming.NewSpaces(false, cfg.Toolboxes)
		v.meta = meta.Tools(cfg)
		text := meta.Instructions(cfg)
		if p.deniesAll(cfg) {
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
	v.meta = meta.ResultTools(false, served)
	v.spaces = naming.NewSpaces(true, served)
	v.control = newControl(p.opts.Version, text, served)
	return v
}

// cfg is the configuration that the session works by.
func (s *Session) cfg() *config.Config { return s.view.Load().cfg }

// deniesAll reports whether there is no toolbox because the user may use none.
func (p *Proxy) deniesAll(cfg *config.Config) bool { return p.only != nil && len(cfg.Toolboxes) == 0 }

// available says which toolboxes there are for the user of the session.
func (s *Session) available(name string) string {
	if s.p.deniesAll(s.cfg()) {
		return meta.Denied
	}
	return meta.Available(s.cfg(), name)
}

// isMeta reports whether a name is one that a tool of workbench's own answers to, of those that the client has.
func (s *Session) isMeta(name string) bool {
	name = meta.Canonical(name)
	return slices.ContainsFunc(s.view.Load().meta, func(t meta.Tool) bool { return t.Name == name })
}
