package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	smallreads "github.com/hone-go/hone/internal/diagnose/rules/small-reads"
)

// TestSmallReadsSizes: what a call reads at a time follows from its buffer, or from what it decodes
// into.
func TestSmallReadsSizes(t *testing.T) {
	cases := []struct{ name, code, leaf, reads string }{
		{"scan", "fmt.Fscan(f, &n)", "fmt.Fscan", "single bytes"},
		{"buffer", "b := make([]byte, 4)\nf.Read(b)", "", "4 bytes"},
		{"large buffer", "b := make([]byte, 4096)\nf.Read(b)", "", ""},
		{"unknown buffer", "b := make([]byte, n)\nf.Read(b)", "", ""},
		{"array", "var b [9]byte\nf.Read(b[:])", "", "9 bytes"},
		{"rest of an array", "var b [9]byte\nf.Read(b[4:])", "", "5 bytes"},
		{"pointer to an array", "b := new([16]byte)\nf.Read(b[:])", "", "16 bytes"},
		{"part", "b := make([]byte, 4096)\nf.Read(b[8:16])", "", "8 bytes"},
		{"rest of a slice", "b := make([]byte, 40)\nf.Read(b[8:])", "", "32 bytes"},
		{"unknown low", "b := make([]byte, 40)\nf.Read(b[n:])", "", ""},
		{"unknown high", "b := make([]byte, 40)\nf.Read(b[:n])", "", ""},
		{"parameter", "f.Read(given)", "", ""},
		{"full", "b := make([]byte, 12)\nio.ReadFull(f, b)", "io.ReadFull", "12 bytes"},
		{"number", "binary.Read(f, binary.LittleEndian, &n32)", "encoding/binary.Read", "4 bytes"},
		{"struct", "binary.Read(f, binary.LittleEndian, &head)", "encoding/binary.Read", "15 bytes"},
		{"struct with a text", "binary.Read(f, binary.LittleEndian, &named)", "encoding/binary.Read", ""},
		{"large struct", "binary.Read(f, binary.LittleEndian, &large)", "encoding/binary.Read", ""},
		{"slice", "binary.Read(f, binary.LittleEndian, given)", "encoding/binary.Read", ""},
	}
	src := `package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

var (
	n32   uint32
	head  struct { kind uint8; sizes [3]uint16; at float64 }
	named struct { name string; size int64 }
	large struct { data [900]byte }
)

`
	for i, c := range cases {
		stack := strings.TrimSpace("os.(*File).Read " + c.leaf)
		src += fmt.Sprintf("func f%d(f *os.File, n int, given []byte) {\n\tfor range 1000 {\n%s //@ %s | %s\n\t}\n}\n\n", i, c.code, c.name, stack)
	}
	src += "func main() { _, _ = io.EOF, binary.Read; fmt.Print() }\n"
	p, names := ruletest.MadeUp(t, src)
	found := map[string]string{}
	for _, m := range matchesOf(t, smallreads.Rule(), p) {
		found[names[m.Site.Line]] = m.Cause
	}
	for _, c := range cases {
		if cause, ok := found[c.name]; ok != (c.reads != "") || ok && !strings.Contains(cause, " reads "+c.reads+" directly") {
			t.Errorf("%s: %t %s", c.name, ok, cause)
		}
	}
}
