package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// For returns the front that serves somebody one toolbox directly, or with "" all that they may use, with the shared
// servers of p; nil if that is nothing.
func (p *Proxy) For(who *principal.Principal, toolbox string) *Proxy {
	direct := toolbox
	if direct == "" {
		direct = p.opts.Direct
	}
	switch {
	case direct != "" && !who.May(direct):
		return nil
	case toolbox != "":
		return p.serving(toolbox)
	case direct != "" || who.Toolboxes == nil:
		return p
	}
	names := append([]string{}, who.Toolboxes...)
	slices.Sort(names)
	return p.within(slices.Compact(names))
}

// Direct names the one toolbox that is served directly; "" if all are, behind the meta tools.
func (p *Proxy) Direct() string { return p.opts.Direct }

// Toolboxes are those that the front serves, and whether that is one, directly.
func (p *Proxy) Toolboxes() (all []config.Toolbox, direct bool) {
	now := p.view.Load()
	if t, ok := now.Cfg.Toolbox(now.Direct); ok {
		return []config.Toolbox{*t}, true
	}
	return now.Cfg.Toolboxes, false
}

// serving returns the front that serves one toolbox directly, with the shared servers of p; nil if there is no such
// toolbox. A front stays for as long as its root, so that the sessions of a toolbox which comes back are found again.
func (p *Proxy) serving(name string) *Proxy {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.fronts[name]
	if q == nil {
		if _, ok := p.view.Load().Cfg.Toolbox(name); !ok || p.direct() && name != p.opts.Direct {
			return nil
		}
		q = p.frontLocked(name, name, nil)
	}
	if q.view.Load().IsGone() {
		return nil
	}
	return q
}

// within returns the front that serves some of the toolboxes, as if there were no others, with the shared servers of p.
// A toolbox that is not in the configuration is served as soon as it is there.
func (p *Proxy) within(names []string) *Proxy {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := "\x00" + strings.Join(names, "\x00") // the name of no toolbox
	if q := p.fronts[key]; q != nil {
		return q
	}
	return p.frontLocked(key, "", names)
}

func (p *Proxy) frontLocked(key, direct string, only []string) *Proxy {
	opts := p.opts
	opts.Direct = direct
	q := newProxy(opts)
	q.root, q.only = p, only
	now := p.view.Load()
	q.view.Store(q.newView(now.Cfg, now.Commons))
	p.fronts[key] = q
	return q
}

// newView makes what a front serves by a configuration, with the shared servers of that.
func (p *Proxy) newView(cfg *config.Config, commons map[string]*toolbox.Toolbox) *view {
	if p.only != nil {
		some := *cfg
		some.Untrusted, some.Fault = nil, "" // who may use a part is not the one to decide
		some.Toolboxes = slices.DeleteFunc(slices.Clone(cfg.Toolboxes), func(t config.Toolbox) bool { return !slices.Contains(p.only, t.Name) })
		cfg = &some
	}
	v := &view{View: &shelf.View{Cfg: cfg, Commons: commons, Direct: p.opts.Direct, Texts: p.opts.Toolbox.Texts}}
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
	text := fmt.Sprintf("Toolbox %s is no longer in the configuration.", p.opts.Direct)
	var served []config.Toolbox
	if t, ok := cfg.Toolbox(p.opts.Direct); ok {
		text, served = meta.DirectInstructions(cfg, t), []config.Toolbox{*t}
	}
	v.Meta = meta.ResultTools(false, served)
	v.Spaces = naming.NewSpaces(true, served)
	v.control = newControl(p.opts.Version, text, served)
	return v
}
