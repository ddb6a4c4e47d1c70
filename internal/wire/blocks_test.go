package wire_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// sameByBlocks checks that going by blocks and going byte by byte come to the same for the object or array at start.
// Going by blocks may leave one to the other way in which more than 64 are nested.
func sameByBlocks(t *testing.T, b []byte, start, below int) {
	t.Helper()
	if start == len(b) || b[start] != '{' && b[start] != '[' {
		return
	}
	end, ok := wire.Blocks(b, start, below)
	wantEnd, want := wire.Walk(b, start, below)
	if ok && (!want || end != wantEnd) {
		t.Fatalf("%q at %d, %d deep: by blocks it ends at %d, byte by byte it is valid: %v, and ends at %d", b, start, below, end, want, wantEnd)
	}
	if !ok && want && wire.HasBlocks && start >= wire.BlocksFrom && len(b)-start >= wire.BlocksFor && depth(b[start:wantEnd]) <= 64 {
		t.Fatalf("%q at %d, %d deep: not valid by blocks, valid byte by byte", b, start, below)
	}
}

// inBlocks makes texts of a value, in which it lies at every place of a block, goes over the ends of blocks, and is
// followed by what does not matter or breaks it.
func inBlocks(value string, shift int) (texts [][]byte, start int) {
	start = wire.BlocksFrom + shift%64
	front := strings.Repeat(" ", start)
	rest := strings.Repeat("x", wire.BlocksFor)
	for _, s := range []string{
		value + `,"é":[1,"` + rest,
		"[" + value + "]" + rest,
		"[" + value + "," + value + " ,\n" + value + "," + value + "]\xff\"\\" + rest,
		`{"a":` + value + `,"b" : ` + value + `, "c":` + value + "}" + rest,
		value + strings.Repeat(" ", wire.BlocksFor),
		"[[" + value,
	} {
		texts = append(texts, []byte(front+s))
	}
	return texts, start
}

// values are some that are valid, and some that are not.
func values() []string {
	var values []string
	for _, tt := range accepted() {
		values = append(values, tt.raw)
	}
	for _, tt := range refused() {
		values = append(values, tt.raw)
	}
	long := strings.Repeat("x", 61)
	values = append(values,
		"", "{", "[", "}", "]", `{"a":1]`, `["a":1]`, `{"a",1}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,"a":1}`, `[:1]`, `{:1}`, `{"a"::1}`,
		`{"a":1 "b":2}`, `["a" "b"]`, `["a""b"]`, `["a"1]`, `[1"a"]`, `[1 2]`, `[[] []]`, `[{}{}]`, `{"a":{"b":1},"c"}`, `{"a":["b",1],"c":2}`, `[{"b":1},"c":2]`,
		`[{"b":1},"c"]`, `{"a":1,[]:2}`, `{"a":1,2:3}`, `{[]:1}`, `{1:1}`, `{"a":1,"b",2}`, `{"a" : 1 , "b" : [ ] , "c" : { } }`, "[ \t\r\n]", "{ \t\r\n}",
		`[0,-0,00,1]`, `[-01]`, `[01]`, `[1.]`, `[.5]`, `[1.5.5]`, `[1e5]`, `[1e]`, `[1e+]`, `[1e+-1]`, `[1E-05]`, `[1e5.5]`, `[1e5e5]`, `[-]`, `[--1]`, `[+1]`, `[1-1]`, `[1+1]`,
		`[0.0e0]`, `[00.1]`, `[0e1]`, `[1x]`, `[1é]`, `[-a]`, `[123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890e-1234567890]`,
		`[true,false,null]`, `[truefalse]`, `[tru]`, `[truee]`, `[true1]`, `[true"a"]`, `[nullnull]`, `[True]`, `[é]`, `[\u0061]`, `[NaN]`, `[-Infinity]`,
		`["\\","\"","\\\\","\\\"","\/\b\f\n\r\t\u00e9\uD83D"]`, `["\a"]`, `["\U0061"]`, `["\u006"]`, `["\u006g"]`, `["\u00\"6"]`, `["\`+"\n"+`"]`, `["\é"]`, `["\"]`, `["\\\"]`,
		"[\"\x00\"]", "[\"\x1f\"]", "[\"\x7f\"]", "[\"\n\"]", "[\x01]", "[\"\x80\"]", "[\"\xc3\"]", "[\"\xc3\xa9\xa9\"]", "[\"\xe2\x82\"]", "[\"\xed\xa0\x80\"]", "[\"\xf4\x90\x80\x80\"]",
		"[\"\xc0\xaf\"]", "[\"\xe0\x9f\xbf\"]", "[\"\xf0\x8f\xbf\xbf\"]", "[\"\xf5\x80\x80\x80\"]", "[\"\xff\"]", `["日本語","Größe","😀"]`,
		`["`+long+long+`"]`, `{"`+long+long+`":"`+long+long+`"}`, `["`+long+long+`":1]`, `[1,"`+long+`"`+strings.Repeat(" ", 130)+`:2]`, `{"a"`+strings.Repeat(" ", 130)+`:`+strings.Repeat("\n", 70)+`1}`,
		`["`+strings.Repeat(`\\`, 70)+`"]`, `["`+strings.Repeat(`\\`, 70)+`\"]`, `["`+strings.Repeat(`\u00e9`, 30)+`"]`,
		nested(63), nested(64), nested(65), strings.Repeat(`{"a":`, 62)+"1"+strings.Repeat("}", 62), strings.Repeat(`[{"a":`, 30)+"1"+strings.Repeat("}]", 30),
	)
	return values
}

