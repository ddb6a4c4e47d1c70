#include "go_asm.h"
#include "textflag.h"
#include "tables_amd64.h"

// This is grammar.next, line by line, for eight blocks at once. Each Z register holds a word of each, the first block's
// the lowest, and counts as one number of 512 bits. What grammar.next keeps for the next block is kept from eight to
// eight here.
//
// Throughout, Z0 to Z7 are the bits 0 to 7 of all bytes, Z29 is what is wrong, Z30 is zero, Z31 all ones. Z26 to Z28, AX,
// BX, CX and K1 to K3 are for the macros.

// Each byte of a quadword becomes the same bit of its eight bytes, the last byte's the lowest.
DATA transpose<>+0(SB)/8, $0x8040201008040201
GLOBL transpose<>(SB), RODATA|NOPTR, $8

// The bytes of each quadword, the last first.
DATA backwards<>+0(SB)/8, $0x0001020304050607
DATA backwards<>+8(SB)/8, $0x08090A0B0C0D0E0F
DATA backwards<>+16(SB)/8, $0x1011121314151617
DATA backwards<>+24(SB)/8, $0x18191A1B1C1D1E1F
DATA backwards<>+32(SB)/8, $0x2021222324252627
DATA backwards<>+40(SB)/8, $0x28292A2B2C2D2E2F
DATA backwards<>+48(SB)/8, $0x3031323334353637
DATA backwards<>+56(SB)/8, $0x38393A3B3C3D3E3F
GLOBL backwards<>(SB), RODATA|NOPTR, $64

// The first bytes of all quadwords, then the second ones, and so on.
DATA gather<>+0(SB)/8, $0x3830282018100800
DATA gather<>+8(SB)/8, $0x3931292119110901
DATA gather<>+16(SB)/8, $0x3A322A221A120A02
DATA gather<>+24(SB)/8, $0x3B332B231B130B03
DATA gather<>+32(SB)/8, $0x3C342C241C140C04
DATA gather<>+40(SB)/8, $0x3D352D251D150D05
DATA gather<>+48(SB)/8, $0x3E362E261E160E06
DATA gather<>+56(SB)/8, $0x3F372F271F170F07
GLOBL gather<>(SB), RODATA|NOPTR, $64

DATA oddBits<>+0(SB)/8, $0xAAAAAAAAAAAAAAAA
GLOBL oddBits<>(SB), RODATA|NOPTR, $8

// OF sets dst to a function of three: bit 4a+2b+c of table is what it gives.
#define OF(table, a, b, c, dst) \
	VMOVDQA64 a, dst; \
	VPTERNLOGQ $table, c, b, dst

// Such functions, by what they give.
#define NNN 0x01 // none of them
#define NNY 0x02 // the third, and none of the others; and so on
#define NYN 0x04
#define NYY 0x08
#define YNN 0x10
#define YNY 0x20
#define YYN 0x40
#define YYY 0x80
#define ANY 0xFE
#define FIRST_OR_SECOND_WITHOUT_THIRD 0xF4
#define FIRST_OR_BOTH_OTHERS 0xF8

// WRONG and WRONG_WITH have it be wrong where a is set and b is not, and where both are.
#define WRONG(a, b) VPTERNLOGQ $FIRST_OR_SECOND_WITHOUT_THIRD, b, a, Z29
#define WRONG_WITH(a, b) VPTERNLOGQ $FIRST_OR_BOTH_OTHERS, b, a, Z29

// SHIFT is dst = a<<n.
#define SHIFT(n, a, dst) \
	VALIGNQ $7, Z30, a, dst; \
	VPSHLDQ $n, dst, a, dst

// NEXT is dst = a<<1 | due, and due = a>>511.
#define NEXT(a, due, dst) \
	SHIFT(1, a, dst); \
	VMOVQ due, X28; \
	VPORQ Z28, dst, dst; \
	TOP(a, AX); \
	MOVQ AX, due

// TOP is dst = a>>511.
#define TOP(a, dst) \
	VPMOVQ2M a, K1; \
	KMOVB K1, dst; \
	SHRQ $7, dst

// SOME is dst != 0 where a bit of a is set.
#define SOME(a, dst) \
	VPTESTMQ a, a, K1; \
	KMOVB K1, dst

