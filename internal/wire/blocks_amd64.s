#include "textflag.h"
#include "tables_amd64.h"

FILL(quoteMark, 0x2222222222222222)
FILL(backslashMark, 0x5C5C5C5C5C5C5C5C)
FILL(lastControl, 0x1F1F1F1F1F1F1F1F)
FILL(commaMark, 0x2C2C2C2C2C2C2C2C)
FILL(colonMark, 0x3A3A3A3A3A3A3A3A)
FILL(lowerCase, 0x2020202020202020)
FILL(openMark, 0x7B7B7B7B7B7B7B7B)
FILL(closeMark, 0x7D7D7D7D7D7D7D7D)
FILL(zeroMark, 0x3030303030303030)
FILL(nine, 0x0909090909090909)
FILL(five, 0x0505050505050505)
FILL(letterA, 0x6161616161616161)
FILL(letterU, 0x7575757575757575)
FILL(minusMark, 0x2D2D2D2D2D2D2D2D)
FILL(plusMark, 0x2B2B2B2B2B2B2B2B)
FILL(dotMark, 0x2E2E2E2E2E2E2E2E)
FILL(expMark, 0x6565656565656565)

// White space is what its own low half looks up here.
TABLE(whiteSpace, 0xFFFFFFFFFFFFFF20, 0xFFFF0DFFFF0A09FF)

// What may follow a backslash, u aside: a bit for each high half there is.
TABLE(escapeHigh, 0x0804020000010000, 0x0000000000000000)
TABLE(escapeLow, 0x00040008000D0000, 0x0104000200000000)

// The macros use AX, BX, Y4 and Y5; DI is where the classes are stored, SI where the bytes are.

// MASK stores at off the high bit of each byte of a and b.
#define MASK(a, b, off) \
	VPMOVMSKB a, AX; \
	VPMOVMSKB b, BX; \
	SHLQ $32, BX; \
	ORQ BX, AX; \
	MOVQ AX, off(DI)

// NOTMASK stores the opposite.
#define NOTMASK(a, b, off) \
	VPMOVMSKB a, AX; \
	VPMOVMSKB b, BX; \
	SHLQ $32, BX; \
	ORQ BX, AX; \
	NOTQ AX; \
	MOVQ AX, off(DI)

// EQUAL stores at off which bytes of a and b are mark.
#define EQUAL(a, b, mark, off) \
	VPCMPEQB mark<>(SB), a, Y4; \
	VPCMPEQB mark<>(SB), b, Y5; \
	MASK(Y4, Y5, off)

// UTF8 leaves in out what is wrong with the UTF-8 of in, which was loaded from at(SI).
// The third byte of three and the third and fourth of four are due two and three bytes
// behind a leading byte that says so.
#define UTF8(in, at, out) \
	VMOVDQU (at-1)(SI), Y6; \
	VPSRLW $4, Y6, Y7; \
	VPAND Y14, Y7, Y7; \
	VPAND Y14, Y6, Y6; \
	VMOVDQU firstHigh<>(SB), Y8; \
	VPSHUFB Y7, Y8, Y7; \
	VMOVDQU firstLow<>(SB), Y8; \
	VPSHUFB Y6, Y8, Y6; \
	VPAND Y6, Y7, Y7; \
	VPSRLW $4, in, Y6; \
	VPAND Y14, Y6, Y6; \
	VMOVDQU secondHigh<>(SB), Y8; \
	VPSHUFB Y6, Y8, Y6; \
	VPAND Y6, Y7, Y7; \
	VMOVDQU (at-2)(SI), Y6; \
	VPSUBUSB thirdLead<>(SB), Y6, Y6; \
	VMOVDQU (at-3)(SI), Y8; \
	VPSUBUSB fourthLead<>(SB), Y8, Y8; \
	VPOR Y6, Y8, Y8; \
	VPAND highBit<>(SB), Y8, Y8; \
	VPXOR Y8, Y7, out

