package top

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/running"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/status"
)

// servers are those of all workbenches.
type servers struct {
	paint       terminal.Paint
	workbenches map[string]stands // by the number of the process
	rows        []serverRow
	urgent      int // rows of servers that need attention
}

type serverRow struct {
	*running.Group
	pid    string
	of     *status.Workbench
	config string
}

func (s *servers) heard(what any) {
	switch what := what.(type) {
	case stands:
		s.workbenches[what.pid] = what
	case gone:
		delete(s.workbenches, what.pid)
	default:
		return
	}
	s.rows, s.urgent = nil, 0
	for _, pid := range slices.SortedFunc(maps.Keys(s.workbenches), func(a, b string) int {
		return cmp.Or(s.workbenches[a].says.Since.Compare(s.workbenches[b].says.Since), strings.Compare(a, b))
	}) {
		w := s.workbenches[pid]
		for _, g := range running.Groups(&w.says) {
			if g.Worst.Advice != "" {
				s.urgent++
			}
			s.rows = append(s.rows, serverRow{g, pid, &w.says, w.config})
		}
	}
	slices.SortStableFunc(s.rows, func(a, b serverRow) int { return a.Compare(b.Group) })
}

func (s *servers) name() string           { return "servers" }
func (s *servers) len() int               { return len(s.rows) }
func (s *servers) columns() []string      { return append(running.Columns()[:7], "WORKBENCH") }
func (s *servers) id(row int) string      { return s.rows[row].pid + " " + s.rows[row].Name() }
func (s *servers) words(row int) string   { return strings.Join(s.cells(row), " ") + s.rows[row].Cause() }
func (s *servers) cells(row int) []string { return append(s.rows[row].Cells()[:7], s.rows[row].pid) }

func (s *servers) about(row, width int) string {
	r := s.rows[row]
	text := fmt.Sprintf("workbench %s: %s, up %s\n", r.pid, strings.Join(running.Clients(r.of), "; "), running.Age(r.of.Since))
	if r.of.ConfigProblem != "" {
		text += terminal.Wrap("its configuration has a fault, and the one before goes on: "+r.of.ConfigProblem, "  ", width)
	}
	return r.Explain(width, s.paint, r.config) + text
}

func (s *servers) none() string {
	if len(s.workbenches) == 0 {
		return "no workbench is running for this user"
	}
	return "no toolbox is open"
}

func (s *servers) keys() []key {
	named := func(words ...string) func(int) []string {
		return func(row int) []string { return append(slices.Clone(words), s.rows[row].Name()) }
	}
	// A name means the server of a workbench in the configuration of that workbench.
	configured := func(word string) func(int) []string {
		return func(row int) []string {
			r := s.rows[row]
			if r.config == "" {
				return []string{word, r.Name()}
			}
			return []string{"--config", r.config, word, r.Name()}
		}
	}
	return []key{
		{key: "enter", does: "its log", command: named("logs", "--follow")},
		{key: "r", does: "restart", command: func(row int) []string { return []string{"restart", "--workbench", s.rows[row].pid, s.rows[row].Name()} }},
		{key: "l", does: "log in", command: configured("login")},
		{key: "e", does: "enable", command: configured("enable")},
		{key: "d", does: "disable", command: configured("disable")},
	}
}
