package main

import (
	"context"
	"fmt"
	"regexp"
	"time"
)

// crowdWidth is how many calls are under way at once where calls/s are counted; tests have fewer.
const crowdWidth = 64

// plan says how long everything is measured.
type plan struct {
	rounds int // of calls, the fronts taking turns
	crowds int // every so many rounds, from the first on, have a crowd too
	// kindRounds are those of calls with each kind of result, and kindSequence is what is measured in each: many short
	// ones, since what disturbs a machine for a moment is then shared by the fronts.
	kindRounds   int
	kindSequence effort
	sequence     effort        // of one call at a time
	crowd        effort        // of many
	width        int           // how many calls a crowd is
	slow         time.Duration // a call that takes longer is measured in one round, and not in a crowd; 0 for none
	alike        int           // times that processes are made which differ in one thing only
	series       int           // rounds of starts
	starts       int           // starts in a round
	openings     int           // the same, where no p99 counts
	weighed      int           // processes of which the memory is measured
	counted      int           // calls of which the allocations are counted

	settle time.Duration // before memory is read: longer than a workbench takes to give back what it needed for a moment

	active, resting int // sessions over HTTP

	turns         int // turns and lists in a round of the store
	conversations int // that it has

	// servers, growTools and growSessions are how many there are of each where it is measured how cost grows.
	servers, growTools, growSessions []int

	tools   int // in a list: 1,000, as its row says, but for tests
	found   int // are searched: 3,324, as its row says, but for tests
	largest int // size of a result of the kinds: 1 MB, but for tests
}

// bench is one run.
type bench struct {
	programs
	plan
	peers  []string
	only   *regexp.Regexp // what/front of the rows to measure
	report report
	say    func(string) // tells who waits what is being measured
}

// run measures everything that is asked for.
func (b *bench) run(ctx context.Context) error {
	for _, section := range []func(context.Context) error{b.calls, b.recorded, b.through, b.kinds, b.allocations, b.list, b.finds, b.pages, b.everything, b.starts, b.lock, b.sandboxed, b.memory, b.sessions, b.growth} {
		if err := section(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wanted reports whether a row is asked for.
func (b *bench) wanted(what, front string) bool { return b.only.MatchString(what + "/" + front) }

// cell is one front asked one thing again and again: a row of the table.
type cell struct {
	what string
	*conversation
	*request
}

// inTurns starts those fronts that have a row to fill, has ask make their requests, and measures the rows round by round.
func (b *bench) inTurns(
	ctx context.Context, rounds int, fronts []front, whats []string, ask func(c *conversation, what string) (*request, error),
	measure func(cell, *row) error,
) error {
	groups := make([][]cell, len(whats))
	for _, f := range fronts {
		var c *conversation
		for i, what := range whats {
			if !b.wanted(what, f.name) {
				continue
			}
			if c == nil {
				begun, err := f.begin(ctx)
				if err != nil {
					return err
				}
				defer begun.close() // what it did until then has been measured
				c = begun
			}
			q, err := ask(c, what)
			if err != nil {
				return c.fault(err)
			}
			groups[i] = append(groups[i], cell{what, c, q})
		}
	}
	for _, cells := range groups {
		for _, c := range cells {
			b.report.row(c.what, c.name)
		}
	}
	return b.takeTurns(rounds, groups, measure)
}

// takeTurns measures the cells round by round. Each round begins with another front and every second goes backwards, so
// that none always comes after the same.
func (b *bench) takeTurns(rounds int, groups [][]cell, measure func(cell, *row) error) error {
	for round := range rounds {
		for _, cells := range groups {
			for i := range cells {
				if round%2 == 1 {
					i = len(cells) - 1 - i
				}
				c := cells[(i+round)%len(cells)]
				if err := measure(c, b.report.row(c.what, c.name)); err != nil {
					return c.fault(fmt.Errorf("%s: %w", c.what, err))
				}
			}
		}
	}
	return nil
}

// isSlow reports whether a row has all that is measured of slow calls.
func (b *bench) isSlow(r *row) bool {
	return b.slow > 0 && len(r.figures[p50]) > 0 && r.figures[p50][0] > micros(b.slow)
}

// bothWays measures one call at a time and many at once.
func (b *bench) bothWays(c cell, r *row) error {
	if b.isSlow(r) {
		return nil
	}
	if err := b.oneByOne(c, r); err != nil {
		return err
	}
	return b.crowded(c, r)
}

// anew measures fronts that differ in one thing only. Their processes are made some times, since of two processes of
// one program one can stay the faster by as much as that thing costs.
func (b *bench) anew(
	ctx context.Context, fronts []front, whats []string, ask func(c *conversation, what string) (*request, error),
	measure func(cell, *row) error,
) error {
	for range b.alike {
		if err := b.inTurns(ctx, (b.rounds+b.alike-1)/b.alike, fronts, whats, ask, measure); err != nil {
			return err
		}
	}
	return nil
}

// oneByOne measures one call at a time.
func (b *bench) oneByOne(c cell, r *row) error {
	took, err := c.Sequence(c.request, b.sequence)
	if err != nil {
		return err
	}
	r.addTimes(took)
	return nil
}

// crowded measures many calls at once, and what they cost the front.
func (b *bench) crowded(c cell, r *row) error {
	return c.costs(r, func() (int, error) { return b.rated(c, r) })
}

// costs measures what some calls cost the front, if they are made.
func (c cell) costs(r *row, make func() (calls int, err error)) error {
	before, ok := cpuTime(c.cmd.Process.Pid)
	calls, err := make()
	if err != nil || calls == 0 {
		return err
	}
	if after, still := cpuTime(c.cmd.Process.Pid); ok && still {
		r.add(cpu, micros(after-before)/float64(calls))
	}
	return nil
}

// rated measures many calls at once, if that is due in the round which oneByOne has begun, and returns how many there
// were.
func (b *bench) rated(c cell, r *row) (calls int, err error) {
	if (len(r.figures[p50])-1)%max(1, b.crowds) != 0 || b.isSlow(r) {
		return 0, nil
	}
	calls, took, err := c.Crowd(c.request, b.width, b.crowd)
	if err == nil {
		r.add(rate, float64(calls)/took.Seconds())
	}
	return calls, err
}
