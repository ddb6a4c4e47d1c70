package proxy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/find"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/shelf"
	"github.com/mcp-workbench/workbench/toolbox"
)

const (
	// maxFindQuery bounds a query, in bytes: what is longer is no search.
	maxFindQuery = 4 << 10
	// keepIndex is how long an index stays that nobody searches: a client that searches once, searches again soon.
	keepIndex = time.Minute
)

// findQuery is what the arguments of workbench_find_tools ask for.
type findQuery struct {
	text, toolbox string
	find.Options
}

// answer answers workbench_find_tools. It starts nothing.
func (k *finder) answer(c *call) {
	f := k.desk.own(c)
	if f == nil {
		return
	}
	q, err := readFind(c, k.shelf.View())
	if err != nil {
		f.fail(err)
		return
	}
	f.serve(func() { f.reply(k.found(f.ctx, q, f.terms.Era)) }) // files of the catalogue may be read
}

// readFind reads the arguments of workbench_find_tools.
func readFind(c *call, v *shelf.View) (q findQuery, err error) {
	var out [5]wire.Span
	if c.findArgs(c.Args, []string{"query", "toolbox", "detail", "limit", "toolbox_name"}, out[:]) != nil {
		return q, fmt.Errorf("%s needs arguments with query: what you want to do, in a few words", meta.FindTool)
	}
	ok := false
	if q.text, ok = wire.Unquote(c.Bytes(out[0])); !ok || strings.TrimSpace(q.text) == "" || len(q.text) > maxFindQuery {
		return q, fmt.Errorf("%s needs query, a string of a few words (at most %d bytes)", meta.FindTool, maxFindQuery)
	}
	if in := cmp.Or(out[1], out[4]); in.Present() { // toolbox_name is what the other tools call it
		if q.toolbox, ok = wire.Unquote(c.Bytes(in)); !ok {
			return q, fmt.Errorf("%s: toolbox is the name of one toolbox, a string; without it all are searched", meta.FindTool)
		}
		q.toolbox = strings.TrimSpace(q.toolbox)
		if _, ok := v.Cfg.Toolbox(q.toolbox); !ok {
			return q, v.NoToolbox(q.toolbox)
		}
	}
	q.Detail, q.Stubs = find.Signatures, v.HasMeta(meta.ScriptTool)
	if out[2].Present() {
		text, _ := wire.Unquote(c.Bytes(out[2]))
		if q.Detail = find.Detail(text); !slices.Contains(meta.Details(), text) {
			return q, fmt.Errorf("%s: detail is one of %s", meta.FindTool, strings.Join(foreign.Quoted(meta.Details()), ", "))
		}
	}
	if out[3].Present() {
		if q.Limit, ok = wholeNumber(c.Bytes(out[3])); !ok {
			return q, fmt.Errorf("%s: limit is how many tools are named at most: a whole number from 1", meta.FindTool)
		}
	}
	return q, nil
}

// wholeNumber reads a number from 1, at most a billion. Some models write numbers as strings.
func wholeNumber(token []byte) (n int, ok bool) {
	text, quoted := wire.Unquote(token)
	if !quoted {
		text = string(token)
	}
	f, err := strconv.ParseFloat(text, 64)
	n = int(min(f, 1e9))
	return n, err == nil && n >= 1 && (float64(n) == f || f > 1e9)
}

