// Package house is three files, two of which need each other, and a type of many fields: what the command is tested on.
package house

import "sync"

type crowded struct {
	mu                                       sync.Mutex
	a, b, c, d, e, f, g, h, i, j, k, l, last int
}

func (c *crowded) first() int { return c.second() }
