package wire_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// JSONTestSuite has a file for each thing that parsers of JSON are known to get wrong: y_ is JSON, n_ is not, and of i_
// RFC 8259 lets the parser decide. The folder is that of its test_parsing, of a checkout of
// github.com/nst/JSONTestSuite.
func TestJSONTestSuite(t *testing.T) {
	const variable = "WORKBENCH_JSONTESTSUITE"
	folder := os.Getenv(variable)
	if folder == "" {
		t.Skip(variable + " names no folder")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) < 300 {
		t.Fatalf("%s: got %d files, %v, want those of test_parsing", folder, len(files), err)
	}
	accepted := 0
	for _, file := range files {
		name := filepath.Base(file)
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		valid := wire.Valid(raw)
		if name[0] == 'y' && !valid || name[0] == 'n' && valid {
			t.Errorf("%s: got valid: %v", name, valid)
		}
		if name[0] == 'i' && valid {
			accepted++
			t.Log("accepts ", name)
		}
		var m wire.Message
		if err := wire.Scan(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":%s}`, raw), &m); (err == nil) != valid {
			t.Errorf("%s as a result: got %v, valid: %v", name, err, valid)
		}
		for shift := range 64 {
			texts, start := inBlocks(string(raw), shift)
			for _, text := range texts {
				sameByBlocks(t, text, start, 1)
			}
		}
	}
	t.Logf("%d files; of those that a parser may decide about, %d are accepted", len(files), accepted)
}
