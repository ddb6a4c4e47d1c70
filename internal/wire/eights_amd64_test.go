package wire_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// sameByEights checks that eight blocks at once and one after the other come to the same for the object or array at start.
func sameByEights(t *testing.T, b []byte, start int) (all, taken int) {
	t.Helper()
	all, taken, err := wire.Eights(b, start, 1)
	if err != nil {
		t.Fatalf("%q at %d: %v", b, start, err)
	}
	return all, taken
}

// Whole messages with a few bytes changed.
func TestEightsOfDamaged(t *testing.T) {
	const changes = "\"\"\\\\{}[],:: \n0159-+.eEtfnulax\x00\x1f\x80\xbf\xc3\xe2\xed\xf0\xff"
	r := rand.New(rand.NewPCG(1, 2))
	source, err := os.ReadFile("scan.go")
	if err != nil {
		t.Fatal(err)
	}
	spread := bytes.ReplaceAll(tools(12), []byte(`,"`), []byte(" ,\n\t\""))
	literals := bytes.ReplaceAll(tools(12), []byte(`"object"`), []byte("true,\"a\":[false,null,false,true, null ]"))
	for name, raw := range map[string][]byte{
		"tools": tools(12), "described": described(8), "numbers": numbers(700), "code": result(4000, string(source[:4000])),
		"foreign": result(4000, foreign), "text": result(4000, prose), "spread": spread, "literals": literals,
		"escapes": result(4000, "\\\"\u0001\\\\x\"\u0002\u0003/"), "short": result(700, "a \"b\"\n"),
	} {
		t.Run(name, func(t *testing.T) {
			start := bytes.Index(raw, []byte(`"result":`)) + len(`"result":`)
			if all, taken := sameByEights(t, raw, start); wire.HasEights && (all == 0 || taken < all) {
				t.Errorf("of %d eights %d are taken", all, taken)
			}
			for range 3000 {
				b := append(bytes.Repeat([]byte(" "), r.IntN(64)), raw...)
				at := bytes.Index(b, []byte(`"result":`)) + len(`"result":`)
				for range r.IntN(3) {
					at := at + 1 + r.IntN(len(b)-at-1)
					switch c := changes[r.IntN(len(changes))]; r.IntN(3) {
					case 0:
						b[at] = c
					case 1:
						b = append(b[:at], b[at+1:]...)
					case 2:
						b = append(b[:at], append([]byte{c}, b[at:]...)...)
					}
				}
				sameByEights(t, b, at)
				sameByBlocks(t, b, at, 1)
			}
		})
	}
}

// Small values over the end of the first eight.
func TestEightsOverEnds(t *testing.T) {
	for _, value := range values() {
		if len(value) > 200 {
			continue
		}
		for before := 8*64 - len(value) - 2; before <= 8*64+2; before++ {
			for _, front := range []string{`["` + strings.Repeat("x", before-4) + `",`, "[" + strings.Repeat("1,", (before-1)/2) + strings.Repeat(" ", (before-1)%2)} {
				text := []byte(strings.Repeat(" ", wire.BlocksFrom) + front + value + `,{"a":[` + strings.Repeat("true,", 250) + "1]}]")
				sameByBlocks(t, text, wire.BlocksFrom, 1)
				sameByEights(t, text, wire.BlocksFrom)
			}
		}
	}
}

func FuzzEights(f *testing.F) {
	for _, value := range values() {
		f.Add([]byte(value), 300)
	}
	f.Fuzz(func(t *testing.T, value []byte, before int) {
		text := fmt.Appendf(nil, "%*s[[%s", wire.BlocksFrom, "", strings.Repeat(`"a",`, before&255))
		text = append(append(text, value...), `,{"a":[`+strings.Repeat("true,", 250)+"1]}]]"...)
		sameByBlocks(t, text, wire.BlocksFrom, 1)
		sameByEights(t, text, wire.BlocksFrom)
	})
}
