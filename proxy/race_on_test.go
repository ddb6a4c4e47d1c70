//go:build race

package proxy_test

// raceEnabled says that the race detector slows everything down.
const raceEnabled = true
