package covdata

import "fmt"

// Meta is the content of a meta-data file.
type Meta struct {
	Hash     [16]byte // of the program; its counter files have the same
	Packages []Package
}

// Package is one instrumented package.
type Package struct {
	Path   string // import path
	Module string
	Funcs  []Func
}

// Func is a function, or a function literal, which has its own counters.
type Func struct {
	Name    string // "Send", "(*StatsD).Send" or "StatsD.Send"; for a literal that of its function and ".func1"
	File    string // import path of the package and file name: "net/http/server.go"
	Literal bool
	Blocks  []Block
}

// Block is a sequence of statements that are executed together. Positions are lines and columns
// from 1.
type Block struct {
	StartLine, StartColumn int
	EndLine, EndColumn     int
	Statements             int
}

const (
	metaMagic     = "\x00cvm"
	counterMagic  = "\x00cwm"
	formatVersion = 1
	headerBytes   = 44 // of a package's meta-data (internal/coverage, MetaSymbolHeader)
	blockBytes    = 5  // at least: five numbers
)

// ReadMeta decodes a meta-data file. It returns an error for files whose counters do not count
// blocks.
func ReadMeta(data []byte) (*Meta, error) {
	m := &Meta{}
	r := &reader{data: data}
	if string(r.bytes(4)) != metaMagic {
		return nil, fmt.Errorf("not a coverage meta-data file")
	}
	if v := r.uint32(); v != formatVersion && r.err == nil {
		return nil, fmt.Errorf("coverage meta-data of version %d; only version %d is supported", v, formatVersion)
	}
	r.uint64() // length
	n := r.uint64()
	copy(m.Hash[:], r.bytes(16))
	r.uint64() // the file's string table, which is empty
	r.bytes(8) // mode, granularity
	n = uint64(r.fits(n, 16))
	offsets, lengths := make([]uint64, n), make([]uint64, n)
	for i := range offsets {
		offsets[i] = r.uint64()
	}
	for i := range lengths {
		lengths[i] = r.uint64()
	}
	if r.err != nil {
		return nil, fmt.Errorf("coverage meta-data: %w", r.err)
	}
	m.Packages = make([]Package, n)
	left := uint64(len(data)) // packages do not overlap, so the sum of their sizes is bounded
	for i := range m.Packages {
		if lengths[i] > left {
			return nil, fmt.Errorf("coverage meta-data: the packages are longer than the file")
		}
		left -= lengths[i]
		if offsets[i] > uint64(len(data)) || lengths[i] > uint64(len(data))-offsets[i] {
			return nil, fmt.Errorf("coverage meta-data: package %d is outside the file", i)
		}
		if err := m.Packages[i].read(data[offsets[i] : offsets[i]+lengths[i]]); err != nil {
			return nil, fmt.Errorf("coverage meta-data: package %d: %w", i, err)
		}
	}
	return m, nil
}

func (p *Package) read(data []byte) error {
	r := &reader{data: data}
	r.uint32() // length
	r.uint32() // name
	path, module := r.uint32(), r.uint32()
	r.bytes(16 + 4) // hash, padding
	r.uint32()      // files
	n := r.fits(uint64(r.uint32()), 4)
	offsets := make([]uint32, n)
	for i := range offsets {
		offsets[i] = r.uint32()
	}
	table := r.strings()
	p.Path, p.Module = r.pick(table, uint64(path)), r.pick(table, uint64(module))
	p.Funcs = make([]Func, n)
	blocks := len(data) / blockBytes // functions do not overlap either
	for i := range p.Funcs {
		if r.err == nil && (offsets[i] < headerBytes || uint64(offsets[i]) > uint64(len(data))) {
			r.fail("function %d is outside its package", i)
		}
		if r.err != nil {
			return r.err
		}
		r.at = int(offsets[i])
		p.Funcs[i].read(r, table)
		if blocks -= len(p.Funcs[i].Blocks); blocks < 0 {
			r.fail("more blocks than the file can hold")
		}
	}
	return r.err
}

func (f *Func) read(r *reader, table []string) {
	n := r.count(blockBytes)
	f.Name, f.File = r.pick(table, r.uleb()), r.pick(table, r.uleb())
	f.Blocks = make([]Block, n)
	for i := range f.Blocks {
		f.Blocks[i] = Block{int(uint32(r.uleb())), int(uint32(r.uleb())), int(uint32(r.uleb())), int(uint32(r.uleb())), int(uint32(r.uleb()))}
	}
	f.Literal = r.uleb() != 0
}
