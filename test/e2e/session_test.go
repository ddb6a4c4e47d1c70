package e2e

import (
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// session is a client in front of a workbench with all servers, for which the toolbox dev was opened.
type session struct {
	*bed
	client *wiretest.Client
	opened opened
	result []byte // of opening dev
}

// TestSession is what tests have in common that need a client with all servers open and leave it so: a start of the
// servers costs more than most of them.
func TestSession(t *testing.T) {
	s := session{bed: newBed(t)}
	s.client, s.opened, s.result = announcedTo(t, s.bed, s.config("auto"), "dev")
	for _, test := range []struct {
		name string
		run  func(*testing.T, session)
	}{
		{"refusals", testRefusals},
		{"open result", testOpenResult},
		{"lists", testLists},
		{"reads", testReads},
		{"calls", testCalls},
		{"progress", testProgress},
		{"large results", testLargeResults},
		{"ids", testIDs},
		{"bad input", testBadInput},
		{"second program", testSecondProgram},
		{"server dies", testServerDies},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, session{bed: s.in(t), client: s.client.In(t), opened: s.opened, result: s.result})
		})
	}
}
