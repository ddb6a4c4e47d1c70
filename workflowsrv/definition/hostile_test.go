package definition_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// hostile gives large files that are made to cost time.
func hostile() map[string]string {
	fill := func(head, tail string, item func(i int) string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; ; i++ {
			text := item(i)
			if b.Len()+len(text)+len(tail)+1 > definition.MaxFileSize/4 {
				break
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(text)
		}
		return b.String() + tail
	}
	const head = `{"id":"hostile","name":"n","description":"d","version":"1.0.0","steps":[`
	long := strings.Repeat("x", 200)
	return map[string]string{
		"wrong steps":  fill(head, "]}", func(int) string { return "7" }),
		"unknown keys": fill(`{"id":"hostile","steps":[],`, "}", func(i int) string { return fmt.Sprintf(`"%s%d":1`, long, i) }),
		"same ids":     fill(head, "]}", func(int) string { return `{"id":"one","title":"t","prompt":"p"}` }),
		"bodies to nobody": fill(head, "]}", func(i int) string {
			return fmt.Sprintf(`{"id":"s-%d","type":"loop","title":"t","loop":{"type":"for","count":1,"maxIterations":1},"body":"nobody-%060d"}`, i, i)
		}),
		"bodies to one": fill(head+`{"id":"one","title":"t","prompt":"p"},`, "]}", func(i int) string {
			return fmt.Sprintf(`{"id":"s-%d","type":"loop","title":"t","loop":{"type":"for","count":1,"maxIterations":1},"body":"one"}`, i)
		}),
		"many variables": fill(head, "]}", func(i int) string {
			return fmt.Sprintf(`{"id":"s-%d","title":"t","prompt":"%s","runCondition":{"var":"v.%d"}}`, i, long, i)
		}),
		"many functions": fill(head, "]}", func(i int) string {
			return fmt.Sprintf(`{"id":"s-%d","title":"t","prompt":"p","functionReferences":["f%d()","g%d()"]}`, i, i, i)
		}),
		"conditions that never hold": fill(head, "]}", func(i int) string {
			var tests []string
			for v := range 6 {
				tests = append(tests, fmt.Sprintf(`{"var":"a%d","equals":1},{"var":"a%d","equals":2}`, v, v))
			}
			return fmt.Sprintf(`{"id":"s-%d","title":"t","prompt":"p","runCondition":{"and":[%s]}}`, i, strings.Join(tests, ","))
		}),
		"one long condition": fill(head+`{"id":"one","title":"t","prompt":"p","runCondition":{"and":[`, "]}}]}", func(i int) string {
			return fmt.Sprintf(`{"var":"a","equals":%d}`, i)
		}),
		"patterns": fill(head+`{"id":"one","title":"t","prompt":"p","validationCriteria":[`, "]}]}", func(i int) string {
			return fmt.Sprintf(`{"type":"regex","pattern":"(a|b|%d)*c{1,20}","message":"m"}`, i)
		}),
		"equal tags": fill(`{"id":"hostile","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","prompt":"p"}],"tags":[`, "]}",
			func(i int) string { return fmt.Sprintf(`"%d"`, i) }),
		"strings": fill(`{"id":"hostile","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","prompt":"p","guidance":[`, "]}]}",
			func(int) string { return `""` }),
	}
}

// TestHostileFiles parses files that are made to cost time. None of them takes long, and none leads to an answer
// without end.
func TestHostileFiles(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			w, err := definition.Parse("w.json", []byte(text))
			faults := faultsOf(err)
			if err == nil {
				faults = w.Warnings
			}
			if len(faults) > 201 {
				t.Errorf("got %d faults, want at most 200 and the number of the others", len(faults))
			}
			for _, f := range faults {
				if len(f.String()) > 1000 {
					t.Errorf("got a fault of %d bytes, want a short one: %.200s", len(f.String()), f)
				}
			}
		})
	}
}
