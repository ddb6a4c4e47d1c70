package house

import "sync"

type crowded struct {
	mu                                       sync.Mutex
	a, b, c, d, e, f, g, h, i, j, k, l, last int
}

func (c *crowded) first() int { return c.second() }
