package sprintfsimple

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"testing"
)

// pieces are the operands; the compiler does not know them.
type pieces struct {
	left, right string
	n           int
}

// BenchmarkFix measures what the rule finds, and the two ways to fix it.
func BenchmarkFix(b *testing.B) {
	p := &pieces{"tenant-42", "orders/list", 123456}
	for _, c := range []struct {
		name string
		do   func(io.Writer, *pieces)
	}{
		{"strings/found", func(w io.Writer, p *pieces) {
			io.WriteString(w, fmt.Sprintf("%s/%s", p.left, p.right))
		}},
		{"strings/concatenated", func(w io.Writer, p *pieces) {
			io.WriteString(w, p.left+"/"+p.right)
		}},
		{"strings/appended", func(w io.Writer, p *pieces) {
			line := buffer()
			put(line, p.left, "/", p.right)
			w.Write(line.Bytes())
		}},
		{"number/found", func(w io.Writer, p *pieces) {
			io.WriteString(w, fmt.Sprintf("%s: %d\r\n", p.left, p.n))
		}},
		{"number/concatenated", func(w io.Writer, p *pieces) {
			io.WriteString(w, p.left+": "+strconv.Itoa(p.n)+"\r\n")
		}},
		{"number/appended", func(w io.Writer, p *pieces) {
			line := buffer()
			put(line, p.left, ": ")
			number(line, p.n)
			put(line, "\r\n")
			w.Write(line.Bytes())
		}},
		{"joined/found", func(w io.Writer, p *pieces) {
			line := fmt.Sprintf("%s ", p.left)
			line += fmt.Sprintf("%d ", p.n)
			line += fmt.Sprintf("%s;", p.right)
			io.WriteString(w, line)
		}},
		{"joined/concatenated", func(w io.Writer, p *pieces) {
			line := p.left + " "
			line += strconv.Itoa(p.n) + " "
			line += p.right + ";"
			io.WriteString(w, line)
		}},
		{"joined/appended", func(w io.Writer, p *pieces) {
			line := buffer()
			put(line, p.left, " ")
			number(line, p.n)
			put(line, " ", p.right, ";")
			w.Write(line.Bytes())
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.do(sink{}, p)
			}
		})
	}
}

func buffer() *bytes.Buffer { return bytes.NewBuffer(make([]byte, 0, 128)) }

func put(b *bytes.Buffer, texts ...string) {
	for _, text := range texts {
		b.WriteString(text)
	}
}

func number(b *bytes.Buffer, n int) { b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(n), 10)) }

// sink keeps the compiler from removing what is written to it.
type sink struct{}

//go:noinline
func (sink) Write(b []byte) (int, error) { return len(b), nil }

//go:noinline
func (sink) WriteString(s string) (int, error) { return len(s), nil }
