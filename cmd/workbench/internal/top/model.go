package top

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// model is what is on the terminal. Its methods are called by one goroutine.
type model struct {
	paint   terminal.Paint
	command func(args ...string) *output // begins one
	look    func(tab string) tea.Msg     // gives what a tab shows that nobody tells

	tabs   []tab
	lists  []list
	at     int // the tab that is shown
	typing bool
	form   *form   // in front of the tab; nil if there is none
	open   *output // in front of both; nil if there is none

	width, height int
}

func newModel(paint terminal.Paint, command func(args ...string) *output, look func(tab string) tea.Msg) *model {
	tabs := []tab{&servers{paint: paint, workbenches: make(map[string]stands)}, new(record), &costs{live: make(map[string]serverCosts)}, &waiting{of: make(map[string][]approval.Call)},
		new(tools), new(kept), new(settings)}
	return &model{paint: paint, command: command, look: look, tabs: tabs, lists: make([]list, len(tabs)), width: terminal.PlainText, height: 24}
}

func (m *model) Init() tea.Cmd {
	var all []tea.Cmd
	for i := range m.tabs {
		all = append(all, m.turn(i))
	}
	m.at = 0
	return tea.Batch(all...)
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var then tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.PasteMsg:
		switch {
		case m.typing:
			m.lists[m.at].filter += foreign.NewText(msg.Content).String()
		case m.form != nil && m.open == nil:
			m.form.paste(msg.Content)
		}
	case tea.KeyPressMsg:
		then = m.press(msg)
	case said:
		if msg.of == m.open {
			return m, m.open.take(msg)
		}
	default:
		for _, t := range m.tabs {
			t.heard(msg)
		}
	}
	for i := range m.lists {
		m.lists[i].settle(m.tabs[i])
	}
	return m, then
}

// press does what a key is for.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case name == "ctrl+z":
		return tea.Suspend
	case m.typing:
		m.typed(k)
		return nil
	case m.open != nil && (name == "q" || name == "esc"):
		m.open.end()
		m.open = nil
		return nil
	case m.open != nil:
		m.open.move(m.steps(name))
		return nil
	case m.form != nil && name == "esc":
		m.form = nil
		return nil
	case m.form != nil:
		if m.form.press(k) {
			if args := m.form.command(); args != nil {
				m.open = m.command(args...)
				return m.open.next
			}
		}
		return nil
	}
	l, t := &m.lists[m.at], m.tabs[m.at]
	switch name {
	case "q":
		return tea.Quit
	case "esc":
		l.filter = ""
	case "/":
		m.typing = true
	case "?":
		m.open = &output{title: "keys", text: m.help(), done: true, end: func() {}}
	case "1", "2", "3", "4", "5", "6", "7":
		return m.turn(int(name[0] - '1'))
	case "tab", "right":
		return m.turn((m.at + 1) % len(m.tabs))
	case "shift+tab", "left":
		return m.turn((m.at + len(m.tabs) - 1) % len(m.tabs))
	}
	if by := m.steps(name); by != 0 {
		l.move(t, by)
		return nil
	}
	if row, is := l.row(); is {
		for _, has := range t.keys() {
			switch {
			case has.key != name:
			case has.form != nil:
				m.form = has.form(row)
			default:
				m.open = m.command(has.command(row)...)
				return m.open.next
			}
		}
	}
	return nil
}

// turn shows another tab.
func (m *model) turn(to int) tea.Cmd {
	m.at = to
	name := m.tabs[to].name()
	return func() tea.Msg { return m.look(name) } // servers may have been seen meanwhile
}

// steps is by how many lines a key moves.
func (m *model) steps(name string) int {
	page := max(m.height/2, 1)
	return map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page, "space": page, "home": -1 << 30, "g": -1 << 30, "end": 1 << 30, "G": 1 << 30}[name]
}

// typed takes a key into the filter.
func (m *model) typed(k tea.KeyPressMsg) {
	l := &m.lists[m.at]
	switch k.String() {
	case "enter":
		m.typing = false
	case "esc":
		l.filter, m.typing = "", false
	case "backspace":
		if r := []rune(l.filter); len(r) > 0 {
			l.filter = string(r[:len(r)-1])
		}
	default:
		l.filter += k.Text
	}
}

// help says what keys do.
func (m *model) help() string {
	var b strings.Builder
	say := func(key, does string) { fmt.Fprintf(&b, "  %-16s %s\n", key, does) }
	for i, t := range m.tabs {
		fmt.Fprintf(&b, "%d  %s\n", i+1, t.name())
		for _, k := range t.keys() {
			say(k.key, k.does)
		}
	}
	b.WriteString("everywhere\n")
	say("tab, left, right", "another of these")
	say("up, down, j, k", "another row; also page up and down, g for the first and G for the last")
	say("/", "those rows alone that have these words; failed is a word of calls that failed")
	say("esc", "all rows again; back from what is open, whose command is then ended")
	say("ctrl+z", "suspend")
	say("q, ctrl+c", "end")
	return b.String()
}

