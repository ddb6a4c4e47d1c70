package proxy

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// boxReport is what workbench_status says of one toolbox.
type boxReport struct {
	Toolbox  string         `json:"toolbox"`
	Open     bool           `json:"open"`
	Ready    []string       `json:"ready,omitempty"`
	Idle     []string       `json:"idle,omitempty"` // stopped, and started by the next call
	NotReady []serverReport `json:"not_ready,omitempty"`
	Unread   []serverReport `json:"unread,omitempty"` // ready, with a list that could not be read
	Changed  []changeReport `json:"changed,omitempty"`
}

// changeReport says how the definitions of a server have changed since they were first known.
type changeReport struct {
	Name    string   `json:"name"`
	Changes []string `json:"changes"`
}

// untrustedReport says which configuration is not used, and what the user can do.
type untrustedReport struct {
	Path   string `json:"path"`
	Error  string `json:"error"`
	Advice string `json:"advice"`
}

func reportUntrusted(u *config.Untrusted) *untrustedReport {
	if u == nil {
		return nil
	}
	return &untrustedReport{foreign.NewText(u.Path).String(), u.String(), u.Hint()}
}

type serverReport struct {
	Name   string        `json:"name"`
	State  toolbox.State `json:"state"`
	Error  string        `json:"error,omitempty"`
	Advice string        `json:"advice,omitempty"`
}

// tellStatus answers workbench_status.
func tellStatus(d *desk, sh *shelf.Shelf, co *considering, c *call) {
	f := d.take(c)
	if f == nil {
		return
	}
	f.record.here(c)
	said, answered := co.askIn(f, c)
	if answered {
		return
	}
	reports, cfg := report(sh), sh.View().Cfg
	body := wire.MustEncode(struct {
		Toolboxes []boxReport      `json:"toolboxes"`
		Untrusted *untrustedReport `json:"untrusted_configuration,omitempty"`
		Fault     string           `json:"configuration_fault,omitempty"`
	}{reports, reportUntrusted(cfg.Untrusted), meta.Fault(cfg)})
	var lines strings.Builder
	lines.WriteString(said)
	for i := range reports {
		reports[i].write(&lines)
	}
	if len(reports) == 0 {
		lines.WriteString(sh.View().Available(""))
	} else {
		if cfg.Untrusted != nil {
			lines.WriteString(meta.UntrustedAdvice(cfg.Untrusted) + "\n")
		}
		if fault := meta.Fault(cfg); fault != "" {
			lines.WriteString("Note: " + fault)
		}
	}
	f.reply(textResult(f.terms.Era, strings.TrimSuffix(lines.String(), "\n")).Raw("structuredContent", body).End())
}

// report says of each toolbox where its servers stand.
func report(sh *shelf.Shelf) []boxReport {
	reports := []boxReport{}
	open := make(map[string]*shelf.Box)
	for _, b := range sh.Opened() {
		open[b.Name] = b
	}
	for _, t := range sh.View().Cfg.Toolboxes {
		r := boxReport{Toolbox: t.Name}
		if b := open[t.Name]; b != nil {
			r.Open = true
			for _, srv := range b.Servers() {
				r.add(srv.Name, srv.Status())
				if err := srv.Unread(toolbox.Tools, toolbox.Resources, toolbox.Templates, toolbox.Prompts, toolbox.Skills); err != nil && srv.Status().State == toolbox.Ready {
					r.Unread = append(r.Unread, serverReport{Name: srv.Name, State: toolbox.Ready, Error: cut.At(err.Error(), maxReason)})
				}
				if changes := srv.Changes(); changes != nil {
					r.Changed = append(r.Changed, changeReport{srv.Name, changes})
				}
			}
		} else {
			for _, srv := range t.Servers {
				if srv.Problem != nil && !srv.Disabled {
					r.add(srv.Name, toolbox.Status{State: toolbox.Failed, Cause: foreign.NewError(srv.Problem)})
				}
			}
		}
		reports = append(reports, r)
	}
	return reports
}

func (r *boxReport) add(server string, st toolbox.Status) {
	switch st.State {
	case toolbox.Ready:
		r.Ready = append(r.Ready, server)
		return
	case toolbox.Stopped:
		r.Idle = append(r.Idle, server)
		return
	}
	one := serverReport{Name: server, State: st.State, Advice: st.Advice()}
	if st.Cause != nil {
		one.Error = cut.At(st.Cause.Error(), maxReason)
	}
	if when := st.When(); when != "" {
		one.Advice = when + "; " + one.Advice
	}
	r.NotReady = append(r.NotReady, one)
}

// write gives the report in words, and says why servers are not ready.
func (r *boxReport) write(b *strings.Builder) {
	if r.Open {
		fmt.Fprintf(b, "%s: %d of %d servers ready", r.Toolbox, len(r.Ready), len(r.Ready)+len(r.Idle)+len(r.NotReady))
	} else {
		fmt.Fprintf(b, "%s: not open", r.Toolbox)
	}
	if len(r.Ready) > 0 {
		fmt.Fprintf(b, " (%s)", strings.Join(r.Ready, ", "))
	}
	if len(r.Idle) > 0 {
		fmt.Fprintf(b, "; idle, started by the next call: %s", strings.Join(r.Idle, ", "))
	}
	b.WriteByte('\n')
	for _, srv := range r.NotReady {
		fmt.Fprintf(b, "- %s is %s", srv.Name, srv.State)
		if srv.Error != "" {
			fmt.Fprintf(b, ": %s", srv.Error)
		}
		if srv.Advice != "" {
			fmt.Fprintf(b, " (%s)", srv.Advice)
		}
		b.WriteByte('\n')
	}
	for _, srv := range r.Unread {
		fmt.Fprintf(b, "- %s: %s\n", srv.Name, srv.Error)
	}
	for _, srv := range r.Changed {
		fmt.Fprintf(b, "- %s: %s\n", srv.Name, strings.Join(srv.Changes, "; "))
	}
}
