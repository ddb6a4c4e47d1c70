package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Found is a run that a search has found.
type Found struct {
	store.OwnedRun
	Head  Head
	Score int
	// Expires is when it will, or has; nil: never.
	Expires *time.Time
}

// maxSearched is how many runs workflow_resume looks at.
const maxSearched = 1000

// Search finds runs of a principal, or with "" of everybody, by words in the goal, the notes, the workflow, the
// repository and the branch, among as many as most of the latest. Those with most words come first, and of these the
// latest; without words, all come. expire is that of [Options].
func Search(ctx context.Context, log Log, principal, query string, most int, expire time.Duration) ([]Found, error) {
	list, err := log.Runs(ctx, principal, most)
	if err != nil {
		return nil, err
	}
	words := slices.DeleteFunc(wordsOf(query), func(w string) bool { return strings.Contains(fillers, " "+w+" ") })
	var found []Found
	for _, r := range list {
		f := foundRun(r, expire)
		f.Score = f.score(words)
		if f.Score > 0 || len(words) == 0 {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int {
		return cmp.Or(b.Score-a.Score, b.Updated.Compare(a.Updated))
	})
	return found, nil
}

// wordsOf returns the words of a text, in small letters. Of scripts that put no spaces between words it returns each
// two characters that stand side by side.
func wordsOf(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(norm.NFKC.String(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		letters := []rune(w)
		if len(letters) < 3 || !slices.ContainsFunc(letters, unspaced) {
			words = append(words, w)
			continue
		}
		for i := range letters[1:] {
			words = append(words, string(letters[i:i+2]))
		}
	}
	return words
}

// unspaced reports whether a letter is of a script that puts no spaces between words.
func unspaced(r rune) bool {
	return r >= '\u0e00' && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// fillers are words that a request to go on has and a run is not found by.
const fillers = " the a an of on in for to with and my our that this it is was go resume continue run workflow where we left off please "

// score counts the words that a run has, those of the goal and the workflow more. A word counts by its beginning, too.
func (f Found) score(words []string) int {
	score := 0
	for _, field := range []struct {
		text   string
		weight int
	}{
		{f.Head.Goal, 4}, {f.ID, 8}, {f.Workflow + " " + f.Head.Name, 3}, {f.Head.Branch + " " + f.Head.Repository, 3},
		{f.Head.Words, 2}, {f.Head.Step, 1},
	} {
		have := wordsOf(field.text)
		for _, w := range words {
			if slices.ContainsFunc(have, func(h string) bool { return h == w || len(w) >= 3 && strings.HasPrefix(h, w) }) {
				score += field.weight
			}
		}
	}
	return score
}

// Resume finds a run by words and says where it is, or which there are to choose from.
func (e *Engine) Resume(ctx context.Context, who Caller, query, run string) (Answer, error) {
	if a, err := e.reply(ctx, who); a != nil || err != nil {
		return value(a), err
	}
	if run == "" {
		var list []Found
		logs, fault := e.logs(ctx)
		for _, l := range logs {
			found, err := Search(ctx, l, who.Principal, query, maxSearched, e.opts.Expire())
			if err != nil {
				return Answer{}, err
			}
			list = append(list, found...)
		}
		open := slices.DeleteFunc(slices.Clone(list), func(f Found) bool { return f.Head.Status.Over() })
		open = e.here(open)
		if len(open) == 0 || len(open) > 1 && open[0].Score == open[1].Score {
			return choices(open, list, query, fault)
		}
		run = open[0].ID
	}
	t, err := e.open(ctx, who, run)
	if err != nil {
		return Answer{}, err
	}
	defer t.done()
	if t.r.Status.Over() {
		return t.over(ctx)
	}
	if e.opts.Where != nil {
		if repository, branch := e.opts.Where(); repository != t.r.Repository || branch != t.r.Branch {
			t.warn("this run was started in %s, and this is %s", whereabouts(t.r.Repository, t.r.Branch), whereabouts(repository, branch))
		}
	}
	a, err := t.goOn(ctx)
	if err == nil && a.Question == nil {
		a.Text = t.recap(t.e.expires(t.r)) + "\n\n" + rules(t.w, a.Text) + a.Text
	}
	return a, err
}

// here puts the runs of this repository and branch before those of others with the same score.
func (e *Engine) here(list []Found) []Found {
	if e.opts.Where == nil {
		return list
	}
	repository, branch := e.opts.Where()
	for i := range list {
		list[i].Score *= 4
		if repository != "" && list[i].Head.Repository == repository {
			list[i].Score++
			if list[i].Head.Branch == branch {
				list[i].Score++
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Found) int { return b.Score - a.Score })
	return list
}

func whereabouts(repository, branch string) string {
	switch {
	case repository == "":
		return "no repository"
	case branch == "":
		return repository
	}
	return repository + " on " + branch
}

// A choice is a run in a list.
type choice struct {
	Run        string     `json:"run"`
	Workflow   string     `json:"workflowId"`
	Status     Status     `json:"status"`
	Goal       string     `json:"goal,omitempty"`
	Step       string     `json:"step,omitempty"`
	Done       int        `json:"done"`
	Repository string     `json:"repository,omitempty"`
	Branch     string     `json:"branch,omitempty"`
	Updated    time.Time  `json:"updated"`
	Expires    *time.Time `json:"expires,omitempty"`
}

// choices lists the runs that are open, or, if none is, those that have ended.
func choices(open, all []Found, query string, fault error) (Answer, error) {
	const shown = 10
	list, title := open, "More than one run fits. Call workflow_resume with the run that is meant:"
	if len(open) == 0 {
		list, title = all, fmt.Sprintf("No open run fits %q. These have ended:", cut.Short(query))
		if len(all) == 0 {
			title = fmt.Sprintf("None of the last %d runs fits %q. workflow_resume without a query lists runs, and with run goes on with any; workflow_start begins one.",
				maxSearched, cut.Short(query))
		}
	}
	var b strings.Builder
	b.WriteString(title)
	runs := []choice{}
	for i, f := range list {
		if i == shown {
			fmt.Fprintf(&b, "\n… and %d more; say more words", len(list)-shown)
			break
		}
		h := f.Head
		runs = append(runs, choice{f.ID, f.Workflow, h.Status, h.Goal, h.Step, h.Done, h.Repository, h.Branch, f.Updated, f.Expires})
		fmt.Fprintf(&b, "\n- %s: %s, %s", f.ID, f.Workflow, h.Status)
		if h.Step != "" {
			b.WriteString(" at " + h.Step)
		}
		fmt.Fprintf(&b, ", %s", moment(f.Updated))
		if f.Expires != nil && !h.Status.Over() {
			b.WriteString(", expires " + moment(*f.Expires))
		}
		if h.Goal != "" {
			b.WriteString(": " + cut.Short(h.Goal))
		}
		if h.Repository != "" {
			b.WriteString(" (" + whereabouts(h.Repository, h.Branch) + ")")
		}
	}
	if fault != nil {
		fmt.Fprintf(&b, "\n\nNote: runs that were kept cannot be read: %v", fault)
	}
	return Answer{Text: b.String(), Data: wire.MustEncode(map[string][]choice{"runs": runs})}, nil
}

// foundRun is a run as a list has it. One that has expired is shown so also before it is noted in it.
func foundRun(r store.OwnedRun, expire time.Duration) Found {
	f := Found{OwnedRun: r}
	if r.Damaged || json.Unmarshal(r.Run.Head, &f.Head) != nil {
		f.Head = Head{Status: StatusDamaged}
	}
	f.Expires = f.Head.expires(f.Updated, expire)
	if at := f.Expires; at != nil && !time.Now().Before(*at) && !time.Now().Before(f.Held) {
		f.Head.Status = StatusExpired
	}
	return f
}
