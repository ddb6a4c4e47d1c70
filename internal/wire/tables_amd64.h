// Each constant fills a vector.
#define FILL(name, word) \
	DATA name<>+0(SB)/8, $word; \
	DATA name<>+8(SB)/8, $word; \
	DATA name<>+16(SB)/8, $word; \
	DATA name<>+24(SB)/8, $word; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

// Each table is looked up by half a byte; both halves of a vector hold it.
#define TABLE(name, low, high) \
	DATA name<>+0(SB)/8, $low; \
	DATA name<>+8(SB)/8, $high; \
	DATA name<>+16(SB)/8, $low; \
	DATA name<>+24(SB)/8, $high; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

FILL(lowHalf, 0x0F0F0F0F0F0F0F0F)
FILL(thirdLead, 0x6060606060606060)
FILL(fourthLead, 0x7070707070707070)
FILL(highBit, 0x8080808080808080)

// UTF-8: what can be wrong with two bytes in a row, a bit each. The tables tell it of
// the high half and of the low half of the first, and of the high half of the second;
// what all three say is wrong. (J. Keiser, D. Lemire: Validating UTF-8 in less than one
// instruction per byte, 2021.)
//
//	0x01  a leading byte without its continuation      0x10  a surrogate
//	0x02  a continuation behind an ASCII character     0x20  two bytes where one is enough
//	0x04  three bytes where two are enough             0x40  four bytes, above U+10FFFF or where three are enough
//	0x08  four bytes, above U+10FFFF                   0x80  two continuations: right if a third or fourth byte is due
TABLE(firstHigh, 0x0202020202020202, 0x4915012180808080)
TABLE(firstLow, 0xCBCBCB8B8383A3E7, 0xCBCBDBCBCBCBCBCB)
TABLE(secondHigh, 0x0101010101010101, 0x01010101BABAAEE6)
