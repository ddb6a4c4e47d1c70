//go:build !race

package script_test

// raceEnabled says that the race detector slows everything down.
const raceEnabled = false