// PAST is dst, carry = past(first|carry, run). Of the words of the sum K1 are those that carry, K2 those that would pass
// a carry on: added like bits, they give the words that get one.
#define PAST(first, run, carry, dst) \
	VPANDQ first, run, Z28; \
	VPADDQ Z28, run, Z28; \
	VPCMPUQ $1, run, Z28, K1; \
	VPCMPEQQ Z31, Z28, K2; \
	KMOVB K1, AX; \
	KMOVB K2, BX; \
	MOVQ carry, CX; \
	LEAQ (CX)(AX*2), AX; \
	ADDQ BX, AX; \
	XORQ AX, BX; \
	KMOVB BX, K3; \
	SHRQ $8, AX; \
	MOVQ AX, carry; \
	VPSUBQ Z31, Z28, K3, Z28; \
	OF(0x54, first, Z28, run, dst)

// FOLLOW is dst = follow(ends, white, &carry), with the white space in Z21. It uses Z27.
#define FOLLOW(ends, carry, dst) \
	SHIFT(1, ends, Z27); \
	PAST(Z27, Z21, carry, dst); \
	TOP(ends, AX); \
	ORQ AX, carry

// PLANES has the quadword n of z be the bits n of the 64 bytes at at(SI).
#define PLANES(at, z) \
	VPERMB at(SI), Z8, z; \
	VGF2P8AFFINEQB $0, z, Z9, z; \
	VPERMB z, Z10, z

// LETTER wants letter n bytes behind where a literal of a kind begins. Z28 is where literals are.
#define LETTER(n, kind, letter) \
	SHIFT(n, kind, Z25); \
	VPORQ Z25, Z28, Z28; \
	WRONG(Z25, letter)

// TAKE appends the bits of stream that stand where the lane's brackets, AX, do.
#define TAKE(stream, dst) \
	MOVQ stream(SP)(DX*8), SI; \
	PEXTQ AX, SI, SI; \
	SHLXQ R13, SI, SI; \
	ORQ SI, dst

// func eight(state *grammar, p *byte, at int) bool
TEXT ·eight(SB), 0, $448-25
	MOVQ state+0(FP), DI
	MOVQ p+8(FP), SI
	VPTERNLOGQ $0xFF, Z31, Z31, Z31
	VPXORQ Z30, Z30, Z30
	VPXORQ Z29, Z29, Z29

	// The bits of each block, and then of all eight.
	VMOVDQU64 backwards<>(SB), Z8
	VPBROADCASTQ transpose<>(SB), Z9
	VMOVDQU64 gather<>(SB), Z10
	PLANES(0, Z16)
	PLANES(64, Z17)
	PLANES(128, Z18)
	PLANES(192, Z19)
	PLANES(256, Z20)
	PLANES(320, Z21)
	PLANES(384, Z22)
	PLANES(448, Z23)
	VPUNPCKLQDQ Z17, Z16, Z8
	VPUNPCKLQDQ Z19, Z18, Z9
	VPUNPCKLQDQ Z21, Z20, Z10
	VPUNPCKLQDQ Z23, Z22, Z11
	VPUNPCKHQDQ Z17, Z16, Z12
	VPUNPCKHQDQ Z19, Z18, Z13
	VPUNPCKHQDQ Z21, Z20, Z14
	VPUNPCKHQDQ Z23, Z22, Z15
	VSHUFI64X2 $0x88, Z9, Z8, Z16
	VSHUFI64X2 $0xDD, Z9, Z8, Z17
	VSHUFI64X2 $0x88, Z11, Z10, Z18
	VSHUFI64X2 $0xDD, Z11, Z10, Z19
	VSHUFI64X2 $0x88, Z13, Z12, Z20
	VSHUFI64X2 $0xDD, Z13, Z12, Z21
	VSHUFI64X2 $0x88, Z15, Z14, Z22
	VSHUFI64X2 $0xDD, Z15, Z14, Z23
	VSHUFI64X2 $0x88, Z18, Z16, Z0
	VSHUFI64X2 $0x88, Z22, Z20, Z1
	VSHUFI64X2 $0x88, Z19, Z17, Z2
	VSHUFI64X2 $0x88, Z23, Z21, Z3
	VSHUFI64X2 $0xDD, Z18, Z16, Z4
	VSHUFI64X2 $0xDD, Z22, Z20, Z5
	VSHUFI64X2 $0xDD, Z19, Z17, Z6
	VSHUFI64X2 $0xDD, Z23, Z21, Z7

	// UTF-8, where there is more than ASCII, or may be an unfinished character before it.
	SOME(Z7, AX)
	MOVL -4(SI), BX
	ANDL $0x80808000, BX
	ORL BX, AX
	JZ strings
	VPBROADCASTQ lowHalf<>(SB), Z16
	VBROADCASTI64X4 firstHigh<>(SB), Z17
	VBROADCASTI64X4 firstLow<>(SB), Z18
	VBROADCASTI64X4 secondHigh<>(SB), Z19
	VPBROADCASTQ thirdLead<>(SB), Z20
	VPBROADCASTQ fourthLead<>(SB), Z21
	VPBROADCASTQ highBit<>(SB), Z22
	MOVQ SI, AX
	MOVQ $8, CX

