package inflate

import (
	"hash/crc32"
	"io"
)

// header reads a member's header; io.EOF if there are no more members. Its content is not used, but
// its checksum is verified.
func (d *Reader) header() error {
	if err := d.fill(1); err != nil {
		return err
	}
	if d.pos == d.end {
		return io.EOF
	}
	h := headerReader{d: d}
	if h.byte() != 0x1f || h.byte() != 0x8b || h.byte() != 8 {
		return h.or(d.corrupt("no gzip header"))
	}
	const hasSum, hasExtra, hasName, hasComment = 1 << 1, 1 << 2, 1 << 3, 1 << 4
	flags := h.byte()
	for range 6 { // the modification time and two unused bytes
		h.byte()
	}
	if flags&hasExtra != 0 {
		for range int(h.byte()) | int(h.byte())<<8 {
			h.byte()
		}
	}
	for _, has := range []byte{hasName, hasComment} {
		if flags&has != 0 && !h.text() {
			return h.or(d.corrupt("a name or comment without an end"))
		}
	}
	if flags&hasSum != 0 {
		want := uint16(h.sum)
		if got := uint16(h.byte()) | uint16(h.byte())<<8; got != want {
			return h.or(d.corrupt("a header with a wrong checksum"))
		}
	}
	d.state, d.sum, d.size = atBlock, 0, 0
	return h.err
}

// headerReader reads bytes and sums them; after an error it returns zeros.
type headerReader struct {
	d   *Reader
	sum uint32
	err error
}

func (h *headerReader) byte() byte {
	v, err := h.d.take(8)
	if h.err == nil {
		h.err = err
	}
	if h.err != nil {
		return 0
	}
	h.sum = crc32.Update(h.sum, crc32.IEEETable, []byte{byte(v)})
	return byte(v)
}

// longestText is how long a name or a comment may be with its final zero, in bytes. RFC 1952 sets
// no limit; this is that of compress/gzip (readString in gunzip.go), so both readers refuse the
// same.
const longestText = 512

// text skips a text and the zero that ends it, and reports whether it ended.
func (h *headerReader) text() bool {
	for range longestText {
		if h.byte() == 0 {
			return h.err == nil
		}
	}
	return false
}

// or returns the reader's error, or err if there is none.
func (h *headerReader) or(err error) error {
	if h.err != nil {
		return h.err
	}
	return err
}

// trailer verifies a member's checksum and length.
func (d *Reader) trailer() error {
	d.align()
	sum, err := d.take(32)
	if err != nil {
		return err
	}
	size, err := d.take(32)
	if err != nil {
		return err
	}
	if sum != d.sum || size != d.size {
		return d.corrupt("a wrong checksum or length")
	}
	d.align()
	return nil
}
