package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

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
	limit := cmp.Or(q.Timeout, bindingTime)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("there was no answer within %s; whether the request was carried out is not known", limit))
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
		return 0, nil, unanswered(ctx, req, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return 0, nil, unanswered(ctx, req, err)
	case len(body) > maxAnswer:
		return 0, nil, fmt.Errorf("%s: the answer is longer than %d bytes", req.URL.Host, maxAnswer)
	}
	return resp.StatusCode, body, nil
}

// unanswered says why there is no answer, without the values in the address.
func unanswered(ctx context.Context, req *http.Request, err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("%s: %w", req.URL.Host, err)
}

// programs run the processes of commands.
type programs struct{ env *environment }

// errTooMuch ends a program that writes without end.
var errTooMuch = fmt.Errorf("it wrote more than %d bytes and was stopped", maxAnswer)

// Run implements command.ProcessRunner. Nothing of the process is left when it
// returns.
func (p programs) Run(ctx context.Context, q command.ProcessRequest) ([]byte, error) {
	limit := cmp.Or(q.Timeout, bindingTime)
	ctx, done := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not end within %s and was stopped", limit))
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	process, err := p.env.guard.Start(child.Spec{Command: q.Argv[0], Args: q.Argv[1:], Env: append(child.SafeEnv(p.env.lookup), q.Env...)})
	if err != nil {
		return nil, err
	}
	var out []byte
	var pipes sync.WaitGroup // both end soon after the process
	pipes.Go(func() {
		_, _ = process.Stdin().Write(q.Stdin) // one that does not want it all may still do its work
		_ = process.Stdin().Close()
	})
	pipes.Go(func() {
		out, _ = io.ReadAll(io.LimitReader(process.Stdout(), maxAnswer+1))
		if len(out) > maxAnswer {
			cancel(errTooMuch)
		}
	})
	var stopped error
	select {
	case <-process.Done():
		pipes.Wait()
	case <-ctx.Done():
		stopped = context.Cause(ctx)
	}
	left := process.Stop(context.WithoutCancel(ctx), child.Grace{EOF: -1})
	pipes.Wait()
	switch exit := process.Exit(); {
	case stopped != nil:
		return nil, errors.Join(stopped, left)
	case len(out) > maxAnswer:
		return nil, errTooMuch
	case exit.Code != 0:
		if tail := process.Tail(); len(tail) > 0 {
			return nil, fmt.Errorf("%s; its last words: %q", exit, tail)
		}
		return nil, errors.New(exit.String())
	}
	return out, left
}
