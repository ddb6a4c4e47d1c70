// Package atonce says how many tests of a package run beside each other. Go has as many run as there are processors,
// which is right for tests that compute. Tests that wait, for a process, a time-out or a server, leave the processors
// idle in that number.
package atonce

import (
	"flag"
	"strconv"
)

// Tests has n tests of a package run at once, of those that call [testing.T.Parallel]. A number on the command line
// prevails. Tests is called by TestMain, before the tests run.
func Tests(n int) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if said {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err) // this is not the program of a test
	}
}
