package disasm

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

var elfArch = map[elf.Machine]string{
	elf.EM_386: "386", elf.EM_X86_64: "amd64", elf.EM_ARM: "arm", elf.EM_AARCH64: "arm64",
	elf.EM_LOONGARCH: "loong64", elf.EM_MIPS: "mips", elf.EM_PPC64: "ppc64", elf.EM_RISCV: "riscv64", elf.EM_S390: "s390x",
}

func readELF(r io.ReaderAt) (*object, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	o := &object{arch: elfArch[f.Machine], buildID: gnuBuildID(f)}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS {
			o.sections = append(o.sections, section{s.Addr, s.Size, s.Flags&elf.SHF_EXECINSTR != 0, s})
		}
	}
	o.symbols = elfSymbols(f)
	// Until Go 1.25 the table of a position-independent program had the second name.
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := f.Section(name); s != nil && o.pclntab == nil {
			if o.pclntab, err = s.Data(); err != nil {
				return nil, fmt.Errorf("section %s: %w", name, err)
			}
		}
	}
	o.textStart, o.goFunc = o.symbolNamed("runtime.text"), o.symbolNamed("go:func.*")
	if s := f.Section(".go.module"); s != nil && (o.textStart == 0 || o.goFunc == 0) {
		o.textStart, o.goFunc = elfModule(f, s)
	}
	if s := f.Section(".text"); s != nil && o.textStart == 0 {
		o.textStart = s.Addr // so it is unless C code was linked in before
	}
	o.bias = func(start, limit, offset uint64) (uint64, error) { return elfBias(f, start, limit, offset) }
	return o, nil
}

func elfSymbols(f *elf.File) []symbol {
	list, err := f.Symbols()
	if err != nil {
		return nil // stripped
	}
	out := make([]symbol, 0, len(list))
	for _, s := range list {
		if s.Value == 0 || int(s.Section) <= 0 || int(s.Section) >= len(f.Sections) || skipSymbol(s.Name) {
			continue
		}
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_FILE, elf.STT_SECTION, elf.STT_TLS:
			continue
		}
		code := f.Sections[s.Section].Flags&elf.SHF_EXECINSTR != 0
		out = append(out, symbol{s.Name, s.Value, s.Size, code})
	}
	return out
}

// skipSymbol reports whether a symbol is the linker's mark of the start or end of a section, and so
// names nothing.
func skipSymbol(name string) bool {
	switch strings.TrimPrefix(strings.TrimPrefix(name, "_"), "runtime.") {
	case "etext", "rodata", "erodata", "types", "etypes", "noptrdata", "enoptrdata", "data", "edata",
		"bss", "ebss", "noptrbss", "enoptrbss", "end", "covctrs", "ecovctrs":
		return true
	}
	return name == "text" || name == "_text"
}

// Words of the runtime's moduledata (runtime/symtab.go), which has a section of its own since
// Go 1.26. It is needed for stripped programs only.
const (
	moduleText   = 22
	moduleGoFunc = 40
)

// elfModule reads runtime.text and go:func.* from the moduledata. In a position-independent
// program the words are zero, and the values are in the relocations. 0 means unknown.
func elfModule(f *elf.File, s *elf.Section) (text, goFunc uint64) {
	if f.Class != elf.ELFCLASS64 {
		return 0, 0
	}
	word := func(n uint64) uint64 {
		var b [8]byte
		if _, err := s.ReadAt(b[:], int64(n*8)); err != nil {
			return 0
		}
		return f.ByteOrder.Uint64(b[:])
	}
	text, goFunc = word(moduleText), word(moduleGoFunc)
	if rela := f.Section(".rela"); rela != nil && text == 0 {
		data, err := rela.Data()
		if err != nil {
			return 0, 0
		}
		for ; len(data) >= 24; data = data[24:] {
			switch f.ByteOrder.Uint64(data) {
			case s.Addr + moduleText*8:
				text = f.ByteOrder.Uint64(data[16:])
			case s.Addr + moduleGoFunc*8:
				goFunc = f.ByteOrder.Uint64(data[16:])
			}
		}
	}
	if t := f.Section(".text"); t == nil || text < t.Addr || text >= t.Addr+t.Size {
		return 0, 0 // another layout than the one known here
	}
	return text, goFunc
}

// gnuBuildID reads the note that profiles name as build id: what it holds, in hex.
func gnuBuildID(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil {
		return ""
	}
	note, err := s.Data()
	if err != nil || len(note) < 16 || string(note[12:16]) != "GNU\x00" {
		return ""
	}
	if n := int(f.ByteOrder.Uint32(note[4:])); n >= 0 && n <= len(note)-16 {
		return hex.EncodeToString(note[16 : 16+n])
	}
	return ""
}

// elfBias finds the segment that was mapped. A segment of code at Vaddr comes from Off; the system
// maps whole pages of it, so a mapping of offset starts at Vaddr − Off + offset, plus the bias.
func elfBias(f *elf.File, start, limit, offset uint64) (uint64, error) {
	if f.Type != elf.ET_DYN || start == 0 {
		return 0, nil
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && offset < p.Off+p.Filesz && p.Off < offset+(limit-start) {
			return start - offset + p.Off - p.Vaddr, nil
		}
	}
	return 0, fmt.Errorf("it has no code at the offset %#x that was mapped", offset)
}
