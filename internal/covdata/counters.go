package covdata

import (
	"encoding/binary"
	"fmt"
)

// Counts are the executions of every block of a program, by package, function and block, as in its
// Meta. The entry of a function that did not run is nil. The program counts in 32 bits, which may
// overflow.
type Counts [][][]uint64

// The counters of a file are 32-bit numbers or ULEB128.
const (
	rawCounters  = 1
	ulebCounters = 2
)

const footerBytes = 16

// ReadCounters decodes a counter file of the program and adds it to counts, which may be nil.
func (m *Meta) ReadCounters(data []byte, counts Counts) (Counts, error) {
	if counts == nil {
		counts = make(Counts, len(m.Packages))
		for i := range counts {
			counts[i] = make([][]uint64, len(m.Packages[i].Funcs))
		}
	}
	if err := m.readCounters(data, counts); err != nil {
		return nil, fmt.Errorf("coverage counters: %w", err)
	}
	return counts, nil
}

func (m *Meta) readCounters(data []byte, counts Counts) error {
	r := &reader{data: data}
	if string(r.bytes(4)) != counterMagic {
		return fmt.Errorf("not a coverage counter file")
	}
	if v := r.uint32(); v != formatVersion && r.err == nil {
		return fmt.Errorf("version %d is not supported, only version %d", v, formatVersion)
	}
	if hash := r.bytes(16); hash != nil && [16]byte(hash) != m.Hash {
		return fmt.Errorf("the counters and the meta-data are of different programs")
	}
	flags := r.bytes(8) // flavor, byte order, padding
	if len(data) < footerBytes || r.err != nil {
		return errShort
	}
	next := r.uleb
	switch {
	case flags[0] == rawCounters && flags[1] != 0:
		next = func() uint64 {
			if b := r.bytes(4); b != nil {
				return uint64(binary.BigEndian.Uint32(b))
			}
			return 0
		}
	case flags[0] == rawCounters:
		next = func() uint64 { return uint64(r.uint32()) }
	case flags[0] != ulebCounters:
		return fmt.Errorf("counters have an unknown encoding %d", flags[0])
	}
	footer := data[len(data)-footerBytes:]
	if string(footer[:4]) != counterMagic {
		return errShort
	}
	for range binary.LittleEndian.Uint32(footer[8:]) {
		m.readSegment(r, next, counts)
		r.bytes(footerBytes)
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// readSegment adds the counters of one run of the program.
func (m *Meta) readSegment(r *reader, next func() uint64, counts Counts) {
	functions := r.uint64()
	r.bytes(uint64(r.uint32()) + uint64(r.uint32())) // strings and arguments
	r.bytes(uint64(-r.at & 3))                       // padding
	for range r.fits(functions, 3) {
		n, pkg, fn := next(), next(), next()
		if r.err != nil {
			return
		}
		if pkg >= uint64(len(m.Packages)) || fn >= uint64(len(m.Packages[pkg].Funcs)) {
			r.fail("counters of function %d of package %d, which the meta-data do not have", fn, pkg)
			return
		}
		if blocks := len(m.Packages[pkg].Funcs[fn].Blocks); n != uint64(blocks) {
			r.fail("%d counters of a function of %d blocks", n, blocks)
			return
		}
		sums := counts[pkg][fn]
		if sums == nil {
			sums = make([]uint64, n)
			counts[pkg][fn] = sums
		}
		for i := range sums {
			sums[i] += next()
		}
	}
}
