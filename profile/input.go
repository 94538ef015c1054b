package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/hone-go/hone/internal/inflate"
)

// DefaultMaxBytes is Decode's bound on the inflated profile: 2 GiB.
const DefaultMaxBytes = 2 << 30

// Real profiles grow 2 to 30 times when decompressed. Compressed input that exceeds both limits is
// rejected as a decompression bomb.
const (
	bombBytes = 32 << 20
	bombRatio = 200
)

// zstdWindow bounds the memory that a frame header can make the decoder allocate.
const zstdWindow = 64 << 20

// window is a sliding buffer over the decompressed profile. It grows only as far as data arrives,
// whatever length a field claims.
type window struct {
	src  io.Reader
	zip  string      // name of the compression; "" for none
	in   *countBytes // compressed bytes read so far
	stop func()      // releases the decompressor
	max  int64

	buf    []byte
	lo, hi int   // buf[lo:hi] is unread
	base   int64 // offset of buf[0] in the decompressed profile
	err    error // why src ended; io.EOF at its end
	head   []byte
}

// countBytes counts the bytes that the decompressor reads from the input.
type countBytes struct {
	r io.Reader
	n int64
}

func (c *countBytes) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// openWindow recognizes the compression of the input by its first bytes.
func openWindow(r io.Reader, max int64) (*window, error) {
	if max <= 0 {
		max = DefaultMaxBytes
	}
	w := &window{max: max, in: &countBytes{r: r}, stop: func() {}}
	magic := make([]byte, 4)
	n, err := io.ReadFull(w.in, magic)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	magic = magic[:n]
	all := io.MultiReader(bytes.NewReader(magic), w.in)
	switch {
	case len(magic) == 0:
		return nil, errors.New("the profile is empty")
	case len(magic) >= 2 && magic[0] == 0x1f && magic[1] == 0x8b:
		zr, err := inflate.NewReader(all)
		if err != nil {
			return nil, fmt.Errorf("inflate gzip'd profile: %w", err)
		}
		w.zip, w.src = "gzip", zr
	case string(magic) == "\x28\xb5\x2f\xfd":
		zr, err := zstd.NewReader(all, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, fmt.Errorf("inflate zstd'd profile: %w", err)
		}
		w.zip, w.src, w.stop = "zstd", zr, zr.Close
	case string(magic) == "PK\x03\x04":
		return nil, errors.New("this is a zip archive, not a profile")
	default:
		w.src = all
	}
	w.buf = make([]byte, 256<<10)
	return w, nil
}

// offset returns the offset of the next unread byte in the decompressed profile.
func (w *window) offset() int64 { return w.base + int64(w.lo) }

// want makes at least n bytes available, or as many as the input has, and returns how many are
// available. An error means that reading failed, not that the input ended.
func (w *window) want(n int) (int, error) {
	for w.hi-w.lo < n && w.err == nil {
		w.makeRoom(n)
		w.read()
	}
	if w.hi-w.lo < n && w.err != io.EOF {
		return 0, w.err
	}
	return w.hi - w.lo, nil
}

// makeRoom discards read bytes from the buffer, or doubles it.
func (w *window) makeRoom(n int) {
	if w.lo > 0 && (w.hi == len(w.buf) || len(w.buf)-w.lo < n) {
		copy(w.buf, w.buf[w.lo:w.hi])
		w.base += int64(w.lo)
		w.hi -= w.lo
		w.lo = 0
	}
	if w.hi == len(w.buf) {
		grown := make([]byte, 2*len(w.buf))
		copy(grown, w.buf)
		w.buf = grown
	}
}

func (w *window) read() {
	n, err := w.src.Read(w.buf[w.hi:])
	w.hi += n
	total := w.base + int64(w.hi)
	if len(w.head) < 512 {
		w.head = append(w.head, w.buf[w.hi-n : w.hi][:min(n, 512-len(w.head))]...)
	}
	switch {
	case total > w.max:
		w.err = fmt.Errorf("%w: more than the allowed %d bytes when inflated", ErrTooLarge, w.max)
	case w.zip != "" && total > bombBytes && total/bombRatio > w.in.n:
		w.err = fmt.Errorf("%w: %d bytes of %s inflate to more than %d, %d times as much; no real profile does", ErrTooLarge, w.in.n, w.zip, total, total/w.in.n)
	case errors.Is(err, io.ErrUnexpectedEOF):
		w.err = fmt.Errorf("inflate %s'd profile: the stream is cut off after %d inflated bytes: %w", w.zip, total, err)
	case err != nil && err != io.EOF && w.zip != "":
		w.err = fmt.Errorf("inflate %s'd profile after %d inflated bytes: %w", w.zip, total, err)
	case err != nil && err != io.EOF:
		w.err = fmt.Errorf("read profile after %d bytes: %w", total, err)
	default:
		w.err = err
	}
}

// skip discards n bytes, including unread ones. It reports whether there were that many.
func (w *window) skip(n int64) (bool, error) {
	for n > int64(w.hi-w.lo) {
		n -= int64(w.hi - w.lo)
		w.lo = w.hi
		if got, err := w.want(1); got == 0 {
			return false, err
		}
	}
	w.lo += int(n)
	return true, nil
}
