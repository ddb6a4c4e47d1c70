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
	testscript.RunT(inPlace{t}, forScripts(testscript.Params{Files: []string{filepath.Join("testdata", "faults", name+".txtar")}}))
}

// inPlace runs a script as its test, and not as another that waits until one of those that run at once has ended.
type inPlace struct{ *testing.T }

func (inPlace) Parallel()     {}
func (inPlace) Verbose() bool { return testing.Verbose() }
func (a inPlace) Run(name string, script func(testscript.T)) {
	a.T.Run(name, func(t *testing.T) { script(inPlace{t}) })
}

func TestFaultG86_Terminal(t *testing.T) { playFault(t, "G86_terminal") }

func TestFaultU1_SlowStart(t *testing.T)    { playFault(t, "U1_slow_start") }
func TestFaultU5_BadEntry(t *testing.T)     { playFault(t, "U5_bad_entry") }
func TestFaultU8_LineEnds(t *testing.T)     { playFault(t, "U8_line_ends") }
func TestFaultU13_NothingLeft(t *testing.T) { playFault(t, "U13_nothing_left") }
func TestFaultU14_SaidOnce(t *testing.T)    { playFault(t, "U14_once") }
func TestFaultU20_NoneKept(t *testing.T)    { playFault(t, "U20_none_kept") }