func TestBlocks(t *testing.T) {
	for _, value := range values() {
		for shift := range 64 {
			texts, start := inBlocks(value, shift)
			for _, text := range texts {
				sameByBlocks(t, text, start, 1)
			}
		}
	}
	for _, below := range []int{wire.MaxDepth - 3, wire.MaxDepth - 2, wire.MaxDepth - 1, wire.MaxDepth} {
		texts, start := inBlocks("[[]]", 0)
		sameByBlocks(t, texts[0], start, below)
	}
}

// damage changes at most two bytes behind the one at from.
func damage(r *rand.Rand, b []byte, from int) []byte {
	const changes = "\"\"\\\\{}[],:: \n\r\t0159-+.eEtfnulaxAFgG/|\x00\x08\x19\x1a\x1d\x1f\x80\xbf\xc3\xe2\xed\xf0\xff"
	for range r.IntN(3) {
		at := from + 1 + r.IntN(len(b)-from-1)
		switch c := changes[r.IntN(len(changes))]; r.IntN(4) {
		case 0:
			b[at] = c
		case 1:
			b = append(b[:at], b[at+1:]...)
		case 2:
			b = append(b[:at], append([]byte{c}, b[at:]...)...)
		case 3:
			b[at] ^= 1 << r.IntN(8)
		}
	}
	return b
}

// Whole messages with a few bytes changed, so that what is wrong is anywhere.
func TestBlocksOfDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	many := []byte(`{"jsonrpc":"2.0","id":1,"result":[[0`)
	for range 60 {
		many = fmt.Appendf(many, `,%v,{"a":[%d,-0.5e-3,true ,null]},%.3e`, r.Float64(), r.IntN(1000), r.NormFloat64())
	}
	many = append(many, "]]}"...)
	valid := 0
	for _, raw := range [][]byte{tools(4), result(900, lines), result(900, foreign), many} {
		start := bytes.Index(raw, []byte(`"result":`)) + len(`"result":`)
		for range 5_000 { // the fuzz test does more
			b := bytes.Clone(raw[r.IntN(8):])
			at := bytes.Index(b, []byte(`"result":`)) + len(`"result":`)
			b = damage(r, b, at)
			sameByBlocks(t, b, at, 1)
			if _, ok := wire.Walk(b, at, 1); ok {
				valid++
			}
		}
		sameByBlocks(t, raw, start, 1)
	}
	if valid < 2_500 || valid > 17_500 {
		t.Errorf("%d of 20000 are valid, want some of each", valid)
	}
}

func FuzzBlocks(f *testing.F) {
	for _, tt := range accepted() {
		f.Add([]byte(tt.raw), 0)
	}
	for _, tt := range refused() {
		f.Add([]byte(tt.raw), 1)
	}
	f.Add([]byte(`{"a":[1.5e-3,-0,"\u00e9\\\""],"b":{"é":true}}`), 40)
	f.Fuzz(func(t *testing.T, value []byte, shift int) {
		texts, start := inBlocks(string(value), shift&63)
		for _, text := range texts {
			sameByBlocks(t, text, start, 1)
		}
	})
}