characters:
	VMOVDQU64 -1(AX), Z23
	VPSRLW $4, Z23, Z24
	VPANDQ Z16, Z24, Z24
	VPANDQ Z16, Z23, Z23
	VPSHUFB Z24, Z17, Z24
	VPSHUFB Z23, Z18, Z23
	VMOVDQU64 (AX), Z25
	VPSRLW $4, Z25, Z25
	VPANDQ Z16, Z25, Z25
	VPSHUFB Z25, Z19, Z25
	VPTERNLOGQ $YYY, Z23, Z24, Z25
	VMOVDQU64 -2(AX), Z23
	VPSUBUSB Z20, Z23, Z23
	VMOVDQU64 -3(AX), Z24
	VPSUBUSB Z21, Z24, Z24
	VPTERNLOGQ $0xA8, Z22, Z24, Z23 // (either) & the high bit
	VPTERNLOGQ $0xF6, Z23, Z25, Z29 // wrong | (one is not the other)
	ADDQ $64, AX
	DECQ CX
	JNZ characters

strings:
	OF(YYN, Z3, Z2, Z1, Z8)  // the low halves 110x
	OF(YNY, Z3, Z2, Z1, Z9)  // 101x
	OF(NNY, Z7, Z6, Z5, Z10)
	VPANDQ Z4, Z10, Z17      // the high half 3
	VPANDNQ Z10, Z4, Z10     // 2
	OF(NYY, Z7, Z6, Z4, Z11) // 5 or 7
	OF(NYN, Z7, Z6, Z4, Z16) // 4 or 6
	OF(NNY, Z3, Z2, Z1, Z12)
	VPTERNLOGQ $YYN, Z0, Z10, Z12 // quotes
	OF(YYN, Z11, Z8, Z0, Z13)
	VPANDNQ Z13, Z5, Z13          // backslashes
	OF(NNN, Z7, Z6, Z5, Z14)      // control characters

	SOME(Z13, AX)
	ORQ grammar_escaped(DI), AX
	ORQ grammar_hex(DI), AX
	JZ unescaped

	// grammar.escapes
	VMOVQ grammar_escaped(DI), X27
	VPANDNQ Z13, Z27, Z26
	SHIFT(1, Z26, Z25)
	VPORQ.BCST oddBits<>(SB), Z25, Z25
	VPSUBQ Z26, Z25, Z24
	VPCMPUQ $1, Z26, Z25, K1 // words that borrow
	VPTESTNMQ Z24, Z24, K2   // words that would pass that on
	KMOVB K1, AX
	KMOVB K2, BX
	LEAQ (BX)(AX*2), AX
	XORQ AX, BX
	KMOVB BX, K3
	VPADDQ Z31, Z24, K3, Z24
	VPXORQ.BCST oddBits<>(SB), Z24, Z24
	VPORQ Z13, Z27, Z25
	VPXORQ Z24, Z25, Z25 // escaped
	VPANDQ Z24, Z13, Z24
	TOP(Z24, AX)
	MOVQ AX, grammar_escaped(DI)

	// What is escaped is one of "\/bfnrt, or u and four digits.
	OF(YYY, Z3, Z2, Z1, Z24)
	VPTERNLOGQ $YYY, Z0, Z10, Z24         // the slash
	VPTERNLOGQ $ANY, Z12, Z13, Z24
	VPANDQ Z5, Z16, Z23                   // the high half 6
	OF(0x8A, Z3, Z2, Z1, Z22)             // 001x, 011x, 111x
	VPTERNLOGQ $YYN, Z0, Z23, Z22         // b, f, n
	VPANDQ Z5, Z11, Z23                   // the high half 7
	OF(0x06, Z3, Z2, Z1, Z21)             // 001x, 010x
	VPTERNLOGQ $YYN, Z0, Z23, Z21         // r, t
	VPTERNLOGQ $ANY, Z22, Z21, Z24
	OF(NYN, Z3, Z2, Z1, Z22)
	VPTERNLOGQ $YYY, Z0, Z23, Z22         // u
	VPORQ Z22, Z24, Z24
	WRONG(Z25, Z24)
	VPANDQ Z25, Z22, Z22
	OF(0x1F, Z3, Z2, Z1, Z24)             // 0xxx, 100x
	VPANDQ Z17, Z24, Z24                  // 0 to 9
	OF(0x7E, Z2, Z1, Z0, Z23)             // x001 to x110
	VPTERNLOGQ $YYN, Z3, Z16, Z23         // a to f
	VPORQ Z23, Z24, Z24
	SHIFT(1, Z22, Z23)
	SHIFT(2, Z22, Z21)
	SHIFT(3, Z22, Z20)
	SHIFT(4, Z22, Z19)
	VPTERNLOGQ $ANY, Z21, Z20, Z23
	VMOVQ grammar_hex(DI), X21
	VPTERNLOGQ $ANY, Z21, Z19, Z23
	WRONG(Z23, Z24)
	VEXTRACTI64X2 $3, Z22, X21
	VPEXTRQ $1, X21, AX
	SHRQ $60, AX
	MOVQ AX, BX
	SHRQ $1, BX
	ORQ BX, AX
	MOVQ AX, BX
	SHRQ $2, BX
	ORQ BX, AX
	MOVQ AX, grammar_hex(DI)
	VPANDNQ Z12, Z25, Z12

