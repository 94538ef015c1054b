package render

import (
	"bytes"
	"testing"

	"github.com/hone-go/hone/internal/disasm"
	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/profile/report"
)

func TestDisasmPage(t *testing.T) {
	v, err := report.NewView(smallProfile(t), report.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	outer := disasm.Frame{Function: "main.slow", File: "/src/slow.go", Line: 4}
	inner := disasm.Frame{Function: "strings.(*Builder).WriteByte", File: "/go/src/strings/builder.go", Line: 80}
	inst := func(addr uint64, text string, flat, cum int64, source string, frames ...disasm.Frame) inspect.CostedInst {
		return inspect.CostedInst{Inst: disasm.Inst{Addr: addr, Size: 3, Text: text, Frames: frames}, Flat: flat, Cum: cum, Source: source}
	}
	d := &inspect.Disassembly{View: v, Functions: []inspect.DisassembledFunc{
		{
			Func: disasm.Func{Name: "main.slow", Entry: 0x401000, End: 0x40100c}, Binary: "/bin/slow", Arch: "amd64", Flat: 6e8, Cum: 9e8,
			Insts: []inspect.CostedInst{
				inst(0x401000, "CMPQ SP, 0x10(R14)", 0, 0, "b.WriteByte(c)", outer),
				inst(0x401003, "MOVQ CX, 0(AX)", 6e8, 6e8, "b.buf = append(b.buf, c)", inner, outer),
				inst(0x401006, "CALL runtime.growslice(SB)", 0, 3e8, "b.buf = append(b.buf, c)", inner, outer),
				inst(0x401009, "RET", 0, 0, "b.WriteByte(c)", outer),
			},
		},
		{
			Func: disasm.Func{Name: "memcpy", Entry: 0x402000, End: 0x402003}, Binary: "/lib/libc.so.6", Arch: "amd64", Flat: 1e8, Cum: 1e8,
			Insts: []inspect.CostedInst{inst(0x402000, "RET", 1e8, 1e8, "")},
		},
	}}
	d.Functions[0].Insts[1].Remarks = []inspect.Remark{{Line: 80, Kind: "escape", Text: "append(b.buf, c) escapes to heap: assigned in b.buf = append(b.buf, c) (in a call inlined from builder.go:80)"}}
	d.Notes = []string{"no remarks of the compiler on strings: none"}
	var b bytes.Buffer
	Disasm(&b, d, Style{})
	golden(t, "disasm.golden", b.Bytes())
	b.Reset()
	if err := JSON(&b, DisasmJSON("cpu.pprof", d)); err != nil {
		t.Fatal(err)
	}
	golden(t, "disasm.json.golden", b.Bytes())
}
