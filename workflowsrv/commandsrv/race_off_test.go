//go:build !race

package commandsrv_test

// raceEnabled says that the race detector slows everything down.
const raceEnabled = false
