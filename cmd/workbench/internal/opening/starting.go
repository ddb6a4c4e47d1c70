package opening

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/toolbox"
)

const (
	// startingFirst is how long servers may take to start before a person at a terminal is shown how they stand, and
	// startingAgain how often the picture is made anew.
	startingFirst = 500 * time.Millisecond
	startingAgain = 250 * time.Millisecond
)

// ShowStarting shows on a terminal how servers stand that are waited for, a line each, until the result is called,
// which takes the lines away. Where standard error is no terminal it shows nothing.
func ShowStarting(e *cli.Environment, boxes []*toolbox.Toolbox) (stop func()) {
	if !terminal.Draws(e.Err, e.Lookup) {
		return func() {}
	}
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		drawStarting(e.Err, Servers(boxes), over)
	}()
	return func() {
		close(over)
		<-gone
	}
}

// drawStarting draws until over is closed, and takes away what it drew.
func drawStarting(to io.Writer, servers []*toolbox.Server, over <-chan struct{}) {
	wait, drawn, began := time.NewTimer(startingFirst), 0, time.Now()
	defer wait.Stop()
	for {
		select {
		case <-over:
			fmt.Fprint(to, clearLines(drawn))
			return
		case <-wait.C:
		}
		picture := startingLines(servers, time.Since(began))
		fmt.Fprint(to, clearLines(drawn)+terminal.NoWrap+strings.Join(picture, "")+terminal.WrapAgain)
		drawn = len(picture)
		wait.Reset(startingAgain)
	}
}

// clearLines goes up as many lines and clears what follows.
func clearLines(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\x1b[J", n)
}

// startingLines is a line for each server that is not ready: its state, the seconds, and its last words.
func startingLines(servers []*toolbox.Server, since time.Duration) (lines []string) {
	for _, s := range servers {
		st := s.Status()
		if !st.State.IsStarting() {
			continue
		}
		line := fmt.Sprintf("%s/%s %s %ds", s.Toolbox, s.Name, st.State, int(since.Seconds()))
		if words := s.LastWords(); len(words) > 0 {
			line += ": " + words[len(words)-1].String()
		}
		lines = append(lines, line+"\n")
	}
	return lines
}
