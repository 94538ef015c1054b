package disasm

import (
	"debug/macho"
	"errors"
	"fmt"
	"io"
	"strings"
)

var machoArch = map[macho.Cpu]string{
	macho.Cpu386: "386", macho.CpuAmd64: "amd64", macho.CpuArm: "arm", macho.CpuArm64: "arm64",
}

func readMachO(r io.ReaderAt) (*object, error) {
	f, err := macho.NewFile(r)
	if err != nil {
		return nil, err
	}
	o := &object{arch: machoArch[f.Cpu]}
	for _, s := range f.Sections {
		const zeroFill = 1 // S_ZEROFILL: takes no room in the file
		if s.Flags&0xff != zeroFill {
			o.sections = append(o.sections, section{s.Addr, s.Size, isMachOCode(s), s})
		}
	}
	if f.Symtab != nil {
		for _, s := range f.Symtab.Syms {
			const debugging = 0xe0 // N_STAB
			if s.Type&debugging == 0 && s.Sect > 0 && int(s.Sect) <= len(f.Sections) && !skipSymbol(s.Name) {
				o.symbols = append(o.symbols, symbol{name: s.Name, addr: s.Value, code: isMachOCode(f.Sections[s.Sect-1])})
			}
		}
		guessSizes(o.symbols)
	}
	if s := f.Section("__gopclntab"); s != nil {
		if o.pclntab, err = s.Data(); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	o.textStart, o.goFunc = o.symbolNamed("runtime.text"), o.symbolNamed("go:func.*")
	if s := f.Section("__text"); s != nil && o.textStart == 0 {
		o.textStart = s.Addr
	}
	o.bias = func(start, _, _ uint64) (uint64, error) {
		text := f.Segment("__TEXT")
		switch {
		case start == 0:
			return 0, nil
		case text == nil:
			return 0, errors.New("it has no segment __TEXT")
		}
		return start - text.Addr, nil
	}
	return o, nil
}

func isMachOCode(s *macho.Section) bool {
	return s.Seg == "__TEXT" && strings.HasPrefix(s.Name, "__text")
}
