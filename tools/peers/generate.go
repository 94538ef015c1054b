package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/hone-go/hone/profile"
)

// program is an invented program for test profiles: functions in packages, each with a few call
// sites. Most calls go deeper, some go to popular leaf functions, some go back (recursion). It
// depends only on the number of functions, so that profiles of different runs can be merged.
type program struct {
	funcs []profile.FrameSpec // without their lines
	calls [][]call
}

type call struct {
	callee  int32
	line    int64
	inlined bool // the callee is inlined into its caller
}

func newProgram(functions int) *program {
	r := rand.New(rand.NewPCG(7, uint64(functions)))
	p := &program{calls: make([][]call, functions)}
	leaves := functions * 9 / 10 // from here on: popular leaf functions
	for i := range functions {
		pkg := fmt.Sprintf("example.org/shop/services/part%d/pkg%d", i/500, i/25)
		name := fmt.Sprintf("%s.(*Type%d).Method%d", pkg, i/5, i)
		if i%3 == 0 {
			name = fmt.Sprintf("%s.Function%d", pkg, i)
		}
		p.funcs = append(p.funcs, profile.FrameSpec{
			Function: name, File: fmt.Sprintf("/src/%s/file%d.go", pkg, i/8%5), StartLine: int64(10 + i%8*80),
		})
		for site := range 1 + min(30, int(1/(r.Float64()+0.01))) {
			c := call{line: p.funcs[i].StartLine + int64(site) + 1, inlined: r.IntN(12) == 0}
			switch r.IntN(40) {
			case 0:
				c.callee = int32(max(0, i-r.IntN(20))) // back, or itself
				c.inlined = false
			case 1, 2:
				c.callee = int32(leaves + int(float64(functions-leaves)*math.Pow(r.Float64(), 2)))
			default:
				c.callee = int32(min(functions-1, i+1+int(r.ExpFloat64()*float64(functions)/120)))
			}
			p.calls[i] = append(p.calls[i], c)
		}
	}
	return p
}

// generate writes a CPU profile with the given number of distinct stacks, random walks through the
// program. Each sample has that many labels; seed varies the walks.
func (p *program) generate(path string, stacks, depth, labels int, seed uint64) (err error) {
	r := rand.New(rand.NewPCG(seed, 1))
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Binary("/usr/bin/shop", "a1b2c3")
	keys := []string{"route", "customer", "zone"}
	var stack []profile.FrameSpec
	var set []profile.Label
	for range stacks {
		stack = p.walk(r, depth, stack[:0])
		set = set[:0]
		for i := range labels {
			set = append(set, profile.Label{Key: keys[i], Str: fmt.Sprintf("%s/%d", keys[i], int(60*math.Pow(r.Float64(), 2)))})
		}
		n := int64(1 + r.ExpFloat64()*3)
		b.AddLabeled(stack, set, n, n*10_000_000)
	}
	prof, err := b.Profile()
	if err != nil {
		return err
	}
	prof.PeriodType, prof.Period = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, 10_000_000
	prof.TimeNanos, prof.DurationNanos = 1_770_000_000_000_000_000+int64(seed), 30_000_000_000
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := prof.Encode(f); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	return f.Close()
}

// walk appends a stack, leaf first, of about depth frames.
func (p *program) walk(r *rand.Rand, depth int, stack []profile.FrameSpec) []profile.FrameSpec {
	at := int32(float64(len(p.funcs)/100) * math.Pow(r.Float64(), 2))
	want := 2 + int(float64(depth)*(0.4+0.6*r.ExpFloat64()))
	inlined := false
	for len(stack) < min(want, 120) {
		calls := p.calls[at]
		c := calls[int(float64(len(calls))*math.Pow(r.Float64(), 1.5))]
		f := p.funcs[at]
		f.Line, f.Inlined = c.line, inlined
		stack = append(stack, f)
		at, inlined = c.callee, c.inlined
		if int(at) >= len(p.funcs)*9/10 && r.IntN(3) == 0 {
			break
		}
	}
	for i, j := 0, len(stack)-1; i < j; i, j = i+1, j-1 {
		stack[i], stack[j] = stack[j], stack[i]
	}
	return stack
}
