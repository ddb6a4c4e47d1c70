package runs

import "time"

// Holding gives a run to a process for another time than usual while it calls a tool.
func (o Options) Holding(d time.Duration) Options {
	o.hold = d
	return o
}

// Patient has a call wait for a time or a file for another time than usual.
func (o Options) Patient(d time.Duration) Options {
	o.patience = d
	return o
}
