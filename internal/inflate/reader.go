package inflate

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// ErrCorrupt is wrapped by all errors about malformed data; truncated data is io.ErrUnexpectedEOF.
var ErrCorrupt = errors.New("corrupt gzip data")

// state is what comes next in the stream.
type state int

const (
	atHeader  state = iota // of a member
	atBlock                // the header of a block
	inStored               // a stored block
	inCodes                // a block of codes
	atTrailer              // of a member
)

const (
	inSize  = 64 << 10
	history = 32 << 10 // maximum distance of a match
	outSize = history + 128<<10 + maxMatch + slack
)

// Reader decompresses a stream. It is not safe for concurrent use.
type Reader struct {
	src      io.Reader
	in       []byte // in[pos:end] has not been read yet
	pos, end int
	taken    int64 // bytes of the stream before in[0]
	srcErr   error // why src ended

	bits  uint64 // the next nbits bits of the stream; the bits above may be the following ones
	nbits uint

	out         []byte // the latest output; its end is the history
	read, write int    // out[read:write] has not been returned yet

	state    state
	last     bool // the block is the member's last
	stored   int  // bytes left of a stored block
	meanings *meanings
	lit      [litSize]uint32
	dist     [distSize]uint32

	sum, size uint32 // of the member
	err       error  // why reading stopped
}

// NewReader returns a Reader of gzip data. It reads the first header.
func NewReader(r io.Reader) (*Reader, error) {
	d := &Reader{src: r, in: make([]byte, inSize), out: make([]byte, outSize), meanings: newMeanings()}
	if err := d.header(); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return d, nil
}

// Read reads decompressed data.
func (d *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for d.read == d.write {
		if d.err != nil {
			return 0, d.err
		}
		d.err = d.more()
		fresh := d.out[d.read:d.write]
		d.sum = crc32.Update(d.sum, crc32.IEEETable, fresh)
		d.size += uint32(len(fresh))
	}
	n := copy(p, d.out[d.read:d.write])
	d.read += n
	return n, nil
}

// more decompresses until the output space is used up or the member's data ends. All previous
// output must have been returned.
func (d *Reader) more() error {
	if d.state == atTrailer {
		if err := d.trailer(); err != nil {
			return err
		}
		if err := d.header(); err != nil {
			return err
		}
		d.read, d.write = 0, 0 // no match refers to the previous member
	}
	if keep := min(d.write, history); d.write > keep {
		copy(d.out, d.out[d.write-keep:d.write])
		d.read, d.write = keep, keep
	}
	for d.state != atTrailer && d.write <= len(d.out)-maxMatch-slack {
		if err := d.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Reader) advance() error {
	switch d.state {
	case atBlock:
		return d.startBlock()
	case inStored:
		return d.copyStored()
	}
	if err := d.fill(ahead + 1); err != nil {
		return err
	}
	if d.end-d.pos >= ahead {
		return d.decode()
	}
	return d.step()
}

// fill makes at least n bytes of input available, or all that remain.
func (d *Reader) fill(n int) error {
	if d.end-d.pos >= n || d.srcErr == io.EOF {
		return nil
	}
	const loaded = 8 // bytes that align may return
	if from := d.pos - loaded; from > 0 {
		d.end = copy(d.in, d.in[from:d.end])
		d.taken += int64(from)
		d.pos = loaded
	}
	for empty := 0; d.end-d.pos < n && d.srcErr == nil; {
		var got int
		got, d.srcErr = d.src.Read(d.in[d.end:])
		d.end += got
		if got > 0 {
			empty = 0
		} else if empty++; empty == 100 && d.srcErr == nil {
			d.srcErr = io.ErrNoProgress
		}
	}
	if d.end-d.pos < n && d.srcErr != io.EOF {
		return d.srcErr
	}
	return nil
}

// refill loads as many whole bytes as fit.
func (d *Reader) refill() {
	for d.nbits <= 56 && d.pos < d.end {
		d.bits |= uint64(d.in[d.pos]) << d.nbits
		d.pos++
		d.nbits += 8
	}
}

func (d *Reader) drop(n uint) {
	d.bits >>= n
	d.nbits -= n
}

// take returns the next n bits, 32 at most.
func (d *Reader) take(n uint) (uint32, error) {
	if err := d.fill(8); err != nil {
		return 0, err
	}
	d.refill()
	if d.nbits < n {
		return 0, io.ErrUnexpectedEOF
	}
	v := uint32(d.bits & (1<<n - 1))
	d.drop(n)
	return v, nil
}

// align advances to the next whole byte, and returns those that were loaded in advance.
func (d *Reader) align() {
	d.pos -= int(d.nbits / 8)
	d.bits, d.nbits = 0, 0
}

func (d *Reader) corrupt(what string) error {
	return fmt.Errorf("%w: %s, near byte %d", ErrCorrupt, what, d.taken+int64(d.pos))
}
