package httpfront_test

import (
	"os"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestMain(m *testing.M) { os.Exit(wiretest.Main(m, []string{"test/fakeserver"})) }