unescaped:
	// in := prefixXor(quotes) ^ g.inside
	VPCLMULQDQ $0x00, Z31, Z12, Z20
	VPCLMULQDQ $0x11, Z31, Z12, Z21
	VPUNPCKLQDQ Z21, Z20, Z15
	VPMOVQ2M Z15, K1
	KMOVB K1, AX
	MOVQ AX, BX
	SHLQ $1, BX
	XORQ BX, AX
	MOVQ AX, BX
	SHLQ $2, BX
	XORQ BX, AX
	MOVQ AX, BX
	SHLQ $4, BX
	XORQ BX, AX
	MOVQ grammar_inside(DI), CX
	LEAQ (AX)(AX*1), BX
	XORQ CX, BX
	KMOVB BX, K1
	VPXORQ Z31, Z15, K1, Z15
	SHLQ $56, AX
	SARQ $63, AX
	XORQ CX, AX
	MOVQ AX, grammar_inside(DI)
	WRONG_WITH(Z14, Z15)
	WRONG(Z13, Z15)
	SOME(Z12, AX)
	NOTQ CX
	ORQ CX, AX
	JNZ tokens
	SOME(Z29, AX)
	JMP end

tokens:
	VPTERNLOGQ $0x11, Z12, Z15, Z18 // outside of strings: neither
	VPANDQ Z12, Z15, Z19            // begins
	VPANDNQ Z12, Z15, Z20           // ends

	OF(YNN, Z3, Z2, Z1, Z21)
	VPTERNLOGQ $0xA8, Z0, Z8, Z21                              // 1001, 1101
	VPTERNLOGQ $FIRST_OR_SECOND_WITHOUT_THIRD, Z0, Z9, Z21     // and 1010
	VPANDNQ Z14, Z4, Z14                                       // the high half 0
	VPANDQ Z14, Z21, Z21
	OF(NNN, Z3, Z2, Z1, Z22)
	VPTERNLOGQ $YYN, Z0, Z10, Z22                              // the space
	VPTERNLOGQ $0xA8, Z18, Z22, Z21                            // white
	OF(YYN, Z10, Z8, Z0, Z22)
	VPANDQ Z18, Z22, Z22                                       // comma
	OF(YYN, Z17, Z9, Z0, Z23)
	VPANDQ Z18, Z23, Z23                                       // colon
	OF(YYY, Z11, Z9, Z0, Z24)
	VPANDQ Z18, Z24, Z24                                       // open
	OF(YYY, Z11, Z8, Z0, Z25)
	VPANDQ Z18, Z25, Z25                                       // shut
	OF(ANY, Z21, Z22, Z23, Z26)
	VPTERNLOGQ $ANY, Z24, Z25, Z26
	VPANDNQ Z18, Z26, Z26                                      // word
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	SOME(Z26, AX)
	ORQ grammar_inWord(DI), AX
	JZ wordless

	MOVQ grammar_inWord(DI), R8
	NEXT(Z26, grammar_inWord(DI), Z11)
	VPANDNQ Z26, Z11, Z12 // words
	VPANDNQ Z11, Z26, Z13 // afterWord

	// grammar.words, with begins in Z18
	MOVQ grammar_literal(DI), CX
	SUBQ at+16(FP), CX
	JLT begun
	TESTQ R8, R8
	JZ begun
	MOVQ $1, AX
	SHLQ CX, AX
	VMOVQ AX, X27
	WRONG_WITH(Z26, Z27)
	DECQ AX
	VMOVQ AX, X27
	VPANDNQ Z26, Z27, Z26

