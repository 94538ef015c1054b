package exectrace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hone-go/hone/exectrace/internal/wire"
	"github.com/hone-go/hone/profile"
)

// maxInflated is the limit on a compressed trace if the caller sets none.
const maxInflated = 16 << 30

// readAtOnce is the number of bytes read for the heads of batches. It is small because most of a
// batch is then read directly to its final place.
const readAtOnce = 4 << 10

// input reads batches from a trace and counts bytes.
type input struct {
	r       *bufio.Reader
	close   func() error
	off     int64
	version int
}

// openInput reads the header. It recognizes compressed traces (gzip, zstd).
func openInput(r io.Reader, opt Options) (*input, error) {
	in := &input{close: func() error { return nil }}
	in.r = bufio.NewReaderSize(r, readAtOnce)
	if magic, _ := in.r.Peek(4); compressed(magic) {
		limit := opt.MaxInflated
		if limit == 0 {
			limit = maxInflated
		}
		inflated, err := profile.Inflate(in.r, limit)
		if err != nil {
			return nil, fmt.Errorf("read execution trace: %w", err)
		}
		in.close = inflated.Close
		in.r = bufio.NewReaderSize(inflated, readAtOnce)
	}
	var err error
	if in.version, err = in.header(); err != nil {
		in.close()
		return nil, fmt.Errorf("read execution trace: %w", err)
	}
	return in, nil
}

func compressed(magic []byte) bool {
	return bytes.HasPrefix(magic, []byte{0x1f, 0x8b}) || bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

var errNotATrace = errors.New("not a Go execution trace: it does not start with \"go 1.N trace\"")

// versions lists the versions that are read. Go 1.24 writes 23.
var versions = []int{22, 23, 25, 26}

func (in *input) header() (int, error) {
	head := make([]byte, wire.HeaderSize)
	n, err := io.ReadFull(in.r, head)
	in.off = int64(n)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return 0, err
	}
	if n == 0 {
		return 0, errors.New("empty")
	}
	var v int
	if _, err := fmt.Sscanf(string(head), "go 1.%d trace", &v); err != nil || !bytes.Equal(head[:n], wire.Header(v)) {
		return 0, errNotATrace
	}
	switch {
	case slices.Contains(versions, v):
		return v, nil
	case v < versions[0]:
		return 0, fmt.Errorf("format of Go 1.%d: hone reads traces of Go 1.22 and later; build the program with Go 1.22 or later and record again, or open this one with go tool trace", v)
	default:
		return 0, fmt.Errorf("format of Go 1.%d is unknown: this version of hone reads those of Go 1.22 to 1.26", v)
	}
}

// batch is a batch of events in the memory of its generation.
type batch struct {
	thread uint64
	time   uint64 // clock units
	file   int64  // offset of the payload in the trace
	at     uint32 // index in the memory of the generation
	size   uint32
	next   int32 // the next batch of the same thread, or -1
}

// errEnd is the regular end of the trace, between two batches.
var errEnd = errors.New("end of trace")

// batchHeader is the header of a batch, or the end of a generation.
type batchHeader struct {
	gen, thread, time, size uint64
	experiment, end         bool
}

// next reads the header of a batch.
func (in *input) next() (h batchHeader, err error) {
	typ, err := in.r.ReadByte()
	if err == io.EOF {
		return h, errEnd
	}
	if err != nil {
		return h, err
	}
	in.off++
	switch t := wire.Type(typ); {
	case t == wire.EventBatch:
	case t == wire.ExperimentalBatch && in.version >= wire.Specs[t].Since:
		h.experiment = true
		if _, err := in.uvarint(); err != nil {
			return h, cut(err, "experiment of a batch")
		}
	case t == wire.EndOfGeneration && in.version >= wire.Specs[t].Since:
		h.end = true
		return h, nil
	default:
		return h, fmt.Errorf("expected a batch, found %v", t)
	}
	for _, f := range []*uint64{&h.gen, &h.thread, &h.time, &h.size} {
		if *f, err = in.uvarint(); err != nil {
			return h, cut(err, "head of a batch")
		}
	}
	switch {
	case h.gen == 0:
		return h, errors.New("a batch of generation 0")
	case h.size > wire.MaxBatch:
		return h, fmt.Errorf("a batch of %d bytes; the limit is %d", h.size, wire.MaxBatch)
	}
	return h, nil
}

func cut(err error, what string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the trace is cut off in the %s", what)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (in *input) uvarint() (v uint64, err error) {
	for k := range 10 {
		b, err := in.r.ReadByte()
		if err != nil {
			return 0, err
		}
		in.off++
		v |= uint64(b&0x7f) << (7 * k)
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, errors.New("a number of more than ten bytes")
}

// payload reads the bytes of a batch.
func (in *input) payload(b []byte) error {
	n, err := io.ReadFull(in.r, b)
	in.off += int64(n)
	if err != nil {
		return cut(err, fmt.Sprintf("batch of %d bytes", len(b)))
	}
	return nil
}
