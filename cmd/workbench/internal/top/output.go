package top

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/shellword"
)

// mostOutput is how many bytes of an output are kept, the last.
const mostOutput = 256 << 10

// output is what a command says, while it is shown.
type output struct {
	title   string
	follows bool // it goes on, and the last lines are shown
	from    io.Reader
	end     func()

	text  string // clean
	done  bool
	first int // the line that is shown first
}

// said is a piece of an output.
type said struct {
	of   *output
	text []byte
	err  error // says that there is no more
}

// begin runs a command of this program, as one of those that work counts.
func begin(ctx context.Context, work *sync.WaitGroup, env *opening.Environment, args []string) *output {
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	work.Go(func() {
		defer cancel()
		_ = w.CloseWithError(env.Aside(ctx, w, w, args...))
	})
	return &output{title: "$ " + shellword.Line(append([]string{"workbench"}, args...)...), follows: slices.Contains(args, "--follow"), from: r, end: func() {
		cancel()
		_ = r.Close()
	}}
}

// next waits for the next piece.
func (o *output) next() tea.Msg {
	piece := make([]byte, 32<<10)
	n, err := o.from.Read(piece)
	return said{o, piece[:n], err}
}

// take takes a piece, and gives what waits for the next; nil at the end.
func (o *output) take(s said) tea.Cmd {
	o.text += string(s.text)
	if s.err != nil {
		o.done = true
		if s.err != io.EOF {
			o.text += fmt.Sprintf("workbench: error: %v\n", s.err)
		}
		if hint := cli.HintOf(s.err); hint != "" {
			o.text += fmt.Sprintf("workbench: hint: %s\n", hint)
		}
		return nil
	}
	if over := len(o.text) - mostOutput; over > 0 {
		o.text = o.text[over:]
	}
	return o.next
}

// lines are those of a window. Lines that are too long go on in the next.
func (o *output) lines(width, height int) []string {
	text := strings.ReplaceAll(foreign.Block(o.text), "\t", "    ")
	all := strings.Split(strings.TrimRight(ansi.Hardwrap(text, max(width, 1), true), "\n"), "\n")
	last := max(len(all)-height, 0)
	if o.follows {
		o.first = last
	}
	o.first = min(o.first, last)
	return all[o.first:min(o.first+height, len(all))]
}

// move shows other lines; then it is the user who follows what goes on.
func (o *output) move(by int) {
	o.first, o.follows = max(o.first+by, 0), false
}
