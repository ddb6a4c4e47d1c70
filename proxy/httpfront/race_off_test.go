//go:build !race

package httpfront_test

// raceEnabled says that the race detector slows everything down.
const raceEnabled = false