func (m *model) View() tea.View {
	v := tea.NewView(m.text())
	v.AltScreen = true
	return v
}

// text is all that is shown: as many lines as there are, none wider than the terminal.
func (m *model) text() string {
	var lines []string
	switch {
	case m.open != nil:
		lines = append([]string{m.paint.Bold(m.open.title)}, m.open.lines(m.width, max(m.height-2, 1))...)
		lines = m.end(lines, m.openKeys())
	case m.form != nil:
		lines = m.end(m.form.lines(m.width, m.height, m.paint), m.paint.Faint(m.form.keys()))
	default:
		lines = m.table()
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.width, "…")
	}
	return strings.Join(lines, "\n")
}

// end puts a last line at the foot of the terminal.
func (m *model) end(lines []string, last string) []string {
	lines = lines[:min(len(lines), max(m.height-1, 0))]
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return append(lines, last)
}

// openKeys are the keys for what is open.
func (m *model) openKeys() string {
	if m.open.done {
		return m.paint.Faint("esc back   up, down, g, G move")
	}
	return m.paint.Faint("esc end the command, and back   up, down, g, G move")
}

// table shows a tab: its rows, what else there is to say of the one that is chosen, and the keys.
func (m *model) table() []string {
	l, t := &m.lists[m.at], m.tabs[m.at]
	lines := []string{m.head()}
	row, is := l.row()
	if !is {
		none := t.none()
		if l.filter != "" && t.len() > 0 {
			none = "nothing has these words"
		}
		return m.end(append(lines, "", none), m.foot(t, l))
	}
	about := strings.Split(strings.TrimSuffix(t.about(row, min(m.width, 2*terminal.PlainText)), "\n"), "\n")
	about = about[:min(len(about), max(m.height/3, 1))]
	room := max(m.height-4-len(about), 1) // besides those: two heads, an empty line, the foot
	shown := terminal.Table{Head: t.columns()}
	rows := l.window(room)
	for _, row := range rows {
		shown.Add(t.cells(row)...)
	}
	for i, line := range strings.Split(strings.TrimSuffix(shown.Lines(max(m.width-2, 1), m.paint), "\n"), "\n") {
		switch {
		case i > 0 && rows[i-1] == row:
			line = m.paint.Chosen("> " + ansi.Strip(line))
		default:
			line = "  " + line
		}
		lines = append(lines, line)
	}
	for len(lines) < 2+room {
		lines = append(lines, "")
	}
	return m.end(append(append(lines, ""), about...), m.foot(t, l))
}

// head names the tabs, with how much there is in each.
func (m *model) head() string {
	names := make([]string, len(m.tabs))
	for i, t := range m.tabs {
		names[i] = fmt.Sprintf(" %d %s %d ", i+1, t.name(), t.len())
		if n := urgent(t); n > 0 {
			names[i] += m.paint.Bad(fmt.Sprintf("(%d!) ", n))
		}
		if i == m.at {
			names[i] = m.paint.Chosen(fmt.Sprintf("[%s]", strings.TrimSpace(ansi.Strip(names[i]))))
		}
	}
	title := m.paint.Bold("workbench top") + " "
	if ansi.StringWidth(title+strings.Join(names, "")) > m.width {
		title = ""
	}
	for i := len(names) - 1; i >= 0 && ansi.StringWidth(strings.Join(names, "")) > m.width; i-- {
		if i != m.at { // the number is its key
			names[i] = fmt.Sprintf(" %d ", i+1)
		}
	}
	return title + strings.Join(names, "")
}

// urgent is how many rows of a tab need attention.
func urgent(t tab) int {
	switch t := t.(type) {
	case *servers:
		return t.urgent
	case *settings:
		return t.faults
	}
	return 0
}

// foot is the last line: the filter, or what keys do.
func (m *model) foot(t tab, l *list) string {
	if m.typing {
		return "/" + l.filter + "_"
	}
	var parts []string
	if l.filter != "" {
		parts = append(parts, fmt.Sprintf("/%s: %d of %d", l.filter, len(l.rows), t.len()))
	}
	for _, k := range t.keys() {
		parts = append(parts, k.key+" "+k.does)
	}
	return m.paint.Faint(strings.Join(append(parts, "/ filter", "? keys", "q end"), "  "))
}
