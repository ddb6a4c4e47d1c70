package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// playFault plays the script of a fault.
func playFault(t *testing.T, name string) {
	t.Helper()
	t.Parallel()
	testscript.RunT(atOnce{t}, forScripts(testscript.Params{Files: []string{filepath.Join("testdata", "faults", name+".txtar")}}))
}

// atOnce runs a script in the place that its test has among those that run at once, and not behind all that wait for one.
type atOnce struct{ *testing.T }

func (atOnce) Parallel()     {}
func (atOnce) Verbose() bool { return testing.Verbose() }
func (a atOnce) Run(name string, script func(testscript.T)) {
	a.T.Run(name, func(t *testing.T) { script(atOnce{t}) })
}

func TestFaultG86_Terminal(t *testing.T) { playFault(t, "G86_terminal") }

func TestFaultU1_SlowStart(t *testing.T)    { playFault(t, "U1_slow_start") }
func TestFaultU5_BadEntry(t *testing.T)     { playFault(t, "U5_bad_entry") }
func TestFaultU8_LineEnds(t *testing.T)     { playFault(t, "U8_line_ends") }
func TestFaultU13_NothingLeft(t *testing.T) { playFault(t, "U13_nothing_left") }
func TestFaultU14_SaidOnce(t *testing.T)    { playFault(t, "U14_once") }
func TestFaultU20_NoneKept(t *testing.T)    { playFault(t, "U20_none_kept") }
