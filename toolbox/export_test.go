package toolbox

import "time"

// Failures is how a server's failures are counted.
type Failures struct{ backoff }

// Failed notes a failure; Served that the server was ready for up before it.
func (f *Failures) Failed(now time.Time) (wait time.Duration, open bool) { return f.failed(now) }
func (f *Failures) Served(up time.Duration)                              { f.served(up) }
