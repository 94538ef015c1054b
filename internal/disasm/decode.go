package disasm

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// Syntax is how instructions are written.
type Syntax uint8

const (
	GoSyntax    Syntax = iota // as Go's assembler takes it, and go tool objdump prints
	IntelSyntax               // as Intel's manuals; x86 only
)

// Inst is one instruction.
type Inst struct {
	Addr   uint64 // in the file
	Size   int    // bytes
	Text   string // "?" for bytes that are no instruction
	Frames []Frame
}

// decodeFunc decodes the instruction at the start of code.
type decodeFunc func(code []byte, pc uint64) (text string, size int)

// Disassemble decodes a function. Each instruction has the chain of calls it belongs to, innermost
// first: one frame where nothing was inlined, none in code that Go's table does not know. Padding
// behind the function is left out.
func (b *Binary) Disassemble(f Func, s Syntax) ([]Inst, error) {
	decode, err := b.decoder(s)
	if err != nil {
		return nil, err
	}
	code, err := b.code(f)
	if err != nil {
		return nil, err
	}
	from := b.linesOf(f)
	var out []Inst
	var last []Frame
	for at := 0; at < len(code); {
		in := Inst{Addr: f.Entry + uint64(at)}
		end := len(code)
		if from != nil {
			end = min(end, from.nextLine(at)) // no instruction belongs to two lines
		}
		in.Text, in.Size = decode(code[at:end], in.Addr)
		if from != nil {
			if chain := from.at(uint64(at)); !slices.Equal(chain, last) {
				last = chain
			}
			in.Frames = last // neighbours share what is equal
		}
		out = append(out, in)
		at += in.Size
	}
	for len(out) > 1 && b.isPadding(out[len(out)-1], code[out[len(out)-1].Addr-f.Entry:]) {
		out = out[:len(out)-1]
	}
	return out, nil
}

func (b *Binary) decoder(s Syntax) (decodeFunc, error) {
	switch b.Arch {
	case "amd64":
		return b.x86(64, s), nil
	case "386":
		return b.x86(32, s), nil
	case "arm64":
		if s == IntelSyntax {
			return nil, fmt.Errorf("%s is for arm64, and Intel's syntax is for x86", b.Path)
		}
		return b.arm64, nil
	case "":
		return nil, fmt.Errorf("%s is for a machine that hone does not know", b.Path)
	}
	return nil, fmt.Errorf("%s is for %s; hone disassembles amd64, 386 and arm64", b.Path, b.Arch)
}

func (b *Binary) x86(mode int, s Syntax) decodeFunc {
	return func(code []byte, pc uint64) (string, int) {
		if name, ok := vzero(code); ok && s == GoSyntax {
			return name, 3
		} else if ok {
			return strings.ToLower(name), 3
		}
		in, err := x86asm.Decode(code, mode)
		switch {
		case err != nil || in.Len == 0 || in.Op == 0:
			return "?", 1
		case s == IntelSyntax:
			return x86asm.IntelSyntax(in, pc, b.lookup), in.Len
		}
		return x86asm.GoSyntax(in, pc, b.lookup), in.Len
	}
}

// vzero recognises the two instructions that end vector code in Go's assembly. x86asm (v0.32)
// decodes them as two bytes longer than they are.
func vzero(code []byte) (name string, ok bool) {
	if len(code) < 3 || code[0] != 0xc5 || code[2] != 0x77 {
		return "", false
	}
	switch code[1] {
	case 0xf8:
		return "VZEROUPPER", true
	case 0xfc:
		return "VZEROALL", true
	}
	return "", false
}

func (b *Binary) arm64(code []byte, pc uint64) (string, int) {
	if len(code) < 4 {
		return "?", len(code)
	}
	in, err := arm64asm.Decode(code)
	if err != nil || in.Op == 0 {
		return "?", 4
	}
	return arm64asm.GoSyntax(in, pc, b.lookup, codeReader{code, pc}), 4
}

// isPadding reports whether an instruction only fills the room between functions.
func (b *Binary) isPadding(in Inst, code []byte) bool {
	if b.Arch == "arm64" {
		return in.Size == 4 && code[0] == 0 && code[1] == 0 && code[2] == 0 && code[3] == 0
	}
	return in.Size == 1 && code[0] == 0xcc
}

// lookup names the thing that has an address: what a symbol says, else a Go function.
func (b *Binary) lookup(addr uint64) (name string, base uint64) {
	i := sort.Search(len(b.symbols), func(i int) bool { return b.symbols[i].addr > addr })
	if i > 0 {
		if s := b.symbols[i-1]; addr-s.addr < s.size {
			return s.name, s.addr
		}
	}
	if f, ok := b.FuncAt(addr); ok {
		return f.Name, f.Entry
	}
	return "", 0
}

// codeReader lets the arm64 decoder read constants that are in the code.
type codeReader struct {
	code []byte
	pc   uint64 // of code[0]
}

func (r codeReader) ReadAt(p []byte, off int64) (int, error) {
	at := uint64(off) - r.pc
	if off < 0 || uint64(off) < r.pc || at >= uint64(len(r.code)) {
		return 0, io.EOF
	}
	n := copy(p, r.code[at:])
	if n < len(p) {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}
