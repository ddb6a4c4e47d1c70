package runs_test

import (
	"math/rand/v2"
	"testing"

	"github.com/mcp-workbench/workbench/internal/pgtest"
)

// When the power of the machine with PostgreSQL is cut, no answer is lost that was given: each time its disk is left
// with what had to be on it then, and no more.
func TestPowerCutOfPostgres(t *testing.T) {
	if !atLength() {
		t.Skip("it takes minutes: make chaos")
	}
	var own pgtest.Server
	place := "postgres:" + own.Database(t)
	t.Cleanup(own.Stop)
	if err := own.Base(); err != nil {
		t.Fatal(err)
	}
	saw := newWitness(t, place)
	for range 30 {
		if err := own.Run(); err != nil {
			t.Fatal(err)
		}
		cmd := other(t, place, saw.lines, "1000000", "")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		words, most := 0, 1+rand.N(200)
		saw.hears(out, func() {
			if words++; words != most {
				return
			}
			// A server that is gone would be told of as an error by a program that still runs.
			if err := pgtest.Halt(cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			if err := own.CutPower(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Process.Kill()
		})
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("got %v, want it killed", err)
		}
	}
	if err := own.Run(); err != nil {
		t.Fatal(err)
	}
	saw.walksAll()
}
