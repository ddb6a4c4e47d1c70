package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

// maxSkillFiles is how many files of a server's skills are remembered.
const maxSkillFiles = 20_000

// skill is an entry of the list of a server, and the uris in it: of its manifest, and of its files and their folders.
type skill struct {
	raw  []byte
	uris []string
}

// hasSkills reports whether a server has the extension.
func hasSkills(srv *toolbox.Server) bool { return eras.HasExtension(srv.Capabilities(), eras.Skills) }

// skillMethod answers a request of the extension skills, or for the content of a folder.
func skillMethod(d *desk, sh *shelf.Shelf, c *call) {
	d.serve(c, func(f *flight, later *call) {
		sh.OpenMarked(f.ctx)
		if later.MethodName == "skills/list" {
			f.reply(listSkills(sh, f))
			return
		}
		aboutSkill(sh, f, later)
	})
}

// skillServers are the servers with skills in the open toolboxes.
func skillServers(sh *shelf.Shelf) (servers []*toolbox.Server) {
	return slices.DeleteFunc(sh.Servers(), func(srv *toolbox.Server) bool { return !hasSkills(srv) })
}

// listSkills gives the skills of all servers, in the order of the configuration, on one page.
func listSkills(sh *shelf.Shelf, f *flight) []byte {
	servers := skillServers(sh)
	lists := make([][]skill, len(servers))
	var wait sync.WaitGroup
	for i, srv := range servers {
		wait.Go(func() { lists[i] = skillsIn(srv.ReadSkills(f.ctx)) })
	}
	wait.Wait()
	places := noteSkills(sh, servers, lists)
	reply := append(f.terms.Result(true).Member("skills"), '[')
	for i, srv := range servers {
		for _, k := range lists[i] {
			reply = wire.Splice(wire.Comma(reply), k.raw, skillEdits(places, srv, k.raw, wire.Whole(k.raw))...)
		}
	}
	return append(reply, "]}"...)
}

// noteSkills remembers whose the uris of skills are, and gives the places that the client knows them by.
func noteSkills(sh *shelf.Shelf, servers []*toolbox.Server, lists [][]skill) *naming.Places {
	uris := make([][][]string, len(lists))
	for i, list := range lists {
		if list != nil {
			uris[i] = [][]string{}
		}
		for _, k := range list {
			uris[i] = append(uris[i], k.uris)
		}
	}
	return sh.NoteSkills(servers, uris)
}

// skillsIn reads entries of a list, as far as it is within bounds; nil stays nil.
func skillsIn(items []toolbox.Item) (skills []skill) {
	if items != nil {
		skills = []skill{}
	}
	files := maxSkillFiles
	for _, it := range items {
		k := newSkill(it.Raw)
		if files -= len(k.uris); files < 0 {
			break
		}
		skills = append(skills, k)
	}
	return skills
}

func newSkill(raw []byte) skill {
	k := skill{raw: raw}
	add := func(uri string) {
		if !slices.Contains(k.uris, uri) {
			k.uris = append(k.uris, uri)
		}
	}
	root := ""
	for _, span := range skillPlaces(raw, wire.Whole(raw)) {
		uri, _ := wire.Unquote(raw[span.Start:span.End])
		if add(uri); root == "" { // the first is that of the manifest
			root, _ = cutLast(uri)
			add(root)
			continue
		}
		for folder, ok := cutLast(uri); ok && len(folder) > len(root) && strings.HasPrefix(folder, root+"/"); folder, ok = cutLast(folder) {
			add(folder)
		}
	}
	return k
}

// cutLast cuts a uri before its last slash.
func cutLast(uri string) (folder string, ok bool) {
	i := strings.LastIndexByte(uri, '/')
	if i < 0 {
		return uri, false
	}
	return uri[:i], true
}

// skillPlaces finds the uris in the entry of a skill, or in the list of a folder, at in.
func skillPlaces(raw []byte, in wire.Span) (found []wire.Span) {
	var out [2]wire.Span
	if wire.Find(raw, in, []string{"uri", "resources"}, out[:]) != nil {
		return nil
	}
	if out[0].Present() && raw[out[0].Start] == '"' {
		found = append(found, out[0])
	}
	for e := range wire.Elements(raw, out[1]) {
		if uri, err := wire.FindPath(raw, e, "uri"); err == nil && uri.Present() && raw[uri.Start] == '"' {
			found = append(found, uri)
		}
	}
	return found
}

