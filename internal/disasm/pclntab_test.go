package disasm

import (
	"testing"

	"pgregory.net/rapid"
)

// TestDamagedTable flips bytes of a real function table: the result may be incomplete or wrong, but
// decoding never panics and always terminates.
func TestDamagedTable(t *testing.T) {
	bin := open(t, quickBuilds[0])
	whole := bin.obj.pclntab
	if len(whole) == 0 {
		t.Skip("no table")
	}
	f := bin.named(t, "main.outer")
	rapid.Check(t, func(t *rapid.T) {
		data := append([]byte(nil), whole[:rapid.SampledFrom([]int{len(whole), len(whole) / 2, 100, 40, 7}).Draw(t, "length")]...)
		r, _ := bin.table.find(f.Entry)
		record := len(whole) - len(r)
		if record < 0 || record+64 > len(data) {
			record = 0
		}
		for range rapid.IntRange(0, 8).Draw(t, "flips") {
			at := rapid.IntRange(0, min(63, len(data)-1)).Draw(t, "at")
			if rapid.Bool().Draw(t, "record") {
				at = min(at+record, len(data)-1)
			}
			data[at] = rapid.Byte().Draw(t, "byte")
		}
		table, err := parsePclntab(data, bin.obj.textStart)
		if err != nil {
			return
		}
		damaged := &Binary{Path: bin.Path, Arch: bin.Arch, obj: bin.obj, table: table}
		damaged.collect()
		if g, ok := damaged.FuncAt(f.Entry); ok && g.End-g.Entry < 1<<20 {
			damaged.Disassemble(g, GoSyntax) //nolint:errcheck // an error is a good answer
		}
	})
}

func FuzzPclntab(f *testing.F) {
	f.Add([]byte("\xf1\xff\xff\xff\x00\x00\x01\x08"))
	f.Add(append([]byte("\xf1\xff\xff\xff\x00\x00\x01\x04\x01\x00\x00\x00"), make([]byte, 200)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := parsePclntab(data, 0x1000)
		if err != nil {
			return
		}
		b := &Binary{Arch: "amd64", obj: &object{goFunc: 0x1000}, table: table}
		for i, fn := range table.functions() {
			if i > 100 {
				break
			}
			if l := b.linesOf(fn); l != nil {
				l.at(0)
				l.at(fn.End - fn.Entry - 1)
			}
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	path := program(b, quickBuilds[0])
	for b.Loop() {
		bin, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		bin.Close()
	}
}

func BenchmarkDisassemble(b *testing.B) {
	bin := open(b, quickBuilds[0])
	f := bin.named(b, "runtime.schedule")
	b.SetBytes(int64(f.End - f.Entry))
	for b.Loop() {
		if _, err := bin.Disassemble(f, GoSyntax); err != nil {
			b.Fatal(err)
		}
	}
}
