package house

func (c *crowded) second() int { return c.a }