// skillEdits gives the edits that put the uris by which the client knows a server's resources into the entry of a
// skill.
func skillEdits(p *naming.Places, srv *toolbox.Server, raw []byte, in wire.Span) []wire.Edit {
	edits := naming.Renamed(raw, skillPlaces(raw, in), func(uri string) string {
		alias, _ := p.Alias(srv, uri)
		return cmp.Or(alias, uri)
	})
	slices.SortFunc(edits, func(x, y wire.Edit) int { return x.Span.Start - y.Span.Start })
	return edits
}

// aboutSkill forwards a request that names a skill or a folder by its uri to the server that has it.
func aboutSkill(sh *shelf.Shelf, f *flight, c *call) {
	uri, ok := wire.Unquote(c.Bytes(c.URI))
	if !ok {
		f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.uri is missing or not a string"})
		return
	}
	srv, own, err := locateSkill(sh, f, uri)
	if err != nil {
		f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("%s: %s: %v", c.MethodName, foreign.NewText(uri), err)})
		return
	}
	if c.MethodName == "skills/get" && srv.Holds() {
		agreedSkill(sh, f, srv, own)
		return
	}
	var edits []wire.Edit
	if own != uri {
		f.alias = true
		edits = append(edits, wire.Edit{Span: c.URI, New: wire.AppendQuote(nil, own)})
	}
	f.send(c, srv, own, edits...)
}

// agreedSkill answers with the entry of a skill that is in the list of its server and was agreed to: what the server
// says of one skill when it is asked for it is nothing that can be compared in time.
func agreedSkill(sh *shelf.Shelf, f *flight, srv *toolbox.Server, uri string) {
	is := func(it toolbox.Item) bool { return it.Key.Verbatim() == uri }
	list := srv.ReadSkills(f.ctx)
	if i := slices.IndexFunc(list, is); i >= 0 {
		raw := list[i].Raw
		edits := skillEdits(sh.Routes().Places, srv, raw, wire.Whole(raw))
		f.reply(f.terms.Result(true).Raw("skill", wire.Splice(nil, raw, edits...)).End())
		return
	}
	why := "the server does not list it, and only listed skills can be agreed to"
	if i := slices.IndexFunc(srv.Held(toolbox.Skills), func(h toolbox.Held) bool { return is(h.Item) }); i >= 0 {
		why = srv.Held(toolbox.Skills)[i].Why
	}
	f.fail(&wire.Error{Code: wire.CodeInvalidParams,
		Message: fmt.Sprintf("skill %q of server %q is held back: %s", foreign.NewName(uri), srv.Toolbox+"/"+srv.Name, why)})
}

// locateSkill finds the server of a skill, or of a folder. Where the skills were not listed in this session they are:
// what a client knows from before need not be listed first.
func locateSkill(sh *shelf.Shelf, f *flight, uri string) (srv *toolbox.Server, own string, err error) {
	servers := skillServers(sh)
	if len(servers) == 0 {
		return nil, "", fmt.Errorf("no open toolbox has a server with skills")
	}
	if !sh.KnowsSkills() && len(servers) > 1 && !naming.IsAlias(uri) {
		listSkills(sh, f)
	}
	srv, own, err = sh.Routes().Locate(strings.TrimSuffix(uri, "/"), sh.Servers())
	switch {
	case err == nil && hasSkills(srv):
		return srv, own, nil
	case len(servers) == 1 && !naming.IsAlias(uri):
		return servers[0], uri, nil
	case err == nil || err == naming.ErrUnknown:
		err = fmt.Errorf("no server with skills has it")
	}
	return nil, "", err
}

// withSkills returns a result about a skill that the client knows by other uris than its server with these.
func (f *flight) withSkills(m *wire.Message) *wire.Message {
	srv := f.server.Load()
	in := m.Result
	if entry, err := wire.FindPath(m.Raw, m.Result, "skill"); err == nil && entry.Present() {
		in = entry
	}
	return edited(m, naming.Renamed(m.Raw, skillPlaces(m.Raw, in), func(uri string) string { return naming.PlaceURI(srv, uri) }))
}
