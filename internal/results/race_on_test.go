//go:build race

package results_test

// raceEnabled says that the race detector slows everything down.
const raceEnabled = true
