package wire

import (
	"math/bits"

	"golang.org/x/sys/cpu"
)

const (
	blockSize = 64
	// blocksFrom is where a value is to begin at the least, because classifyText reads what precedes it, and blocksFor
	// how much is to be left of the message, because going byte by byte is faster with less.
	blocksFrom = 8
	blocksFor  = 2 * blockSize
	// batch is how many blocks are classified in one go.
	batch = 16
)

// What is to be known of a block is a word for each class of bytes: a bit each, the first byte's the lowest. The
// vectors of blocks_amd64.s store them in this order.
type (
	textClasses struct {
		quote, backslash uint64
		control          uint64 // below U+0020
		broken           uint64 // where a character is seen not to be UTF-8, at its end or behind it
	}
	escapeClasses struct {
		simple uint64 // what may follow a backslash, u aside
		u, hex uint64
	}
	tokenClasses struct {
		white        uint64
		comma, colon uint64
		open, shut   uint64 // both kinds of bracket
		brace        uint64 // of a bracket, whether it is a brace
		wordClasses
	}
	wordClasses struct {
		digit, zero      uint64
		minus, plus, dot uint64
		exp              uint64 // e and E
	}
)

// classifyText classifies n blocks from p on. It reads three bytes before p too.
//
//go:noescape
func classifyText(p *byte, n int, out *textClasses)

//go:noescape
func classifyEscapes(p *[blockSize]byte, out *escapeClasses)

//go:noescape
func classifyTokens(p *[blockSize]byte, out *tokenClasses)

// eight is grammar.next for eight blocks from p on, of which the first begins at b[at]. It reads the four bytes before
// and behind them too. It returns false where they are not valid, and where they are not for it, because the value ends
// there or is nested deeply. Then *state is of no use.
//
//go:noescape
func eight(state *grammar, p *byte, at int) bool

// hasBlocks says whether the processor has the vectors for blocks, and hasEights whether it has those for eight at once.
var (
	hasBlocks = cpu.X86.HasAVX2
	hasEights = hasBlocks && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VBMI2 &&
		cpu.X86.HasAVX512GFNI && cpu.X86.HasAVX512VPCLMULQDQ && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT
)

// blocks does what walk does for an object or an array, several times as fast, and reports false where that is not
// valid, or not for blocks: then walk tells why.
//
// It does not go from token to token. Vectors classify the bytes, and the grammar is then a matter of words of 64 bits:
// what stands in a string follows from the quotes, and what may follow what from shifted words. Only brackets and
// literals are taken one by one. Where the processor can, eight words are one number of 512 bits (eight), and only the
// last ones, and what eight does not take, are gone through by words. It rests on this:
//
//   - Of a run of ones to which its first bit is added the carry is left behind the
//     run (past): so strings, white space and digits are passed over, all of a block
//     at once.
//   - JSON is valid if each token may stand behind the one before it, brackets match,
//     and braces hold names and brackets none. A string behind an opening brace is
//     a name; one behind a comma is one if a colon follows. So each comma tells by
//     itself whether it stands in an object or an array.
//   - What is wrong is noted where it is or behind it, and nothing depends on the bytes
//     behind, so that what follows the value does not matter.
func blocks(b []byte, i, depth int) (int, bool) {
	if !hasBlocks || len(b)-i < blocksFor || i < blocksFrom {
		return 0, false
	}
	g := grammar{b: b, room: uint64(min(64, MaxDepth-depth))}
	var text [batch]textClasses
	n := 2 // and not eight: many values are small
	for ; len(b)-i >= blockSize; n = batch {
		if n == batch && hasEights && len(b)-i >= 8*blockSize+4 {
			before := g
			if eight(&g, &b[i], i) {
				i += 8 * blockSize
				continue
			}
			g, n = before, 8
		}
		n = min(n, (len(b)-i)/blockSize)
		classifyText(&b[i], n, &text[0])
		for k := range text[:n] {
			if end, done := g.next(&text[k], (*[blockSize]byte)(b[i:]), i); done {
				return end, end > 0
			}
			i += blockSize
		}
	}
	var last [blocksFrom + blockSize]byte // the rest, with what precedes it and white space behind it
	for k := copy(last[:], b[i-blocksFrom:]); k < len(last); k++ {
		last[k] = ' '
	}
	classifyText(&last[blocksFrom], 1, &text[0])
	end, _ := g.next(&text[0], (*[blockSize]byte)(last[blocksFrom:]), i)
	return end, end > 0
}

