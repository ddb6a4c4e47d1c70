package commandhost

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Bounds of the requests of commands.
const (
	requestTime = 30 * time.Second // where the command says no other
	maxAnswer   = 4 << 20
)

// A requester makes the HTTP requests of commands. It follows no redirects: where they lead nobody has configured.
type requester struct{ client http.Client }

func newRequester(client *http.Client) *requester {
	r := &requester{client: *client}
	r.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return r
}

// Do implements command.HTTPRunner.
func (r *requester) Do(ctx context.Context, q command.HTTPRequest) (int, []byte, error) {
	limit := cmp.Or(q.Timeout, requestTime)
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
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("%s: %w", req.URL.Host, err)
}

// programs run the processes of commands.
type programs struct{ child.Runner }

// Run implements command.ProcessRunner.
func (p programs) Run(ctx context.Context, q command.ProcessRequest) ([]byte, error) {
	return p.Runner.Run(ctx, child.Program(q))
}
