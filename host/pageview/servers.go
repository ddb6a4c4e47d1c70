package pageview

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/status"
)

// servers has servers enabled, logged in to and restarted.
type servers struct {
	served *served
	others peers
	run    commands
}

// in gives the flag by which a command is about the configuration of the workbench that the query names, if that has
// another one than the page: a name means another server there.
func (s servers) in(ctx context.Context, a *asked) []string {
	own := s.served.now()
	if !s.others.local || a.PID == 0 || a.PID == own.PID {
		return nil
	}
	for _, p := range s.others.others() {
		w, err := p.Get(ctx)
		if err == nil && w.PID == a.PID && w.Config != own.Config && w.Config != "" && w.Project == "" {
			return []string{"--config=" + w.Config}
		}
	}
	return nil
}

// able enables a server of the configuration, or disables it.
func (s servers) able(ctx context.Context, _ *page.Query, a *asked) (any, error) {
	command := "disable"
	if a.Enabled {
		command = "enable"
	}
	return nil, s.run(ctx, io.Discard, about(append(s.in(ctx, a), command), a.Toolbox+"/"+a.Server)...)
}

// login logs in to a remote server: the viewer is told the address to open, and waits until that was done.
func (s servers) login(ctx context.Context, q *page.Query, a *asked) (any, error) {
	if !s.others.local {
		return nil, &page.Refusal{Reason: errors.New("a login needs a browser of the machine that the gateway runs on"),
			Hint: "there, run: workbench login " + shellword.Word(a.Toolbox+"/"+a.Server)}
	}
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.run(ctx, in, about(append(s.in(ctx, a), "login"), a.Toolbox+"/"+a.Server)...)
		_ = in.Close()
		ended <- err
	}()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if err := q.Note(map[string]string{"address": lines.Text()}); err != nil {
			break
		}
	}
	_ = out.Close()
	return nil, <-ended
}

// restart has a server started anew, or tried at once, in the workbench that the query names.
func (s servers) restart(ctx context.Context, q *page.Query, a *asked) (any, error) {
	gone := fmt.Errorf("%s/%s is no longer open there", a.Toolbox, foreign.NewName(a.Server))
	if !s.others.local || a.PID == s.served.now().PID {
		found, err := s.served.Restart(q.Principal, a.Toolbox, a.Server)
		if !found && err == nil {
			err = gone
		}
		return nil, err
	}
	for _, p := range s.others.others() {
		if w, err := p.Get(ctx); err != nil || w.PID != a.PID {
			continue
		}
		done, err := p.Restart(ctx, a.Toolbox, a.Server)
		if errors.Is(err, status.ErrNone) {
			return nil, gone
		}
		for _, one := range done {
			if one.Error != "" {
				err = errors.Join(err, errors.New(foreign.NewText(one.Error).String()))
			}
		}
		return nil, err
	}
	return nil, gone
}
