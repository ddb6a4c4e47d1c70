package proxy

import (
	"fmt"
	"slices"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox"
)

// view is what a front serves by one configuration. It is replaced by a reload
// and never changed.
type view struct {
	cfg     *config.Config
	direct  *config.Toolbox // the one that is served directly; nil if all are, or it is not there any more
	spaces  *spaces
	control *control
	meta    []metaTool
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
		v.spaces = newSpaces(false, cfg.Toolboxes)
		v.meta = ownTools(cfg)
		text := Instructions(cfg)
		if p.deniesAll(cfg) {
			text = denied + "."
		}
		v.control = newControl(p.opts.Version, text, cfg.Toolboxes)
		return v
	}
	text := fmt.Sprintf("Toolbox %s is in the configuration no longer.", p.opts.Direct)
	var served []config.Toolbox
	if t, ok := cfg.Toolbox(p.opts.Direct); ok {
		v.direct, text, served = t, directInstructions(cfg, t), []config.Toolbox{*t}
	}
	v.meta = resultTools(false, served)
	v.spaces = newSpaces(true, served)
	v.control = newControl(p.opts.Version, text, served)
	return v
}

// cfg is the configuration that the session works by.
func (s *Session) cfg() *config.Config { return s.view.Load().cfg }
