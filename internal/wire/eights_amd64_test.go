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

// sameByEights checks that eight blocks at once and one after the other come to the same for the object or array at start,
// and byte by byte too.
func sameByEights(t *testing.T, b []byte, start, below int) (all, taken int) {
	t.Helper()
	all, taken, err := wire.Eights(b, start, below)
	if err != nil {
		t.Fatalf("%q at %d: %v", b, start, err)
	}
	sameByBlocks(t, b, start, below)
	wire.WithoutEights(func() { sameByBlocks(t, b, start, below) })
	return all, taken
}

// Whole messages with a few bytes changed.
func TestEightsOfDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	source, err := os.ReadFile("scan.go")
	if err != nil {
		t.Fatal(err)
	}
	powers := []byte(`{"jsonrpc":"2.0","id":1,"result":[[0`)
	for range 200 {
		powers = fmt.Appendf(powers, ",%.3e,%.0E,-%de5", r.NormFloat64(), r.NormFloat64(), r.IntN(100))
	}
	powers = append(powers, "]]}"...)
	marked := bytes.ReplaceAll(tools(12), []byte("thing"), []byte(`a: [b], {c} \"d\" -1.5e+3 true | \/ \u00aF \\\\`))
	spread := bytes.ReplaceAll(tools(12), []byte(`,"`), []byte(" ,\r\n\t\""))
	literals := bytes.ReplaceAll(tools(12), []byte(`"object"`), []byte("true,\"a\":[false,null,false,true, null ]"))
	for name, raw := range map[string][]byte{
		"tools": tools(12), "described": described(8), "numbers": numbers(700), "code": result(4000, string(source[:4000])),
		"foreign": result(4000, foreign), "text": result(4000, prose), "spread": spread, "literals": literals, "powers": powers, "marked": marked,
		"escapes": result(4000, "\\\"\u0001\\\\x\"\u0002\u0003/"), "short": result(700, "a \"b\"\n"),
	} {
		t.Run(name, func(t *testing.T) {
			start := bytes.Index(raw, []byte(`"result":`)) + len(`"result":`)
			if all, taken := sameByEights(t, raw, start, 1); wire.HasEights && (all == 0 || taken < all) {
				t.Errorf("of %d eights %d are taken", all, taken)
			}
			for range 700 {
				b := append(bytes.Repeat([]byte(" "), r.IntN(64)), raw...)
				at := bytes.Index(b, []byte(`"result":`)) + len(`"result":`)
				sameByEights(t, damage(r, b, at), at, 1)
			}
		})
	}
}

// Small values over the end of the first eight, or alone at its beginning.
func TestEightsOverEnds(t *testing.T) {
	all := values()
	for _, word := range []string{"true", "false", "null"} {
		all = append(all, "["+word+"1]", "["+word+"e,1]", "["+word+word+"]")
		for i := range word {
			for bit := range 8 {
				wrong := []byte(word)
				wrong[i] ^= 1 << bit
				all = append(all, "["+string(wrong)+"]")
			}
		}
	}
	space := strings.Repeat(" ", wire.BlocksFrom)
	for _, value := range all {
		if len(value) > 200 {
			continue
		}
		for before := 8*64 - len(value) - 2; before <= 8*64+2; before++ {
			for _, front := range []string{`["` + strings.Repeat("x", before-4) + `",`, "[" + strings.Repeat("1,", (before-1)/2) + strings.Repeat(" ", (before-1)%2)} {
				for _, behind := range []string{`,{"a":[` + strings.Repeat("true,", 250) + "1]}]", strings.Repeat(`,"a"`, 300) + "]"} {
					text := []byte(space + front + value + behind)
					sameByEights(t, text, wire.BlocksFrom, 1)
				}
			}
		}
		if value != "" && (value[0] == '[' || value[0] == '{') {
			for _, behind := range []string{`,[1,{"a":[true,"x"]}]`, `,"a":[{}]`} {
				text := []byte(space + value + strings.Repeat(behind, 100))
				sameByEights(t, text, wire.BlocksFrom, 1)
			}
		}
	}
	for below := wire.MaxDepth - 70; below <= wire.MaxDepth; below++ {
		for _, deep := range []int{1, 2, 10, 58, 60, 62, 63, 64} {
			text := []byte(space + "[" + strings.Repeat("1,", 240) + strings.Repeat("[", deep) + strings.Repeat("1,", 600) + "1" + strings.Repeat("]", deep) + strings.Repeat(",1", 300) + "]")
			sameByEights(t, text, wire.BlocksFrom, below)
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
		sameByEights(t, text, wire.BlocksFrom, 1)
	})
}
