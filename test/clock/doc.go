// Package clock holds that a wall clock which is set while workbench runs decides nothing but what is a date: row 57 of
// the tries that group G of the faults is made of. No process can be given a wall clock of its own, so the tests are
// built with a runtime of Go whose clock they set. Make chaos does that, on Linux and amd64; it takes minutes, since
// all is built anew.
package clock
