package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/find"
	"github.com/mcp-workbench/workbench/toolbox"
)

// searching is how `workbench find` was called.
type searching struct {
	query, toolbox, detail string
	budget, limit          int
	explain, asJSON        bool
}

func Find(env *opening.Environment) *cobra.Command {
	var s searching
	cmd := &cobra.Command{
		Use:   "find QUERY…",
		Short: "Find tools by what you want to do",
		Long: `Find searches the tools, prompts and skills of all toolboxes by name, description and
parameters, as agents do with workbench_find_tools. It starts nothing: it searches
each server as it was last seen, and "workbench index" starts each one once.`,
		Example: `  workbench find open a ticket
  workbench find --toolbox dev --detail names files
  workbench find --explain send mail`,
		Args: cli.Between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.query = strings.Join(args, " ")
			return s.run(cmd.Context(), env)
		},
	}
	f := cmd.Flags()
	f.Var((*cli.Named)(&s.toolbox), "toolbox", "search only this `toolbox`")
	cli.OfferFlag(cmd, "toolbox", cli.OfferEach(env.ToolboxNames))
	f.StringVar(&s.detail, "detail", string(find.Signatures), "what to show of the best tools: names, signatures or schemas")
	cli.OfferFlag(cmd, "detail", cli.Fixed(string(find.Names), string(find.Signatures), string(find.Schemas)))
	f.IntVar(&s.budget, "budget", find.DefaultBudget, "the length of the answer in `tokens` of four bytes; 0 for no limit")
	f.IntVar(&s.limit, "limit", 0, "the largest number of `tools` to name; 0 for as many as fit")
	f.BoolVar(&s.explain, "explain", false, "show by which words each tool was found")
	f.BoolVar(&s.asJSON, "json", false, "print the result as JSON")
	return cmd
}

func (s searching) run(ctx context.Context, env *opening.Environment) error {
	details := []find.Detail{find.Names, find.Signatures, find.Schemas}
	if !slices.Contains(details, find.Detail(s.detail)) {
		return cli.Usage(cli.Hint(fmt.Errorf("--detail: got %q", s.detail), "it is names, signatures or schemas"))
	}
	if s.limit < 0 || s.budget < 0 {
		return cli.Usage(errors.New("--limit and --budget must be 0 or more"))
	}
	var names []string
	if s.toolbox != "" {
		names = append(names, s.toolbox)
	}
	boxes, cfg, _, err := env.Boxes(nil, names)
	if err != nil {
		return err
	}
	var servers []*toolbox.Server
	var searched []find.Server
	toolbox.Recall(boxes...)
	for _, b := range boxes {
		of, _ := cfg.Toolbox(b.Name)
		servers = append(servers, b.Servers()...)
		searched = append(searched, toolbox.Search(b.Servers(), of.Description)...)
	}
	index := find.New(slices.Values(searched))
	votes, err := s.votes(ctx, env, cfg, index)
	if err != nil {
		return err
	}
	opts := find.Options{Detail: find.Detail(s.detail), Budget: s.budget, Limit: s.limit, Votes: votes, State: func(i int) string {
		if st := servers[i].Status(); st.State != toolbox.Stopped || st.Seen.IsZero() {
			return string(st.State)
		}
		return "seen " + servers[i].Status().LastSeen()
	}}
	answer := index.Answer(s.query, opts)
	if answer.Text == "" && s.budget > 0 {
		if opts.Budget = 0; index.Answer(s.query, opts).Text != "" {
			return cli.Usage(cli.Hint(fmt.Errorf("--budget: %d is too little to name what fits", s.budget), fmt.Sprintf("leave it out for %d, or give 0 for all that fits", find.DefaultBudget)))
		}
	}
	switch {
	case s.asJSON:
		return s.printJSON(env, servers, answer)
	case answer.Text == "":
		return cli.Hint(fmt.Errorf("no known tool fits %q", s.query), `other words may find one; "workbench index" starts each server once, so that its tools are known`)
	case s.explain:
		return s.printWhy(env, index, searched, votes)
	}
	_, err = fmt.Fprint(env.Out, answer.Text)
	return err
}

// votes are those of the model for embeddings, if the configuration names one that answers.
func (s searching) votes(ctx context.Context, env *opening.Environment, cfg *config.Config, index *find.Index) ([]float32, error) {
	log, err := env.Logger()
	if err != nil {
		return nil, err
	}
	m := env.Meanings(cfg, log)
	if m == nil {
		return nil, nil
	}
	defer m.Close()
	votes, err := m.Votes(ctx, index.Texts(), s.query)
	if err != nil {
		fmt.Fprintf(env.Err, "workbench: note: found by words alone, without the embeddings of models: %v\n", err)
	}
	return votes, nil
}

// foundServer is what is printed of one server as JSON.
type foundServer struct {
	Toolbox string   `json:"toolbox"`
	Server  string   `json:"server"`
	Best    []string `json:"best"`
	Tools   []string `json:"tools"` // the names of more
}

