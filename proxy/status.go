package proxy

import (
	"encoding/json"
	"slices"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/internal/tokencount"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Status says where the front, its sessions and their servers stand. It waits for no server.
func (p *Proxy) Status() status.Front {
	p = p.root
	now := p.view.Load()
	front := status.Front{Config: now.Cfg.Path, Sessions: []status.Session{}, Calls: p.tallies.calls()}
	p.tallies.readPeople(&front)
	if now.Cfg.Project != now.Cfg.Path {
		front.Project = now.Cfg.Project
	}
	if u := now.Cfg.Untrusted; u != nil {
		front.Untrusted = u.String() + "; " + u.Hint()
	}
	sessions := p.live()
	slices.SortFunc(sessions, func(a, b *Session) int { return a.since.Compare(b.since) })
	for _, s := range sessions {
		front.Sessions = append(front.Sessions, s.status())
	}
	for _, t := range now.Cfg.Toolboxes {
		if b := now.Commons[t.Name]; b != nil && b.Opened() {
			front.Shared = append(front.Shared, boxStatus(b))
		}
	}
	return front
}

// TurnedAway counts a request over HTTP that was not served.
func (p *Proxy) TurnedAway(status int) { p.root.tallies.refuse(status) }

// Limited counts a call of a user who has made as many as they may.
func (p *Proxy) Limited(user string) { p.root.tallies.user(user).limited.Add(1) }

// TimeCalls has the durations of the calls that begin from now on counted.
func (p *Proxy) TimeCalls() { p.root.tallies.timed.Store(true) }

// status leaves out what the session shares with others.
func (s *Session) status() status.Session {
	one := status.Session{Direct: s.opts.Direct, Since: s.since.Round(0), Toolboxes: []status.Toolbox{}}
	client, unread := s.profile.known().client, s.line.account()
	one.InFlight = s.requests.count()
	boxes := s.shelf.Opened()
	if s.who.Name != principal.Default {
		one.User = foreign.NewName(s.who.Name).String()
	}
	one.Kept, one.Unread = kept(s.account), unread.Kept()
	if client != nil {
		var info struct{ Name, Version foreign.Name }
		_ = json.Unmarshal(client.Info, &info) // a client that does not say has no name
		one.Client, one.Version, one.Revision = info.Name.String(), info.Version.String(), client.Version
	}
	for _, b := range boxes {
		one.Toolboxes = append(one.Toolboxes, boxStatus(b.Toolbox))
	}
	return one
}

func boxStatus(b *toolbox.Toolbox) status.Toolbox {
	box := status.Toolbox{Name: b.Name, Servers: []status.Server{}}
	for _, srv := range b.Servers() {
		box.Servers = append(box.Servers, serverStatus(srv))
	}
	return box
}

func serverStatus(srv *toolbox.Server) status.Server {
	st, n := srv.Status(), srv.Counts().Read()
	one := status.Server{
		Name:     srv.Name,
		State:    string(st.State),
		Since:    st.Since.Round(0),
		Advice:   st.Advice(),
		Notes:    srv.Notes(),
		PID:      st.PID,
		Tools:    st.Tools,
		Tokens:   tokencount.Of(srv.ToolsSize()),
		Starts:   st.Starts,
		InFlight: n.InFlight,
		Queued:   n.Queued,
		Kept:     kept(srv.Account()),
		Late:     n.Late,
		Unknown:  n.Unknown,
		Noise:    n.Noise,
		Dropped:  n.Dropped,
	}
	if st.Cause != nil {
		one.Cause = st.Cause.Error()
	}
	if !st.Next.IsZero() {
		next := st.Next.Round(0)
		one.Next = &next
	}
	if st.State == toolbox.Ready {
		one.Era = srv.Era().String()
	}
	return one
}

func kept(a *account.Account) status.Kept {
	return status.Kept{Bytes: a.Kept(), Refused: a.Refused()}
}
