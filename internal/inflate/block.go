package inflate

import (
	"encoding/binary"
	"io"
)

// fixedLens returns the code lengths of a block with the fixed code.
func fixedLens() (lits [numLits]uint8, dists [numDists]uint8) {
	for i := range lits {
		switch {
		case i < 144:
			lits[i] = 8
		case i < 256:
			lits[i] = 9
		case i < 280:
			lits[i] = 7
		default:
			lits[i] = 8
		}
	}
	for i := range dists {
		dists[i] = 5
	}
	return lits, dists
}

// startBlock reads the header of a block.
func (d *Reader) startBlock() error {
	head, err := d.take(3)
	if err != nil {
		return err
	}
	d.last = head&1 != 0
	switch head >> 1 {
	case 0:
		return d.startStored()
	case 1:
		lits, dists := fixedLens()
		build(d.lit[:], litRoot, lits[:], d.meanings.lits[:])
		build(d.dist[:], distRoot, dists[:], d.meanings.dists[:])
		d.state = inCodes
		return nil
	case 2:
		return d.startDynamic()
	}
	return d.corrupt("a block of a type that does not exist")
}

func (d *Reader) startStored() error {
	d.align()
	sizes, err := d.take(32)
	if err != nil {
		return err
	}
	if uint16(sizes) != ^uint16(sizes>>16) {
		return d.corrupt("a stored block whose two lengths differ")
	}
	d.align() // what was loaded beyond belongs to the data
	d.stored = int(uint16(sizes))
	d.state = inStored
	return nil
}

// lenOrder is the order of the lengths of the code for code lengths.
var lenOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// startDynamic reads the codes of a block with its own codes.
func (d *Reader) startDynamic() error {
	head, err := d.take(14)
	if err != nil {
		return err
	}
	lits, dists, lens := int(head&31)+257, int(head>>5&31)+1, int(head>>10&15)+4
	if lits > 286 || dists > 30 {
		return d.corrupt("a block with more symbols than there are")
	}
	var lengths [286 + 30]uint8
	for _, i := range lenOrder[:lens] {
		n, err := d.take(3)
		if err != nil {
			return err
		}
		lengths[i] = uint8(n)
	}
	const lenRoot = 7
	var table [1 << lenRoot]uint32
	if !build(table[:], lenRoot, lengths[:19], d.meanings.lens[:]) {
		return d.corrupt("a broken code for code lengths")
	}
	clear(lengths[:19])
	if err := d.codeLengths(&table, lengths[:lits+dists]); err != nil {
		return err
	}
	if !build(d.lit[:], litRoot, lengths[:lits], d.meanings.lits[:]) || !build(d.dist[:], distRoot, lengths[lits:lits+dists], d.meanings.dists[:]) {
		return d.corrupt("a broken code")
	}
	d.state = inCodes
	return nil
}

// codeLengths reads the code lengths of a block's two codes.
func (d *Reader) codeLengths(table *[1 << 7]uint32, lengths []uint8) error {
	for i := 0; i < len(lengths); {
		if err := d.fill(8); err != nil {
			return err
		}
		d.refill()
		e := table[d.bits&(1<<7-1)]
		n := uint(e & takes)
		if n > d.nbits || d.nbits == 0 {
			return io.ErrUnexpectedEOF
		}
		if e == 0 {
			return d.corrupt("a code length with no code")
		}
		d.drop(n)
		symbol := uint8(e >> valueAt)
		if symbol < 16 {
			lengths[i] = symbol
			i++
			continue
		}
		repeat, extra := 3, uint(2)
		switch symbol {
		case 17:
			extra = 3
		case 18:
			repeat, extra = 11, 7
		}
		more, err := d.take(extra)
		if err != nil {
			return err
		}
		repeat += int(more)
		if symbol == 16 && i == 0 || i+repeat > len(lengths) {
			return d.corrupt("a repeated code length with nothing to repeat, or too often")
		}
		for range repeat {
			if symbol == 16 {
				lengths[i] = lengths[i-1]
			}
			i++
		}
	}
	return nil
}

// copyStored copies a part of a stored block.
func (d *Reader) copyStored() error {
	for d.stored > 0 && d.write < len(d.out) {
		if err := d.fill(1); err != nil {
			return err
		}
		if d.pos == d.end {
			return io.ErrUnexpectedEOF
		}
		n := min(d.stored, d.end-d.pos, len(d.out)-d.write)
		copy(d.out[d.write:], d.in[d.pos:d.pos+n])
		d.pos += n
		d.write += n
		d.stored -= n
	}
	if d.stored == 0 {
		d.endBlock()
	}
	return nil
}

func (d *Reader) endBlock() {
	d.state = atBlock
	if d.last {
		d.state = atTrailer
	}
}

const (
	maxMatch = 258
	// slack is more than a copy by eight bytes may write beyond its end.
	slack = 16
	// ahead is the number of bytes of input that one iteration of decode may load.
	ahead = 24
)