begun:
	OF(0x1F, Z3, Z2, Z1, Z14)
	VPANDQ Z17, Z14, Z14 // digit
	OF(YYY, Z10, Z8, Z0, Z27)
	OF(YNN, Z12, Z14, Z27, Z11) // literals
	VMOVDQA64 Z12, Z18
	SOME(Z11, AX)
	TESTQ AX, AX
	JZ numbers

	VMOVDQU64 Z19, 0(SP)
	VMOVDQU64 Z20, 64(SP)
	VMOVDQU64 Z21, 128(SP)
	VMOVDQU64 Z22, 192(SP)
	VMOVDQU64 Z23, 256(SP)
	VMOVDQU64 Z24, 320(SP)
	VMOVDQU64 Z25, 384(SP)
	VMOVDQA64 Z11, Z28
	OF(NYY, Z7, Z6, Z5, Z19)
	VPANDNQ Z19, Z4, Z20            // the high half 6
	VPANDQ Z19, Z4, Z19             // 7
	OF(NYN, Z3, Z2, Z1, Z22)
	OF(YYN, Z22, Z19, Z0, Z21)
	VPANDQ Z11, Z21, Z21            // where true begins
	OF(YYY, Z3, Z2, Z1, Z23)
	VPTERNLOGQ $YYN, Z0, Z20, Z23
	VPANDQ Z11, Z23, Z23            // null
	OF(NYY, Z3, Z2, Z1, Z24)
	VPTERNLOGQ $YYN, Z0, Z20, Z24
	VPANDQ Z11, Z24, Z24            // false
	OF(ANY, Z21, Z23, Z24, Z25)
	WRONG(Z11, Z25)
	OF(YYY, Z22, Z19, Z0, Z27)      // u
	LETTER(2, Z21, Z27)
	LETTER(1, Z23, Z27)
	VPTERNLOGQ $YYY, Z0, Z20, Z22   // e
	LETTER(3, Z21, Z22)
	LETTER(4, Z24, Z22)
	OF(NNY, Z3, Z2, Z1, Z22)
	OF(YYN, Z22, Z19, Z0, Z27)      // r
	LETTER(1, Z21, Z27)
	VPTERNLOGQ $YYY, Z0, Z19, Z22   // s
	LETTER(3, Z24, Z22)
	OF(NNN, Z3, Z2, Z1, Z22)
	VPTERNLOGQ $YYY, Z0, Z20, Z22   // a
	LETTER(1, Z24, Z22)
	OF(YYN, Z8, Z20, Z0, Z22)       // l
	LETTER(2, Z24, Z22)
	LETTER(2, Z23, Z22)
	LETTER(3, Z23, Z22)
	VPORQ Z21, Z23, Z23
	SHIFT(4, Z23, Z27)
	WRONG_WITH(Z26, Z27)
	SHIFT(5, Z24, Z27)
	WRONG_WITH(Z26, Z27)
	VPANDNQ Z26, Z28, Z26
	VPANDNQ Z12, Z11, Z18

	// The last one may end behind the eight blocks, or with them.
	VEXTRACTI64X2 $3, Z11, X27
	VPEXTRQ $1, X27, AX
	SHRQ $59, AX
	JZ literals
	BSRQ AX, CX
	LEAQ 507(SI)(CX*1), BX
	ADDQ $511, CX // where it ends
	CMPB (BX), $'f'
	JNE four
	INCQ CX
	INCQ BX
	CMPL (BX), $0x65736C61 // alse
	JMP judged