func (s searching) printJSON(env *opening.Environment, servers []*toolbox.Server, answer find.Answer) error {
	all := []foundServer{}
	for _, g := range answer.Groups {
		one := foundServer{servers[g.Server].Toolbox, servers[g.Server].Name, []string{}, []string{}}
		one.Best, one.Tools = append(one.Best, g.Best...), append(one.Tools, g.Names...)
		all = append(all, one)
	}
	return terminal.PrintJSON(env.Out, all)
}

// mostExplained is how many tools are explained where no limit is named.
const mostExplained = 10

func (s searching) printWhy(env *opening.Environment, index *find.Index, searched []find.Server, votes []float32) error {
	most := mostExplained
	if s.limit > 0 {
		most = s.limit
	}
	t := terminal.Table{Head: []string{"TOOL", "SCORE", "FOUND BY"}}
	hits := index.SearchVoted(s.query, votes)
	for _, h := range hits[:min(most, len(hits))] {
		of := searched[h.Server]
		name := of.Toolbox + "/" + of.Name
		if h.Entry >= 0 {
			name += "/" + of.Entries[h.Entry].Label()
		}
		var why []string
		for _, word := range index.Why(s.query, h) {
			text := word.Query
			if word.Found != word.Query {
				text += " as " + word.Found
			}
			best := ""
			if word.Best {
				best = ", of the clause that fits best"
			}
			why = append(why, fmt.Sprintf("%s in its %s (%.1f%s)", text, strings.Join(word.Fields, ", "), word.Score, best))
		}
		if h.Voted > 0 {
			why = append(why, fmt.Sprintf("what it means (%.1f)", h.Voted))
		}
		if why == nil {
			why = append(why, "other tools of its server")
		}
		t.Add(name, fmt.Sprintf("%.1f", h.Score), strings.Join(why, "; "))
	}
	return env.Print(&t)
}

func Index(env *opening.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "index [TOOLBOX]",
		Short: "Start each server once, so that its tools can be found",
		Long: `Index opens one toolbox, or all, waits for the servers, stores what they offer and
stops them again. "workbench find" and agents search what is stored, and a toolbox
with stored lists opens at once. The exit code is 1 if a server could not be started.`,
		Example: `  workbench index
  workbench index dev`,
		Args:              cli.Between(0, 1),
		ValidArgsFunction: cli.Offer(env.ToolboxNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return indexServers(cmd.Context(), env, args) },
	}
}

// indexed is what index says of a server.
type indexed struct {
	toolbox, server string
	tools, bytes    int
	state           string
	failed          bool
}

// unkept says why lists were not kept that were to be.
func unkept(env *opening.Environment, seen *catalogue.Catalogue) string {
	if seen == nil {
		if _, err := env.CacheDir(); err != nil {
			return "there is no place for them: " + err.Error()
		}
	} else if err := seen.Fault(); err != nil {
		return err.Error()
	}
	return "--log-level debug says why"
}

func indexServers(ctx context.Context, env *opening.Environment, names []string) error {
	var seen *catalogue.Catalogue
	env.Tune = func(o *toolbox.Options) { seen = o.Catalogue }
	boxes, closeAll, err := env.OpenBoxes(ctx, nil, names...)
	if err != nil {
		return err
	}
	var rows []indexed
	for _, srv := range opening.Servers(boxes) {
		st := srv.Status()
		one := indexed{toolbox: srv.Toolbox, server: srv.Name, state: string(st.State), tools: st.Tools, bytes: srv.ToolsSize()}
		if err := opening.Missing(srv, false); err != nil {
			one.state, one.failed = err.Error(), true
		} else if notes := srv.Notes(); one.tools == 0 && len(notes) > 0 {
			one.state += ": " + notes[0] // such as why it has no list
		}
		rows = append(rows, one)
	}
	closeAll() // what they offer is kept by now, or never
	lost := unkept(env, seen)
	kept, _, err := env.RecallBoxes(ctx, nil, names...)
	if err != nil {
		return err
	}
	for _, srv := range opening.Servers(kept) {
		at := slices.IndexFunc(rows, func(r indexed) bool { return r.toolbox == srv.Toolbox && r.server == srv.Name })
		if st := srv.Status(); at >= 0 && rows[at].tools > 0 && st.State == toolbox.Stopped && st.Seen.IsZero() {
			rows[at].state, rows[at].failed = "it ran, but its lists could not be stored: "+lost, true
		}
	}
	t := terminal.Table{Head: []string{"TOOLBOX", "SERVER", "TOOLS", "TOKENS", "STATE"}}
	failed := false
	for _, r := range rows {
		failed = failed || r.failed
		t.Add(r.toolbox, r.server, fmt.Sprint(r.tools), fmt.Sprint(r.bytes/4), r.state)
	}
	if err := env.Print(&t); err != nil {
		return err
	}
	if cfg, err := env.LoadOnce(); err == nil && len(names) == 0 {
		sizes := make(map[string]int)
		for _, r := range rows {
			sizes[r.toolbox] += r.bytes
		}
		fmt.Fprintf(env.Out, "\n%s\n", opening.Costs(cfg, sizes))
	}
	if failed {
		return cli.SilentError(cli.ExitFault)
	}
	return nil
}
