package criteria_test

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

func BenchmarkEval(b *testing.B) {
	c, err := criteria.ParseCondition(decode(b, `{"and":[{"var":"path","equals":"Epic"},{"or":[{"var":"size","gte":3},{"var":"force"}]}]}`))
	if err != nil {
		b.Fatal(err)
	}
	context := object(b, `{"path":"Epic","size":4}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Eval(context, criteria.Strict); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheck judges an output of a page by the kinds of rules real files have.
func BenchmarkCheck(b *testing.B) {
	c := parse(b, `[{"type":"contains","value":"Authorization","message":"m"},{"type":"regex","pattern":"(?i)##?\\s*Rollback:?","message":"m"},
		{"type":"length","min":50,"message":"m"},{"or":[{"type":"contains","value":"jwt","message":"m"},{"type":"contains","value":"session","message":"m"}]}]`)
	page := strings.Repeat("The middleware reads the header and looks the session up.\n", 40)
	for name, output := range map[string]string{"valid": page + "Authorization\n## Rollback: none", "invalid": page} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Check(b.Context(), output, nil, criteria.Options{})
			}
		})
	}
}

func BenchmarkCheckSchema(b *testing.B) {
	c := parseSchema(b, endpoint)
	b.ReportAllocs()
	for b.Loop() {
		c.Check(b.Context(), `{"endpoint":"/api/x","method":"GET","tags":["ab","cd"],"limit":3}`, nil, criteria.Options{})
	}
}

func BenchmarkParse(b *testing.B) {
	v := decode(b, `[{"type":"regex","pattern":"(?i)##?\\s*Title:?","message":"m"},{"type":"schema","message":"m","schema":`+endpoint+`}]`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := criteria.Parse(v); err != nil {
			b.Fatal(err)
		}
	}
}
