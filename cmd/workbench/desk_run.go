package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Bounds of what commands do besides calling tools.
const (
	bindingTime = 30 * time.Second // where the command says no other
	maxAnswer   = 4 << 20
)

// A requester makes the HTTP requests of commands, by the proxies of remote
// servers. It follows no redirects: where they lead nobody has configured.
type requester struct{ client *http.Client }

func newRequester(environ []string) requester {
	client := toolbox.RemoteClient(environ)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return requester{client}
}

// Do implements command.HTTPRunner.
func (r requester) Do(ctx context.Context, q command.HTTPRequest) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(q.Timeout, bindingTime))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, q.Method, q.URL, bytes.NewReader(q.Body))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range q.Header {
		req.Header.Set(name, value)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return resp.StatusCode, body, err
}

// programs run the processes of commands.
type programs struct {
	env *environment
	log zerolog.Logger
}

// Run implements command.ProcessRunner.
func (p programs) Run(ctx context.Context, q command.ProcessRequest) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(q.Timeout, bindingTime), errors.New("it took too long and was ended"))
	defer cancel()
	process, err := p.env.guard.Start(child.Spec{Command: q.Argv[0], Args: q.Argv[1:], Env: append(child.SafeEnv(p.env.lookup), q.Env...)})
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = process.Stdin().Write(q.Stdin)
		_ = process.Stdin().Close()
	}()
	type read struct {
		out []byte
		err error
	}
	done := make(chan read, 1)
	go func() {
		out, err := io.ReadAll(io.LimitReader(process.Stdout(), maxAnswer+1))
		done <- read{out, err}
	}()
	var got read
	select {
	case got = <-done:
		select {
		case <-process.Done():
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	ended := ctx.Err() == nil
	stopping, hurry := context.WithCancel(context.WithoutCancel(ctx))
	hurry() // it has ended by itself, or is to end now
	err = process.Stop(stopping, child.Grace{})
	exit := process.Exit()
	switch {
	case !ended:
		return nil, context.Cause(ctx)
	case len(got.out) > maxAnswer:
		return nil, fmt.Errorf("it wrote more than %d bytes", maxAnswer)
	case exit.Code != 0:
		return nil, fmt.Errorf("%s: %s", exit, strings.Join(process.Tail(), "\n"))
	}
	return got.out, err
}
