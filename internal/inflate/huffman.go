package inflate

import "math/bits"

// An entry of a decoding table: 0 for a code that does not exist, else
//
//	bits 0–5    how many bits the code takes
//	bits 8–11   extra bits that follow a length or distance, or the index bits of a subtable
//	bits 12–14  what it is
//	bits 16–31  the literal, the base of the length or distance, or where the subtable starts
const (
	takes     = 63
	extraAt   = 8
	extraMask = 15
	isLiteral = 1 << 12
	isSub     = 1 << 13
	isEnd     = 1 << 14
	valueAt   = 16
)

const (
	maxCodeLen = 15

	litRoot  = 11
	distRoot = 8

	numLits  = 288 // including two that only the fixed code has, and that have no meaning
	numDists = 32  // likewise

	// Every subtable has at least two codes, so there are at most half as many subtables as codes.
	litSize  = 1<<litRoot + numLits/2<<(maxCodeLen-litRoot)
	distSize = 1<<distRoot + numDists/2<<(maxCodeLen-distRoot)
)

// meanings holds the entries of all symbols of an alphabet, without code lengths.
type meanings struct {
	lits  [numLits]uint32
	dists [numDists]uint32
	lens  [19]uint32
}

func newMeanings() *meanings {
	m := &meanings{}
	for i := range 256 {
		m.lits[i] = isLiteral | uint32(i)<<valueAt
	}
	m.lits[256] = isEnd
	base := uint32(3)
	for i := range uint32(28) { // lengths: four symbols for each number of extra bits
		extra := uint32(0)
		if i >= 8 {
			extra = i/4 - 1
		}
		m.lits[257+i] = base<<valueAt | extra<<extraAt
		base += 1 << extra
	}
	m.lits[285] = 258 << valueAt
	base = 1
	for i := range uint32(30) { // distances: two symbols for each
		extra := uint32(0)
		if i >= 4 {
			extra = i/2 - 1
		}
		m.dists[i] = base<<valueAt | extra<<extraAt
		base += 1 << extra
	}
	for i := range m.lens {
		m.lens[i] = isLiteral | uint32(i)<<valueAt
	}
	return m
}

// build fills a table of 1<<root entries and its subtables for the code with these lengths (0: the
// symbol has no code). It reports whether the lengths form a code: a complete one, a single code of
// one bit, or none at all.
func build(table []uint32, root int, lens []uint8, symbols []uint32) bool {
	var count, next [maxCodeLen + 1]int
	for _, n := range lens {
		count[n]++
	}
	count[0] = 0
	left, used := 1, 0
	for n := 1; n <= maxCodeLen; n++ {
		next[n] = used // where the symbols of this length start in order
		used += count[n]
		left = left<<1 - count[n]
		if left < 0 {
			return false
		}
	}
	clear(table[:1<<root])
	if left > 0 && used > 0 && !(used == 1 && count[1] == 1) {
		return false
	}
	var order [numLits]uint16
	for s, n := range lens {
		if n != 0 {
			order[next[n]] = uint16(s)
			next[n]++
		}
	}
	fill(table, root, lens, symbols, order[:used])
	return true
}

// fill goes from the last code to the first, so that the longest code of a subtable comes first and
// determines the size of the subtable. Codes are stored in the stream with their first bit lowest.
func fill(table []uint32, root int, lens []uint8, symbols []uint32, order []uint16) {
	end := 1 << root // end of the table so far
	var code uint32  // left-aligned in maxCodeLen bits; at first the one after the last
	for _, s := range order {
		code += 1 << (maxCodeLen - lens[s])
	}
	for i := len(order) - 1; i >= 0; i-- {
		s := order[i]
		n := int(lens[s])
		code -= 1 << (maxCodeLen - n)
		reversed := int(bits.Reverse16(uint16(code << 1)))
		entry := symbols[s]
		if n <= root {
			if entry != 0 {
				entry |= uint32(n)
			}
			for at := reversed; at < 1<<root; at += 1 << n {
				table[at] = entry
			}
			continue
		}
		prefix := reversed & (1<<root - 1)
		if table[prefix] == 0 {
			size := n - root
			table[prefix] = isSub | uint32(root) | uint32(size)<<extraAt | uint32(end)<<valueAt
			end += 1 << size
		}
		sub := table[prefix]
		start, size := int(sub>>valueAt), int(sub>>extraAt&extraMask)
		if entry != 0 {
			entry |= uint32(n - root)
		}
		for at := reversed >> root; at < 1<<size; at += 1 << (n - root) {
			table[start+at] = entry
		}
	}
}
