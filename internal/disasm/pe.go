package disasm

import (
	"bytes"
	"debug/pe"
	"errors"
	"fmt"
	"io"
)

var peArch = map[uint16]string{
	pe.IMAGE_FILE_MACHINE_I386: "386", pe.IMAGE_FILE_MACHINE_AMD64: "amd64",
	pe.IMAGE_FILE_MACHINE_ARMNT: "arm", pe.IMAGE_FILE_MACHINE_ARM64: "arm64",
}

func readPE(r io.ReaderAt) (*object, error) {
	f, err := pe.NewFile(r)
	if err != nil {
		return nil, err
	}
	o := &object{arch: peArch[f.Machine]}
	var base uint64
	switch h := f.OptionalHeader.(type) {
	case *pe.OptionalHeader32:
		base = uint64(h.ImageBase)
	case *pe.OptionalHeader64:
		base = h.ImageBase
	default:
		return nil, errors.New("not a program: it has no optional header")
	}
	for _, s := range f.Sections {
		code := s.Characteristics&pe.IMAGE_SCN_CNT_CODE != 0
		o.sections = append(o.sections, section{base + uint64(s.VirtualAddress), uint64(s.Size), code, s})
		if s.Name == ".text" {
			o.textStart = base + uint64(s.VirtualAddress)
		}
	}
	for _, s := range f.Symbols {
		if n := int(s.SectionNumber); n > 0 && n <= len(f.Sections) && !skipSymbol(s.Name) {
			in := o.sections[n-1]
			o.symbols = append(o.symbols, symbol{name: s.Name, addr: in.addr + uint64(s.Value), code: in.code})
		}
	}
	guessSizes(o.symbols)
	if text := o.symbolNamed("runtime.text"); text != 0 {
		o.textStart = text
	}
	o.goFunc = o.symbolNamed("go:func.*")
	if err := o.peTable(f); err != nil {
		return nil, err
	}
	o.bias = func(start, _, _ uint64) (uint64, error) {
		if start == 0 {
			return 0, nil
		}
		return start - base, nil // a module is mapped as a whole
	}
	return o, nil
}

// peTable finds Go's function table, which has no section of its own: by its symbol, else by how
// it begins.
func (o *object) peTable(f *pe.File) error {
	s := f.Section(".rdata")
	if s == nil {
		return nil
	}
	data, err := s.Data()
	if err != nil {
		return fmt.Errorf("section %s: %w", s.Name, err)
	}
	if at := o.symbolNamed("runtime.pclntab"); at != 0 {
		for i, sec := range o.sections {
			if f.Sections[i] == s && at >= sec.addr && at-sec.addr < uint64(len(data)) {
				o.pclntab = data[at-sec.addr:]
				return nil
			}
		}
	}
	for _, word := range []byte{8, 4} {
		for _, quantum := range []byte{1, 4} {
			head := []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, quantum, word}
			if i := bytes.Index(data, head); i >= 0 {
				o.pclntab = data[i:]
				return nil
			}
		}
	}
	return nil
}