// grammar is what is known at the end of a block.
type grammar struct {
	b []byte

	levels uint64 // what is open, a bit each, the innermost lowest: 1 for an object
	depth  uint64 // how many these are
	room   uint64 // how many they may be

	escaped uint64 // 1 if the first byte is escaped
	hex     uint64 // the bytes that are to be digits of an escape
	inside  uint64 // all ones in a string

	// Each is 1 if the next token, which may be the first byte, follows:
	afterValue, afterOpen, afterBrace, afterComma uint64
	afterKey, inKey                               uint64 // a string behind a brace or a comma; 1 in it

	inWord  uint64 // 1 in a number or a literal, or behind it
	literal int    // where the last literal ended that was checked
	number  numbers
}

// numbers is what is known of the number that the last block ended in.
type numbers struct {
	whole, zero, part   uint64 // 1 if that goes on, or has ended
	wholeDue, partDue   uint64 // 1 if it is to begin
	powerDue, signedDue uint64 // the same, where a sign is allowed and where not
}

// next takes the block p, which begins at b[at]. It returns done at the end of the value, and the end 0 where that is
// not valid.
func (g *grammar) next(k *textClasses, p *[blockSize]byte, start int) (end int, done bool) {
	quotes, wrong := k.quote, k.broken
	if k.backslash|g.escaped|g.hex != 0 {
		escaped := g.escapes(k.backslash)
		quotes &^= escaped
		var e escapeClasses
		classifyEscapes(p, &e)
		u := escaped & e.u
		hex := u<<1 | u<<2 | u<<3 | u<<4 | g.hex
		g.hex = u>>63 | u>>62 | u>>61 | u>>60
		wrong |= escaped&^(e.simple|e.u) | hex&^e.hex
	}
	in := prefixXor(quotes) ^ g.inside // in a string, the opening quote included
	wrong |= k.control&in | k.backslash&^in
	if quotes == 0 && in != 0 {
		return 0, wrong != 0
	}
	g.inside = uint64(int64(in) >> 63)
	begins, ends := quotes&in, quotes&^in

	var t tokenClasses
	classifyTokens(p, &t)
	out := ^(in | quotes)
	white, comma, colon := t.white&out, t.comma&out, t.colon&out
	open, shut := t.open&out, t.shut&out
	word := out &^ (white | comma | colon | open | shut)
	words, afterWord := uint64(0), uint64(0)
	if word|g.inWord != 0 {
		moved := word<<1 | g.inWord
		words, afterWord = word&^moved, moved&^word
		wrong |= g.words(&t.wordClasses, word, words, start)
		g.inWord = word >> 63
	}

	afterValue, c := past((ends|shut)<<1|g.afterValue|afterWord, white)
	g.afterValue = c | (ends|shut)>>63
	afterOpen := follow(open, white, &g.afterOpen)
	afterBrace := follow(open&t.brace, white, &g.afterBrace)
	afterComma := follow(comma, white, &g.afterComma)
	keyEnds, c := past(begins&(afterBrace|afterComma)|g.inKey, in)
	g.inKey = c
	afterKey := follow(keyEnds, white, &g.afterKey)

	wrong |= (begins | words | open) & afterValue
	wrong |= comma &^ afterValue
	wrong |= shut &^ (afterValue | afterOpen)
	wrong |= colon &^ afterKey
	wrong |= (words | open) & afterBrace
	named := afterKey & colon
	unnamed := afterKey&^colon | afterComma&^begins

	levels, depth := g.levels, g.depth
	object := -(levels & 1) // where the innermost that is open is an object, the bracket that ends it included
	for brackets := open | shut; brackets != 0; brackets &= brackets - 1 {
		bit := brackets & -brackets
		brace := uint64(0)
		if t.brace&bit != 0 {
			brace = 1
		}
		was := levels
		if open&bit != 0 {
			if depth == g.room {
				return 0, true
			}
			levels = levels<<1 | brace
			depth++
		} else {
			if levels&1 != brace {
				return 0, true
			}
			levels >>= 1
			if depth--; depth == 0 {
				wrong |= named&^object | unnamed&object
				if wrong&(bit|(bit-1)) != 0 {
					return 0, true
				}
				return start + bits.TrailingZeros64(bit) + 1, true
			}
		}
		object ^= -((levels ^ was) & 1) &^ (bit | (bit - 1))
	}
	g.levels, g.depth = levels, depth
	wrong |= named&^object | unnamed&object
	return 0, wrong != 0
}

