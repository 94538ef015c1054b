package disasm

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
)

// Binary is an opened program. Safe for concurrent use.
type Binary struct {
	Path    string
	Arch    string // as GOARCH
	BuildID string // GNU build id in hex, as profiles name it; "" when the file has none

	file    *os.File
	obj     *object
	table   *pclntab // nil without Go functions
	funcs   []Func   // by address
	symbols []symbol // by address
}

// Func is a function's place in the file.
type Func struct {
	Name       string
	Entry, End uint64 // addresses in the file, End behind the last byte
}

// Has reports whether an address is in the function.
func (f Func) Has(addr uint64) bool { return f.Entry <= addr && addr < f.End }

// maxCode bounds the size of one function.
const maxCode = 64 << 20

// object is what the three file formats have in common.
type object struct {
	arch      string
	buildID   string
	sections  []section
	symbols   []symbol
	pclntab   []byte
	textStart uint64 // address of runtime.text; what the table's offsets start at
	goFunc    uint64 // address of go:func.*; 0 when not known
	// bias is what was added to the file's addresses when [start, limit) was mapped from
	// offset in the file.
	bias func(start, limit, offset uint64) (uint64, error)
}

// section is a part of the file that is loaded.
type section struct {
	addr, size uint64
	code       bool
	data       io.ReaderAt
}

// symbol is an entry of the symbol table.
type symbol struct {
	name       string
	addr, size uint64
	code       bool
}

// Open reads the tables of a program. Close it after use.
func Open(path string) (*Binary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := read(path, f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return b, nil
}

// Close closes the file.
func (b *Binary) Close() error { return b.file.Close() }

func read(path string, f *os.File) (*Binary, error) {
	obj, err := readObject(f)
	if err != nil {
		return nil, err
	}
	b := &Binary{Path: path, Arch: obj.arch, BuildID: obj.buildID, file: f, obj: obj, symbols: obj.symbols}
	b.symbols = slices.DeleteFunc(b.symbols, func(s symbol) bool { return s.name == "runtime.text" || s.name == "_runtime.text" })
	// Of symbols at one place the largest comes last, where a search from above finds it.
	slices.SortFunc(b.symbols, func(a, c symbol) int {
		return cmp.Or(cmp.Compare(a.addr, c.addr), cmp.Compare(a.size, c.size), cmp.Compare(a.name, c.name))
	})
	if len(obj.pclntab) > 0 {
		if b.table, err = parsePclntab(obj.pclntab, obj.textStart); err != nil {
			return nil, fmt.Errorf("the table of Go functions: %w", err)
		}
	}
	b.collect()
	if len(b.funcs) == 0 {
		return nil, fmt.Errorf("it has neither a table of Go functions nor symbols")
	}
	return b, nil
}

func readObject(f *os.File) (*object, error) {
	var magic [4]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil {
		return nil, fmt.Errorf("not a program: %w", err)
	}
	switch {
	case bytes.Equal(magic[:], []byte("\x7fELF")):
		return readELF(f)
	case bytes.HasPrefix(magic[:], []byte("MZ")):
		return readPE(f)
	case bytes.Equal(magic[1:], []byte("\xfa\xed\xfe")), bytes.Equal(magic[:3], []byte("\xfe\xed\xfa")):
		return readMachO(f)
	}
	return nil, fmt.Errorf("not a program: it is neither ELF, Mach-O nor PE")
}

// collect lists the functions: those of Go's table, and the symbols of code that stands
// outside of it. A symbol's size ends a function where its padding begins.
func (b *Binary) collect() {
	if b.table != nil {
		b.funcs = b.table.functions()
	}
	goFuncs := b.funcs
	for _, s := range b.symbols {
		if !s.code || s.size == 0 {
			continue
		}
		i := sort.Search(len(goFuncs), func(i int) bool { return goFuncs[i].Entry > s.addr })
		if i == 0 || s.addr >= goFuncs[i-1].End {
			b.funcs = append(b.funcs, Func{s.name, s.addr, s.addr + s.size})
			continue
		}
		if g := &goFuncs[i-1]; g.Entry == s.addr && s.addr+s.size < g.End {
			g.End = s.addr + s.size
		}
	}
	slices.SortStableFunc(b.funcs, func(a, c Func) int { return cmp.Compare(a.Entry, c.Entry) })
}

// Functions returns all functions by address. It is not to be changed.
func (b *Binary) Functions() []Func { return b.funcs }

// FuncAt returns the function that has an address.
func (b *Binary) FuncAt(addr uint64) (Func, bool) {
	i := sort.Search(len(b.funcs), func(i int) bool { return b.funcs[i].Entry > addr })
	if i == 0 || !b.funcs[i-1].Has(addr) {
		return Func{}, false
	}
	return b.funcs[i-1], true
}

// Bias returns what is to be subtracted from the addresses of a running process to get
// those in the file. The process has the file's bytes from offset at start to limit; that is
// what a profile says about its mappings. It is 0 for programs that are not position-independent.
func (b *Binary) Bias(start, limit, offset uint64) (uint64, error) {
	bias, err := b.obj.bias(start, limit, offset)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", b.Path, err)
	}
	return bias, nil
}

// code reads the bytes of a function.
func (b *Binary) code(f Func) ([]byte, error) {
	size := f.End - f.Entry
	if f.End < f.Entry || size > maxCode {
		return nil, fmt.Errorf("%s: %s would have %d bytes of code", b.Path, f.Name, size)
	}
	buf := make([]byte, size)
	if err := b.obj.read(f.Entry, buf); err != nil {
		return nil, fmt.Errorf("%s: read the code of %s: %w", b.Path, f.Name, err)
	}
	return buf, nil
}

// read fills buf with what is loaded at addr.
func (o *object) read(addr uint64, buf []byte) error {
	for _, s := range o.sections {
		if addr < s.addr || addr-s.addr >= s.size || uint64(len(buf)) > s.size-(addr-s.addr) {
			continue
		}
		if n, err := s.data.ReadAt(buf, int64(addr-s.addr)); n < len(buf) {
			return err
		}
		return nil
	}
	return fmt.Errorf("nothing is loaded from the file at %#x", addr)
}

// symbolNamed returns the address of a symbol, 0 when there is none. On macOS the system's linker
// puts an underscore before each.
func (o *object) symbolNamed(name string) uint64 {
	i := slices.IndexFunc(o.symbols, func(s symbol) bool { return s.name == name || s.name == "_"+name })
	if i < 0 {
		return 0
	}
	return o.symbols[i].addr
}

// guessSizes gives symbols without a size the room up to the next one: neither Mach-O nor
// PE keep sizes.
func guessSizes(symbols []symbol) {
	slices.SortStableFunc(symbols, func(a, b symbol) int { return cmp.Compare(a.addr, b.addr) })
	next := uint64(0)
	for i := len(symbols) - 1; i >= 0; i-- {
		s := &symbols[i]
		if i+1 < len(symbols) && symbols[i+1].addr > s.addr {
			next = symbols[i+1].addr
		}
		if next > s.addr {
			s.size = next - s.addr
		}
	}
}
