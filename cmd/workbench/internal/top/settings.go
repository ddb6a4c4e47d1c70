package top

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mask"
)

// settings are the lines of the files of the configuration, without secrets, and what workbench check finds wrong.
type settings struct {
	rows   []settingsRow
	faults int
	wrong  error
}

type settingsRow struct{ place, text, about string }

// settingsOf reads them.
func settingsOf(ctx context.Context, env *opening.Environment) settings {
	var s settings
	var checked struct {
		Findings []struct{ Level, Toolbox, Server, Message, Remedy string }
	}
	if s.wrong = printed(ctx, env, &checked, "check", "--json"); s.wrong != nil {
		return s
	}
	for _, f := range checked.Findings {
		place := f.Level
		if f.Server != "" {
			place += " " + f.Toolbox + "/" + f.Server
		}
		s.rows = append(s.rows, settingsRow{place, f.Message, f.Message + "\n" + f.Remedy})
	}
	s.faults = len(s.rows)
	from, err := cli.FindSources(env.Environment)
	if err != nil {
		s.wrong = err
		return s
	}
	for _, path := range []string{from.Places.Named, from.Places.User, from.Places.Project} {
		src, err := config.Read(path)
		if path == "" || err != nil {
			continue // check says so
		}
		for i, line := range strings.Split(mask.Settings(path, src.Data), "\n") {
			s.rows = append(s.rows, settingsRow{fmt.Sprint("line ", i+1), line, fmt.Sprintf("%s:%d", path, i+1)})
		}
	}
	return s
}

func (s *settings) heard(what any)       { take(s, what) }
func (s *settings) name() string         { return "configuration" }
func (s *settings) len() int             { return len(s.rows) }
func (s *settings) id(row int) string    { return s.rows[row].about }
func (s *settings) columns() []string    { return []string{"WHERE", "WHAT"} }
func (s *settings) words(row int) string { return s.rows[row].place + " " + s.rows[row].text }

func (s *settings) none() string { return because(s.wrong, "there is no configuration") }

func (s *settings) cells(row int) []string {
	r := &s.rows[row]
	return []string{foreign.NewText(r.place).String(), strings.ReplaceAll(foreign.Block(r.text), "\t", "    ")}
}

func (s *settings) about(row, width int) string {
	return terminal.Wrap(foreign.Block(s.rows[row].about), "", width)
}

func (s *settings) keys() []key {
	return []key{{key: "enter", does: "check it", command: func(int) []string { return []string{"check"} }}}
}