// decode decodes codes while there is enough input and output space.
func (d *Reader) decode() error {
	in, out := d.in, d.out
	bits, nbits, pos, o := d.bits, d.nbits, d.pos, d.write
	lit, dist := &d.lit, &d.dist
	lastIn, lastOut := d.end-ahead, len(out)-maxMatch-slack
	var err error
	for pos <= lastIn && o <= lastOut {
		bits |= binary.LittleEndian.Uint64(in[pos:]) << (nbits & 63)
		pos += int(63-nbits) >> 3
		nbits |= 56
		e := lit[bits&(1<<litRoot-1)]
		if e&isLiteral != 0 { // usually there are several literals in a row; three take at most 33 bits
			bits >>= e & takes
			nbits -= uint(e & takes)
			out[o] = byte(e >> valueAt)
			o++
			if e = lit[bits&(1<<litRoot-1)]; e&isLiteral != 0 {
				bits >>= e & takes
				nbits -= uint(e & takes)
				out[o] = byte(e >> valueAt)
				o++
				if e = lit[bits&(1<<litRoot-1)]; e&isLiteral != 0 {
					bits >>= e & takes
					nbits -= uint(e & takes)
					out[o] = byte(e >> valueAt)
					o++
					continue
				}
			}
			bits |= binary.LittleEndian.Uint64(in[pos:]) << (nbits & 63)
			pos += int(63-nbits) >> 3
			nbits |= 56
		}
		if e&isSub != 0 {
			bits >>= litRoot
			nbits -= litRoot
			e = lit[e>>valueAt+uint32(bits)&(1<<(e>>extraAt&extraMask)-1)]
		}
		bits >>= e & takes
		nbits -= uint(e & takes)
		if e&isLiteral != 0 {
			out[o] = byte(e >> valueAt)
			o++
			continue
		}
		if e&isEnd != 0 {
			d.endBlock()
			break
		}
		if e == 0 {
			err = d.corrupt("a symbol with no code")
			break
		}
		extra := e >> extraAt & extraMask
		length := int(e>>valueAt) + int(bits&(1<<extra-1))
		bits >>= extra
		nbits -= uint(extra)

		e = dist[bits&(1<<distRoot-1)]
		if e&isSub != 0 {
			bits >>= distRoot
			nbits -= distRoot
			e = dist[e>>valueAt+uint32(bits)&(1<<(e>>extraAt&extraMask)-1)]
		}
		bits >>= e & takes
		nbits -= uint(e & takes)
		extra = e >> extraAt & extraMask
		back := int(e>>valueAt) + int(bits&(1<<extra-1))
		bits >>= extra
		nbits -= uint(extra)
		if e == 0 || back > o {
			err = d.corrupt("a distance to before the start, or with no code")
			break
		}
		if back >= 8 {
			from, end := o-back, o+length
			for ; o < end; o += 8 {
				binary.LittleEndian.PutUint64(out[o:], binary.LittleEndian.Uint64(out[from:]))
				from += 8
			}
			o = end
			continue
		}
		o = repeat(out, o, back, length)
	}
	d.bits, d.nbits, d.pos, d.write = bits, nbits, pos, o
	return err
}

// repeat copies a match that overlaps itself, and returns its end.
func repeat(out []byte, at, back, length int) int {
	for n := 0; n < length; {
		n += copy(out[at+n:at+length], out[at-back:at+n])
	}
	return at + length
}

// step decodes one symbol near the end of the input: it never takes bits that do not exist.
func (d *Reader) step() error {
	e, err := d.symbol(d.lit[:], litRoot)
	if err != nil {
		return err
	}
	switch {
	case e&isLiteral != 0:
		d.out[d.write] = byte(e >> valueAt)
		d.write++
		return nil
	case e&isEnd != 0:
		d.endBlock()
		return nil
	}
	extra, err := d.take(uint(e >> extraAt & extraMask))
	if err != nil {
		return err
	}
	length := int(e>>valueAt) + int(extra)
	if e, err = d.symbol(d.dist[:], distRoot); err != nil {
		return err
	}
	if extra, err = d.take(uint(e >> extraAt & extraMask)); err != nil {
		return err
	}
	back := int(e>>valueAt) + int(extra)
	if back > d.write {
		return d.corrupt("a distance to before the start")
	}
	d.write = repeat(d.out, d.write, back, length)
	return nil
}

// symbol decodes one code.
func (d *Reader) symbol(table []uint32, root uint) (uint32, error) {
	d.refill()
	e := table[d.bits&(1<<root-1)]
	n := uint(0)
	if e&isSub != 0 {
		n = root
		e = table[e>>valueAt+uint32(d.bits>>root)&(1<<(e>>extraAt&extraMask)-1)]
	}
	n += uint(e & takes)
	if n > d.nbits || d.nbits == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if e == 0 {
		return 0, d.corrupt("a symbol with no code")
	}
	d.drop(n)
	return e, nil
}
