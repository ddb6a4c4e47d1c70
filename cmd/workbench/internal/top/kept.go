package top

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// kept are workflows, their runs, and conversations with command workflows: what there is to read.
type kept struct {
	rows  []keptRow
	wrong error
}

type keptRow struct {
	kind, id, state, title string
	changed                time.Time
	show                   []string // the command that shows it
}

// keptOf reads what is kept.
func keptOf(ctx context.Context, env *opening.Environment) kept {
	var k kept
	var runs []struct {
		Run, Goal, Workflow, Status string
		Updated                     time.Time `json:"updated_at"`
	}
	var talks []struct {
		ID       string `json:"conversation_id"`
		Workflow string
		Topic    string
		Turns    int
		Updated  time.Time `json:"updated_at"`
	}
	var flows struct {
		Workflows []struct {
			ID, Name string
			Steps    int
		}
	}
	k.wrong = errors.Join(printed(ctx, env, &runs, "runs", "list", "--json"), printed(ctx, env, &talks, "conversations", "list", "--json"),
		printed(ctx, env, &flows, "workflow", "list", "--json"))
	for _, r := range runs {
		k.rows = append(k.rows, keptRow{"run", r.Run, r.Status, cmp.Or(r.Goal, r.Workflow), r.Updated, []string{"runs", "show", "--", r.Run}})
	}
	for _, c := range talks {
		k.rows = append(k.rows, keptRow{"conversation", c.ID, fmt.Sprint(c.Turns, " turns"), cmp.Or(c.Topic, c.Workflow), c.Updated, []string{"conversations", "show", "--", c.ID}})
	}
	for _, w := range flows.Workflows {
		k.rows = append(k.rows, keptRow{"workflow", w.ID, fmt.Sprint(w.Steps, " steps"), w.Name, time.Time{}, []string{"workflow", "show", "--", w.ID}})
	}
	return k
}

func (k *kept) heard(what any)       { take(k, what) }
func (k *kept) name() string         { return "kept" }
func (k *kept) len() int             { return len(k.rows) }
func (k *kept) id(row int) string    { return k.rows[row].kind + " " + k.rows[row].id }
func (k *kept) columns() []string    { return []string{"KIND", "ID", "STATE", "CHANGED", "TITLE"} }
func (k *kept) words(row int) string { return strings.Join(k.cells(row), " ") }

func (k *kept) none() string {
	return because(k.wrong, "there are no workflows, runs and conversations")
}

func (k *kept) cells(row int) []string {
	r := &k.rows[row]
	changed := "-"
	if !r.changed.IsZero() {
		changed = terminal.Moment(r.changed)
	}
	return []string{r.kind, foreign.NewName(r.id).String(), foreign.NewName(r.state).String(), changed, foreign.NewText(r.title).String()}
}

func (k *kept) about(int, int) string { return because(k.wrong, "") }

func (k *kept) keys() []key {
	return []key{{key: "enter", does: "read", command: func(row int) []string { return k.rows[row].show }}}
}