// escapes returns which bytes stand behind a backslash that is not escaped itself.
//
// Of a run of backslashes every second one is escaped. Taking the first of each run from the odd places flips the odd
// places along the run, by borrowing, so that what differs from them then is every second byte of it and what follows
// it.
func (g *grammar) escapes(backslash uint64) uint64 {
	const odd = 0xAAAAAAAAAAAAAAAA
	first := backslash &^ g.escaped
	flipped := ((first<<1 | odd) - first) ^ odd
	escaped := flipped ^ (backslash | g.escaped)
	g.escaped = (flipped & backslash) >> 63
	return escaped
}

// words returns what is wrong with the numbers and literals at word, which begin at begins.
func (g *grammar) words(k *wordClasses, word, begins uint64, at int) (wrong uint64) {
	if n := g.literal - at; n >= 0 && g.inWord == 1 { // one goes on, or ended with the block before
		wrong |= word & (1 << n)
		word &^= 1<<n - 1
	}
	for literals := begins &^ (k.digit | k.minus); literals != 0; literals &= literals - 1 {
		bit := literals & -literals
		end, f := scalar(g.b, at+bits.TrailingZeros64(bit))
		behind := uint64(1) << (end - at) // 0 if that is in the next block
		if f != faultNone || word&behind != 0 {
			wrong |= bit
		}
		word &^= behind - bit
		begins &^= bit
		g.literal = end
	}

	n := &g.number
	digit, sign, dot, exp := word&k.digit, word&(k.minus|k.plus), word&k.dot, word&k.exp

	minus := begins & k.minus
	whole := begins&^minus | minus<<1 | n.wholeDue
	n.wholeDue = minus >> 63
	zero := whole & k.zero
	wrong |= (zero<<1 | n.zero) & digit
	n.zero = zero >> 63
	wholeEnd, c := past(whole|n.whole, digit)
	n.whole = c

	part := dot<<1 | n.partDue
	n.partDue = dot >> 63
	partEnd, c := past(part|n.part, digit)
	n.part = c

	after := exp<<1 | n.powerDue
	n.powerDue = exp >> 63
	powerSign := after & sign
	power := after&^powerSign | powerSign<<1 | n.signedDue
	n.signedDue = powerSign >> 63

	wrong |= word &^ (digit | sign | dot | exp)
	wrong |= (whole | part | power) &^ digit
	wrong |= sign &^ (minus | powerSign)
	wrong |= dot &^ wholeEnd
	wrong |= exp &^ (wholeEnd | partEnd)
	return wrong
}

// past returns the places behind the runs of ones that begin at first, which is any place outside of them too, and 1 if
// one goes on in the next block.
func past(first, run uint64) (behind, carry uint64) {
	sum, carry := bits.Add64(first&run, run, 0)
	return (first | sum) &^ run, carry
}

// follow returns where the tokens begin that stand behind those that end at ends. Whether one is in the next block is
// kept at *carry.
func follow(ends, white uint64, carry *uint64) uint64 {
	behind, c := past(ends<<1|*carry, white)
	*carry = c | ends>>63
	return behind
}

// prefixXor returns for each bit whether an odd number of bits are set up to it.
func prefixXor(w uint64) uint64 {
	w ^= w << 1
	w ^= w << 2
	w ^= w << 4
	w ^= w << 8
	w ^= w << 16
	return w ^ w<<32
}
