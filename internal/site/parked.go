package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/textual"
)

// Parked is a group of goroutines that wait below one line.
type Parked struct {
	Frame
	Count int64
	// Wait holds the functions that most of them wait in, leaf first, called from the line. Start
	// is the function that the go statement started.
	Wait  []string
	Start Frame
	// Created is the line of the go statement that started most of them, and its function; zero if
	// no dump of the goroutines shows it.
	Created Creation

	most int64 // how many have the stack of Wait
}

// Place names the line.
func (p *Parked) Place() string { return fmt.Sprintf("%s %s:%d", p.Function, p.File, p.Line) }

// Waiting returns the lines below which the goroutines of a goroutine profile wait, those with most
// goroutines first.
func Waiting(ctx context.Context, code *gocode.Index, goroutines *profile.Profile) ([]Parked, error) {
	if code == nil {
		return nil, errors.New("waiting goroutines: no code index")
	}
	if goroutines == nil || len(goroutines.SampleTypes) == 0 {
		return nil, nil
	}
	e := newExpander(newStacks(code), goroutines)
	byPlace := map[*place]*Parked{}
	for i, count := range goroutines.Values(0) {
		if i%(1<<14) == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("waiting goroutines: %w", ctx.Err())
		}
		s := e.stack(i)
		if count <= 0 || s.blamed == nil || s.class == Probe {
			continue
		}
		g := byPlace[s.blamed.place]
		if g == nil {
			g = &Parked{Frame: s.blamed.Frame}
			byPlace[s.blamed.place] = g
		}
		g.Count += count
		if count > g.most {
			g.most, g.Wait, g.Start = count, nil, *started(s.frames)
			for _, f := range s.frames[:s.owner] {
				g.Wait = append(g.Wait, f.Function)
			}
		}
	}
	var out []Parked
	for _, g := range byPlace {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Parked) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out, nil
}

// OpenBodies returns how many connections of HTTP clients wait for the body of a response to be
// read to its end or closed: their readLoop waits in a select then, and for the network otherwise
// (net/http/transport.go).
func OpenBodies(ctx context.Context, code *gocode.Index, goroutines *profile.Profile) (open int64, err error) {
	if code == nil || goroutines == nil || len(goroutines.SampleTypes) == 0 {
		return 0, nil
	}
	e := newExpander(newStacks(code), goroutines)
	for i, count := range goroutines.Values(0) {
		if i%(1<<14) == 0 && ctx.Err() != nil {
			return 0, fmt.Errorf("open bodies: %w", ctx.Err())
		}
		reads, waits := false, false
		for _, f := range e.stack(i).frames {
			reads = reads || f.Function == "net/http.(*persistConn).readLoop"
			waits = waits || f.Function == "runtime.selectgo"
		}
		if reads && waits {
			open += count
		}
	}
	return open, nil
}

// started returns the frame of the function that a stack's goroutine was started with.
func started(frames []*Frame) *Frame {
	for i := len(frames) - 1; i > 0; i-- {
		if f := frames[i]; f.Function != "runtime.goexit" && f.Function != "sync.(*WaitGroup).Go.func1" {
			return f
		}
	}
	return frames[0]
}

// maxDump bounds how much of a dump is read: the runtime writes no more.
const maxDump = 65 << 20

// Creation is a go statement.
type Creation struct {
	Function, File string
	Line           int64
}

// Creations returns the go statement that started most goroutines of a dump (goroutine profile,
// debug=2), by the function that they started with. If a dump cannot be read to its end, the result
// covers what was read.
func Creations(dump io.Reader) map[string]Creation {
	counts := map[string]map[Creation]int{}
	for g, err := range textual.EachGoroutine(dump, maxDump) {
		if err != nil { // the rest does not need the line of creation
			break
		}
		if g.Creator == "" || len(g.Stack) == 0 {
			continue
		}
		start := g.Stack[len(g.Stack)-1].Function
		if counts[start] == nil {
			counts[start] = map[Creation]int{}
		}
		counts[start][Creation{g.Creator, g.CreatorFile, g.CreatorLine}]++
	}
	out := map[string]Creation{}
	for start, all := range counts {
		var best Creation
		for c, n := range all {
			if m := all[best]; n > m || n == m && (c.File < best.File || c.File == best.File && c.Line < best.Line) {
				best = c
			}
		}
		out[start] = best
	}
	return out
}
