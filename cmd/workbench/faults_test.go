package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// playFault plays the script of a fault.
func playFault(t *testing.T, name string) {
	t.Helper()
	playScripts(t, testscript.Params{Files: []string{filepath.Join("testdata", "faults", name+".txtar")}})
}

func TestFaultG86_Terminal(t *testing.T) { playFault(t, "G86_terminal") }