four:
	CMPL (BX), $0x65757274 // true
	JEQ judged
	CMPL (BX), $0x6C6C756E // null

judged:
	JNE bail
	CMPQ CX, $512
	JLT literals
	ADDQ at+16(FP), CX
	MOVQ CX, grammar_literal(DI)

literals:
	VMOVDQU64 0(SP), Z19
	VMOVDQU64 64(SP), Z20
	VMOVDQU64 128(SP), Z21
	VMOVDQU64 192(SP), Z22
	VMOVDQU64 256(SP), Z23
	VMOVDQU64 320(SP), Z24
	VMOVDQU64 384(SP), Z25

numbers:
	OF(YYY, Z3, Z2, Z1, Z27)
	VPTERNLOGQ $YYN, Z0, Z10, Z27 // dot
	OF(NYN, Z3, Z2, Z1, Z11)
	VPTERNLOGQ $YYY, Z0, Z16, Z11 // exp
	OF(NNN, Z3, Z2, Z1, Z16)
	VPTERNLOGQ $YYN, Z0, Z17, Z16 // zero
	OF(YYY, Z10, Z8, Z0, Z17)     // minus
	VPTERNLOGQ $YYY, Z0, Z10, Z9
	VPORQ Z17, Z9, Z9             // sign
	VPANDQ Z26, Z14, Z14
	VPANDQ Z26, Z9, Z9
	VPANDQ Z26, Z27, Z27
	VPANDQ Z26, Z11, Z11
	VPANDQ Z18, Z17, Z17

	NEXT(Z17, grammar_number+numbers_wholeDue(DI), Z0)
	VPANDNQ Z18, Z17, Z1
	VPORQ Z1, Z0, Z0 // whole
	VPANDQ Z0, Z16, Z16
	NEXT(Z16, grammar_number+numbers_zero(DI), Z1)
	WRONG_WITH(Z1, Z14)
	PAST(Z0, Z14, grammar_number+numbers_whole(DI), Z2) // wholeEnd
	NEXT(Z27, grammar_number+numbers_partDue(DI), Z3)   // part
	PAST(Z3, Z14, grammar_number+numbers_part(DI), Z4)  // partEnd
	NEXT(Z11, grammar_number+numbers_powerDue(DI), Z6)  // after
	VPANDQ Z6, Z9, Z7                                   // powerSign
	NEXT(Z7, grammar_number+numbers_signedDue(DI), Z8)
	VPANDNQ Z6, Z7, Z6
	VPORQ Z6, Z8, Z8 // power
	OF(ANY, Z14, Z9, Z27, Z1)
	VPORQ Z11, Z1, Z1
	WRONG(Z26, Z1)
	VPTERNLOGQ $ANY, Z3, Z8, Z0
	WRONG(Z0, Z14)
	VPORQ Z17, Z7, Z7
	WRONG(Z9, Z7)
	WRONG(Z27, Z2)
	VPORQ Z2, Z4, Z4
	WRONG(Z11, Z4)

wordless:
	VPORQ Z20, Z25, Z0
	SHIFT(1, Z0, Z1)
	VPORQ Z13, Z1, Z1
	PAST(Z1, Z21, grammar_afterValue(DI), Z2)
	TOP(Z0, AX)
	ORQ AX, grammar_afterValue(DI)
	VPANDQ Z5, Z24, Z4
	SOME(Z21, R8)
	TESTQ R8, R8
	JZ compact
	FOLLOW(Z24, grammar_afterOpen(DI), Z3)
	FOLLOW(Z4, grammar_afterBrace(DI), Z6)
	FOLLOW(Z22, grammar_afterComma(DI), Z7)
	JMP keys

compact: // the same without white space
	NEXT(Z24, grammar_afterOpen(DI), Z3)
	NEXT(Z4, grammar_afterBrace(DI), Z6)
	NEXT(Z22, grammar_afterComma(DI), Z7)

keys:
	OF(0xE0, Z19, Z6, Z7, Z8)
	PAST(Z8, Z15, grammar_inKey(DI), Z9) // keyEnds
	TESTQ R8, R8
	JZ compactKeys
	FOLLOW(Z9, grammar_afterKey(DI), Z10)
	JMP judge

