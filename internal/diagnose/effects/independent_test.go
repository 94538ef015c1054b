package effects_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const loopsSource = `package main

import (
	"image"
	"image/color"
	"math"
	"strings"
)

type grid struct {
	cells []float64
	width int
	calls int
	img   *image.NRGBA
}

type item struct{ sum int }

var total int

func cost(x int) float64 { return math.Sqrt(float64(x)) }

func counted(x int) int { total++; return x }

func down(n int) int {
	if n < 2 {
		return n
	}
	return down(n-1) + down(n-2)
}

func (g *grid) set(x, y int) { g.cells[y*g.width+x] = cost(x * y) }

func (g *grid) row(y int) {
	for x := range g.width {
		g.set(x, y)
	}
}

func (g *grid) noted(y int) { g.calls++; g.row(y) }

func (g *grid) dot(x, y int) { g.img.SetNRGBA(x, y, color.NRGBA{A: uint8(x)}) }

func (g *grid) corner(y int) { g.img.SetNRGBA(0, 0, color.NRGBA{A: uint8(y)}) }

func loops(g *grid, in, out []int, rows [][]int, items []item, pointers []*item, m map[int]int, each func(int), next chan int, table []string) int {
	for i := range in {
		out[i] = in[i] * 2 //@ yes: elements
	}
	for y := 0; y < g.width; y++ {
		g.row(y) //@ yes: rows by calls
	}
	for y := range g.width {
		for x := range g.width {
			g.dot(x, y) //@ yes: pixels, outer loop
		}
	}
	for i, s := range table {
		var b strings.Builder
		b.WriteString(strings.ToUpper(s))
		items[i].sum = len(b.String()) //@ yes: its own builder
	}
	for i := range in {
		out[i] = down(in[i]) //@ yes: recursion
	}
	for _, row := range rows {
		for x := range row {
			row[x]++ //@ yes: rows of a table, outer loop
		}
	}
	for i := range in {
		part := make([]int, 8)
		part[i%8] = i
		out[i] = part[0] //@ yes: a slice of its own
	}
	for i := range in {
		switch v := any(in[i]).(type) {
		case int:
			out[i] = v //@ yes: the variable of a type switch
		}
	}
	for i := 1; i < len(out); i++ {
		out[i] = out[i-1] + in[i] //@ no: the iteration before
	}
	for _, p := range pointers {
		switch v := any(p).(type) {
		case *item:
			v.sum = 1 //@ no: what the variable of a type switch points at
		}
	}
	for i := range in {
		out[i%4] = in[i] //@ no: shared elements
	}
	sum := 0
	for _, v := range in {
		sum += v //@ no: a sum
	}
	for _, v := range in {
		out = append(out, v) //@ no: append
	}
	for i, v := range in {
		m[i] = v //@ no: a map
	}
	for i := range in {
		out[i] = counted(i) //@ no: a call that counts
	}
	for y := range g.width {
		g.noted(y) //@ no: a method that counts
	}
	for y := range g.width {
		g.corner(y) //@ no: one pixel
	}
	for i := range in {
		each(i) //@ no: an unknown function
	}
	for i := range in {
		next <- i //@ no: a channel
	}
	for v := range next {
		out[v] = 1 //@ no: iterations from a channel
	}
	for i := range in {
		if in[i] > 3 {
			return i //@ no: ends early
		}
	}
	for _, p := range pointers {
		p.sum = 1 //@ no: pointers may be equal
	}
	n := 1
	for n < 100 {
		n *= 2 //@ no: not counted
	}
	for i := range in {
		at := i
		at %= 3
		out[at] = i //@ no: not the iteration's element any more
	}
	return sum + n
}

func main() {}
`

// TestIndependent: state that iterations share is found, as far as the package's own functions show
// it.
func TestIndependent(t *testing.T) {
	for name, p := range ruletest.Places(t, loopsSource) {
		loop := p.Loop()
		if strings.HasSuffix(name, "outer loop") {
			loop = p.LoopAround(loop)
		}
		want := strings.HasPrefix(name, "yes")
		ok, why := effects.Independent(p, loop)
		if ok != want || ok == (why != "") {
			t.Errorf("%s: %t, %q", name, ok, why)
		}
		t.Log(name, why)
	}
}