// func classifyText(p *byte, n int, out *textBlock)
TEXT ·classifyText(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ out+16(FP), DI
	VPXOR Y15, Y15, Y15
	VMOVDQU lowHalf<>(SB), Y14
	VMOVDQU quoteMark<>(SB), Y13
	VMOVDQU backslashMark<>(SB), Y12
	VMOVDQU lastControl<>(SB), Y11

text:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1

	VPCMPEQB Y13, Y0, Y4
	VPCMPEQB Y13, Y1, Y5
	MASK(Y4, Y5, 0)

	VPMINUB Y11, Y0, Y4
	VPMINUB Y11, Y1, Y5
	VPCMPEQB Y4, Y0, Y4
	VPCMPEQB Y5, Y1, Y5
	MASK(Y4, Y5, 16)

	VPCMPEQB Y12, Y0, Y4
	VPCMPEQB Y12, Y1, Y5
	MASK(Y4, Y5, 8)

	VPOR -3(SI), Y0, Y4
	VPOR Y4, Y1, Y4
	VPMOVMSKB Y4, AX
	TESTL AX, AX
	JNZ foreign
	MOVQ $0, 24(DI)

next:
	ADDQ $64, SI
	ADDQ $32, DI
	DECQ CX
	JNZ text
	VZEROUPPER
	RET

foreign:
	UTF8(Y0, 0, Y9)
	UTF8(Y1, 32, Y10)
	VPCMPEQB Y15, Y9, Y9
	VPCMPEQB Y15, Y10, Y10
	NOTMASK(Y9, Y10, 24)
	JMP next

// func classifyEscapes(p *byte, out *escapeBlock)
TEXT ·classifyEscapes(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ out+8(FP), DI
	VPXOR Y15, Y15, Y15
	VMOVDQU lowHalf<>(SB), Y14
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1

	VMOVDQU escapeLow<>(SB), Y6
	VPSHUFB Y0, Y6, Y4
	VPSHUFB Y1, Y6, Y5
	VMOVDQU escapeHigh<>(SB), Y6
	VPSRLW $4, Y0, Y7
	VPSRLW $4, Y1, Y8
	VPAND Y14, Y7, Y7
	VPAND Y14, Y8, Y8
	VPSHUFB Y7, Y6, Y7
	VPSHUFB Y8, Y6, Y8
	VPAND Y7, Y4, Y4
	VPAND Y8, Y5, Y5
	VPCMPEQB Y15, Y4, Y4
	VPCMPEQB Y15, Y5, Y5
	NOTMASK(Y4, Y5, 0)

	EQUAL(Y0, Y1, letterU, 8)

	VPOR lowerCase<>(SB), Y0, Y2
	VPOR lowerCase<>(SB), Y1, Y3
	VPSUBB letterA<>(SB), Y2, Y2
	VPSUBB letterA<>(SB), Y3, Y3
	VPMINUB five<>(SB), Y2, Y4
	VPMINUB five<>(SB), Y3, Y5
	VPCMPEQB Y2, Y4, Y4
	VPCMPEQB Y3, Y5, Y5
	VPSUBB zeroMark<>(SB), Y0, Y0
	VPSUBB zeroMark<>(SB), Y1, Y1
	VPMINUB nine<>(SB), Y0, Y2
	VPMINUB nine<>(SB), Y1, Y3
	VPCMPEQB Y0, Y2, Y2
	VPCMPEQB Y1, Y3, Y3
	VPOR Y2, Y4, Y4
	VPOR Y3, Y5, Y5
	MASK(Y4, Y5, 16)
	VZEROUPPER
	RET

// func classifyTokens(p *byte, out *tokenBlock)
TEXT ·classifyTokens(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ out+8(FP), DI
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1

	VMOVDQU whiteSpace<>(SB), Y6
	VPSHUFB Y0, Y6, Y4
	VPSHUFB Y1, Y6, Y5
	VPCMPEQB Y4, Y0, Y4
	VPCMPEQB Y5, Y1, Y5
	MASK(Y4, Y5, 0)

	EQUAL(Y0, Y1, commaMark, 8)
	EQUAL(Y0, Y1, colonMark, 16)

	VPOR lowerCase<>(SB), Y0, Y2
	VPOR lowerCase<>(SB), Y1, Y3
	EQUAL(Y2, Y3, openMark, 24)
	EQUAL(Y2, Y3, closeMark, 32)
	VPSLLW $2, Y0, Y4
	VPSLLW $2, Y1, Y5
	MASK(Y4, Y5, 40)

	VPSUBB zeroMark<>(SB), Y0, Y4
	VPSUBB zeroMark<>(SB), Y1, Y5
	VPMINUB nine<>(SB), Y4, Y6
	VPMINUB nine<>(SB), Y5, Y7
	VPCMPEQB Y6, Y4, Y4
	VPCMPEQB Y7, Y5, Y5
	MASK(Y4, Y5, 48)

	EQUAL(Y0, Y1, zeroMark, 56)
	EQUAL(Y0, Y1, minusMark, 64)
	EQUAL(Y0, Y1, plusMark, 72)
	EQUAL(Y0, Y1, dotMark, 80)
	EQUAL(Y2, Y3, expMark, 88)
	VZEROUPPER
	RET
