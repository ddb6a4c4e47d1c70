package main

import (
	"context"
	"fmt"
	"time"
)

// steps are what is timed of a client's first minute, and the names of their rows.
func steps() []string { return []string{"initialize", "open", "list", "call"} }

// dimension is something of which there can be more.
type dimension struct {
	name string // of what there are more
	ns   []int
	// begin starts a workbench with n of them.
	begin func(ctx context.Context, n int) (*grown, error)
}

// grown is a workbench with many of something, and a client that is about to greet it.
type grown struct {
	*conversation
	client caller
	took   time.Duration // to where it can be greeted
	way    way
	end    func()
}

// growthWhat is the row of a step with n of a dimension.
func growthWhat(d dimension, n int, step string) string {
	return fmt.Sprintf("%s %d: %s", d.name, n, step)
}

// dimensions are those that make workbench cost more, if anything does.
func (b *bench) dimensions() []dimension {
	return []dimension{
		{"servers", b.plan.servers, b.withServers},
		{"tools", b.plan.growTools, b.withTools},
		{"sessions", b.plan.growSessions, b.withSessions},
	}
}

// growth measures what a client waits for, and what is resident then, with ever more servers in the configuration,
// tools of its server, and sessions of others. The time of initialize is that from the start of the process where the
// client is alone.
func (b *bench) growth(ctx context.Context) error {
	for _, d := range b.dimensions() {
		for _, n := range d.ns {
			if !b.wanted(growthWhat(d, n, "call"), nameFront) {
				continue
			}
			b.say(fmt.Sprintf("%d %s", n, d.name))
			for range b.series {
				if err := b.grow(ctx, d, n); err != nil {
					return fmt.Errorf("%d %s: %w", n, d.name, err)
				}
			}
		}
	}
	return nil
}

func (b *bench) grow(ctx context.Context, d dimension, n int) error {
	g, err := d.begin(ctx, n)
	if err != nil {
		return err
	}
	defer func() {
		g.end()
		_ = g.close() // what it did until now has been measured
	}()
	took := func(step string, d2 time.Duration) {
		b.report.row(growthWhat(d, n, step), nameFront).add(p50, micros(d2))
	}
	begun := time.Now()
	if err := greet(g.client); err != nil {
		return g.fault(err)
	}
	took("initialize", g.took+time.Since(begun))
	begun = time.Now()
	if err := open(g.client); err != nil {
		return g.fault(err)
	}
	took("open", time.Since(begun))
	begun = time.Now()
	if _, err := toolNames(g.client); err != nil {
		return g.fault(err)
	}
	took("list", time.Since(begun))
	q, err := answerOf(g.client, g.way, "200 B")
	if err != nil {
		return g.fault(err)
	}
	calls, err := g.client.Sequence(q, effort{calls: 20 * b.sequence.calls})
	if err != nil {
		return g.fault(err)
	}
	r := b.report.row(growthWhat(d, n, "call"), nameFront)
	r.addTimes(calls)
	if mb, ok := resident(g.cmd.Process.Pid); ok {
		r.add(memory, mb)
	}
	return nil
}

// alone starts a workbench whose only client is ours.
func alone(ctx context.Context, argv []string) (*grown, error) {
	f := front{name: nameFront, argv: argv}
	begun := time.Now()
	p, err := start(ctx, f.argv, nil)
	if err != nil {
		return nil, err
	}
	client := newStdioClient(p.pipes)
	return &grown{
		conversation: &conversation{front: f, caller: client, process: p},
		client:       client, took: time.Since(begun), end: func() {},
	}, nil
}

// withServers has n servers in the configuration, in toolboxes of a hundred, beside a toolbox with one.
func (b *bench) withServers(ctx context.Context, n int) (*grown, error) {
	boxes := map[string]any{toolboxName: map[string]any{
		"description": "What is measured", "mcpServers": map[string]any{serverName: entry(b.child())},
	}}
	for i := 1; i < n; i += 100 {
		servers := make(map[string]any)
		for k := i; k < min(i+100, n); k++ {
			servers[fmt.Sprintf("%s-%d", serverName, k)] = entry(b.child("--mute"))
		}
		boxes[fmt.Sprintf("%s-%d", toolboxName, i)] = map[string]any{"description": "Servers that are not started", "mcpServers": servers}
	}
	path, err := b.write(fmt.Sprintf("servers-%d", n), map[string]any{"toolboxes": boxes})
	if err != nil {
		return nil, err
	}
	return alone(ctx, b.serving(path))
}

// withTools has a server with n tools.
func (b *bench) withTools(ctx context.Context, n int) (*grown, error) {
	argv, err := b.serve(fmt.Sprintf("tools-%d", n), b.child("--tools", fmt.Sprint(n-len(answers()))), false)
	if err != nil {
		return nil, err
	}
	return alone(ctx, argv)
}

// withSessions has n sessions, ours among them, over HTTP.
func (b *bench) withSessions(ctx context.Context, n int) (*grown, error) {
	// What a client is told of opened tools it has to list again before it gets its answer, which ours over HTTP does
	// only where it listens.
	config := toolboxes(map[string]any{}, entry(b.child()))
	config["toolMode"] = "proxy"
	path, err := b.write("sessions-more", config)
	if err != nil {
		return nil, err
	}
	addresses, err := freeAddresses(1)
	if err != nil {
		return nil, err
	}
	c, err := b.gateway(b.serving(path), addresses[0], "--max-sessions", fmt.Sprint(n+1)).begin(ctx)
	if err != nil {
		return nil, err
	}
	first := c.caller.(*httpClient) // one of the others, like all that begin on its connection
	g := &grown{conversation: c, way: useTool, end: func() {}}
	for range n - 2 {
		if _, err := beginResting(first); err != nil {
			return nil, c.fault(err)
		}
	}
	own := first.another()
	if _, err := own.dial(); err != nil {
		_ = c.close()
		return nil, err
	}
	g.client, g.end = own, own.close
	return g, nil
}