// found is the result of a search, as text and as structured content, of which clients show their models one or the
// other.
func (k *finder) found(ctx context.Context, q findQuery, e eras.Era) []byte {
	index, servers := k.searchable(q.toolbox)
	note := ""
	if m := k.meanings; m != nil {
		var err error
		if q.Votes, err = m.Votes(ctx, index.Texts(), q.text); err != nil {
			note = "Found by words alone, without the embeddings of models: " + cut.At(foreign.NewError(err).Error(), maxReason)
		}
	}
	q.State = func(i int) string { return string(servers[i].Status().State) }
	q.Unknown = func(i int) string {
		if servers[i].Status().State == toolbox.Disabled {
			return "it is left out by the configuration"
		}
		return ""
	}
	answer := index.Answer(q.text, q.Options)
	type group struct {
		Toolbox string        `json:"toolbox"`
		Server  string        `json:"server"`
		State   toolbox.State `json:"state"`
		Best    []string      `json:"best,omitempty"`
		Tools   []string      `json:"tools,omitempty"` // the names of more
		Notes   []string      `json:"notes,omitempty"` // definitions that have changed
	}
	result := struct {
		HowToCall string   `json:"how_to_call,omitempty"`
		Servers   []group  `json:"servers"`
		LeftOut   []string `json:"left_out,omitempty"`
		Unseen    []string `json:"unseen,omitempty"`
		Toolboxes []string `json:"toolboxes,omitempty"`
		Note      string   `json:"note,omitempty"`
	}{Note: note, Servers: []group{}}
	for _, g := range answer.Groups {
		srv := servers[g.Server]
		result.Servers = append(result.Servers, group{srv.Toolbox, srv.Name, srv.Status().State, g.Best, g.Names, srv.Changes()})
	}
	result.LeftOut = excluded(servers, q.text)
	var text strings.Builder
	switch {
	case answer.Text != "":
		result.HowToCall = "Call a tool through " + meta.UseTool + " with toolbox_name and tool_name SERVER/TOOL; " + meta.OpenTool + " with tools shows more of some." + inScript(k.shelf.View(), "")
		if answer.Reads {
			result.HowToCall += " A skill is read by its uri, as a resource, once its toolbox is open."
		}
		fmt.Fprintf(&text, "%s\n%s", result.HowToCall, answer.Text)
	default:
		for _, t := range k.shelf.View().Cfg.Toolboxes {
			result.Toolboxes = append(result.Toolboxes, t.Name)
		}
		fmt.Fprintf(&text, "No known tool fits %q. ", cut.At(q.text, maxReason))
		if result.Unseen = unseen(index, servers); result.Unseen != nil {
			fmt.Fprintf(&text, "The tools of these servers are not known until their toolbox has been opened once: %s. ", strings.Join(result.Unseen, ", "))
		}
		fmt.Fprintf(&text, "Other words may find one; %s\n", k.shelf.View().Available(""))
	}
	for _, g := range result.Servers {
		for _, change := range g.Notes {
			fmt.Fprintf(&text, "- %s/%s: %s\n", g.Toolbox, g.Server, change)
		}
	}
	for _, line := range result.LeftOut {
		fmt.Fprintln(&text, line)
	}
	if note != "" {
		fmt.Fprintln(&text, note)
	}
	return textResult(e, strings.TrimSuffix(text.String(), "\n")).Raw("structuredContent", wire.MustEncode(result)).End()
}

const (
	maxExcluded = 3 // of how many tools an answer says why they are not offered
	maxNamed    = 8 // how many names a query may have for that
	maxUnseen   = 8 // how many servers of which nothing is known an answer names
)

// unseen names the servers of which no tool is known, and which can be opened.
func unseen(index *find.Index, servers []*toolbox.Server) (names []string) {
	more := 0
	for _, i := range index.Unseen() {
		switch srv := servers[i]; {
		case srv.Status().State == toolbox.Disabled:
		case len(names) == maxUnseen:
			more++
		default:
			names = append(names, srv.Toolbox+"/"+srv.Name)
		}
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return names
}

// excluded says of the tools that a query asks for by name, and that are not offered, why. A word of several is a name
// if it is written as one.
func excluded(servers []*toolbox.Server, query string) (said []string) {
	names := []string{strings.TrimSpace(query)}
	for _, word := range strings.Fields(query) {
		if len(names) == maxNamed {
			break
		}
		if strings.ContainsAny(word, "/_-") {
			names = append(names, word[strings.LastIndexByte(word, '/')+1:])
		}
	}
	for x := range toolbox.Excluded(servers, names...) {
		line := fmt.Sprintf("%s/%s has the tool %q, but %s", x.Server.Toolbox, x.Server.Name, cut.At(x.Tool, maxReason), x.Why)
		if !slices.Contains(said, line) {
			said = append(said, line)
		}
		if len(said) == maxExcluded {
			break
		}
	}
	return said
}