compactKeys:
	NEXT(Z9, grammar_afterKey(DI), Z10)

judge:

	OF(ANY, Z19, Z12, Z24, Z0)
	WRONG_WITH(Z0, Z2)
	WRONG(Z22, Z2)
	VPORQ Z2, Z3, Z3
	WRONG(Z25, Z3)
	WRONG(Z23, Z10)
	VPORQ Z12, Z24, Z0
	WRONG_WITH(Z0, Z6)
	VPANDQ Z10, Z23, Z0                                     // named
	VPANDNQ Z10, Z23, Z1
	VPTERNLOGQ $FIRST_OR_SECOND_WITHOUT_THIRD, Z19, Z7, Z1  // unnamed

	// Between two brackets all members are named or none is. What they are is noted at the bracket behind them.
	VPORQ Z24, Z25, Z2
	VPXORQ Z31, Z2, Z3
	MOVQ $0, 320(SP)
	MOVQ $0, 328(SP)
	PAST(Z0, Z3, 320(SP), Z4)
	PAST(Z1, Z3, 328(SP), Z6)
	WRONG_WITH(Z4, Z6)
	OF(YYN, Z25, Z4, Z5, Z7)
	VPORQ Z7, Z29, Z29
	OF(YYY, Z25, Z6, Z5, Z7)
	VPORQ Z7, Z29, Z29
	SOME(Z29, AX)
	TESTQ AX, AX
	JNZ bail

	// For each bracket: whether it opens, whether it is a brace, and whether and which of the two the one outside of it,
	// or the one that it shuts, is to be.
	VMOVDQU64 Z2, 0(SP)
	VMOVDQU64 Z24, 64(SP)
	VMOVDQU64 Z5, 128(SP)
	OF(ANY, Z4, Z6, Z25, Z7)
	VMOVDQU64 Z7, 192(SP)
	OF(0xCA, Z25, Z5, Z4, Z7)
	VMOVDQU64 Z7, 256(SP)
	SOME(Z2, R9)
	MOVQ grammar_levels(DI), R8
	MOVQ grammar_depth(DI), CX
	CMPQ CX, $62
	JHI bail
	BTSQ CX, R8 // a bit above them tells how many they are
	XORQ R10, R10
	XORQ R11, R11
	XORQ R12, R12
	XORQ BX, BX
	XORQ R13, R13

lanes:
	TESTQ R9, R9
	JZ drain
	TZCNTQ R9, DX
	MOVQ 0(SP)(DX*8), AX
	POPCNTQ AX, CX
	ADDQ R13, CX
	CMPQ CX, $32
	JLS take
	TESTQ R13, R13
	JNZ drain

take:
	BLSRQ R9, R9
	TAKE(64, R10)
	TAKE(128, R11)
	TAKE(192, R12)
	TAKE(256, BX)
	MOVQ CX, R13
	JMP lanes

drain:
	TESTQ R13, R13
	JZ drained
	BSRQ R8, CX
	ADDQ R13, CX // how deep they may go
	CMPQ CX, $62
	JHI bail
	CMPQ CX, grammar_room(DI)
	JHI bail
	MOVQ R13, CX

bracket:
	MOVQ R8, SI
	SHRQ $1, R8
	RCRQ $1, R14 // what it stands in
	SHRQ $1, R11
	ADCQ SI, SI
	SHRQ $1, R10
	CMOVQCS SI, R8
	CMPQ R8, $1
	JEQ bail // the end of the value
	DECQ CX
	JNZ bracket
	NEGQ R13
	SHRXQ R13, R14, R14
	XORQ R14, BX
	TESTQ R12, BX
	JNZ bail
	XORQ R13, R13
	XORQ R12, R12
	XORQ BX, BX
	TESTQ R9, R9
	JNZ lanes

drained:
	MOVQ R8, AX
	MOVQ 320(SP), BX
	ANDNQ BX, AX, BX // named in an array
	ANDQ 328(SP), AX // unnamed in an object
	ORQ BX, AX
	JNZ bail
	BSRQ R8, CX
	BTRQ CX, R8
	MOVQ R8, grammar_levels(DI)
	MOVQ CX, grammar_depth(DI)
	XORQ AX, AX

end:
	VZEROUPPER
	TESTQ AX, AX
	SETEQ ret+24(FP)
	RET

bail:
	VZEROUPPER
	MOVB $0, ret+24(FP)
	RET
