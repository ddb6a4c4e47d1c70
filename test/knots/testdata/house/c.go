package house

func third(c *crowded) int { return c.first() }
