package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// Each result is valid JSON of about the size that its row says, and no two are alike.
func TestKindResults(t *testing.T) {
	seen := make(map[string]string)
	for _, k := range kinds() {
		for _, s := range kindSizes() {
			tool, what := kindCall(k.name, s.label)
			result, text := kindResult(tool)
			var r struct{ Content []struct{ Text string } }
			if err := json.Unmarshal(result, &r); err != nil || !utf8.Valid(result) || len(r.Content) != 1 || r.Content[0].Text != text {
				t.Errorf("%s: got %.60q, %v, want the text %.60q", what, result, err, text)
			}
			if len(result) < s.size*9/10 || len(result) > 2*s.size+1000 {
				t.Errorf("%s has %d bytes", what, len(result))
			}
			if other := seen[string(result)]; other != "" {
				t.Errorf("%s and %s are the same", what, other)
			}
			seen[string(result)] = what
		}
	}
	if result, _ := kindResult("answer_text_2GB"); result != nil {
		t.Errorf("got %.60q for a tool that there is not", result)
	}
}

func TestRatios(t *testing.T) {
	var table report
	for i, v := range []float64{10, 10, 10, 20} {
		table.row("10 KB of code", relayFront).add(p50, v)
		table.row("10 KB of code", nameFront).add(p50, []float64{10, 12, 40, 20}[i])
		table.row("10 KB of code", useFront).add(p50, 2*v)
	}
	var b strings.Builder
	if err := printRatios(&b, &table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"10 KB of code, workbench            1.00    1.10            4.00     met",
		"10 KB of code, workbench use_tool            2.00    2.00            2.00  missed",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got\n%s\nwant %s", b.String(), want)
		}
	}
}
