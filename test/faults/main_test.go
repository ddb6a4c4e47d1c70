package faults

import (
	"flag"
	"os"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil { // cases spend their time waiting
		panic(err)
	}
	os.Exit(wiretest.Main(m, []string{"cmd/workbench", "test/faults/badchild"}))
}
