package model

import "time"

// MaxReply is how long a reply may be, in bytes.
const MaxReply = maxReply

// SetRest sets the rest before the second try.
func (c *Client) SetRest(d time.Duration) { c.rest = d }
