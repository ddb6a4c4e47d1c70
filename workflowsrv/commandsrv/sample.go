package commandsrv

import "context"

// A sampler asks the model of the client; see Options.Sampled.
type sampler func(ctx context.Context, params []byte) (result []byte, err error)

// within gives a sampler that asks only as long as somebody waits for the turn.
func (s sampler) within(waiting context.Context) sampler {
	if s == nil {
		return nil
	}
	return func(ctx context.Context, params []byte) ([]byte, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(waiting, func() { cancel(context.Cause(waiting)) })()
		return s(ctx, params)
	}
}

// agentFor is the agent of a caller: ours, or else one that asks the model of
// its client; nil if there is neither.
func (s *Server) agentFor(c *caller) Agent {
	if s.opts.Agent != nil || s.opts.Sampled == nil || c.sample == nil {
		return s.opts.Agent
	}
	return s.opts.Sampled(c.sample)
}
