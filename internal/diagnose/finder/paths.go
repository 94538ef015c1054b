package finder

import (
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Paths remembers what a rule finds on lines above a function, such as an encoder, if callers
// decide about it: by the frames from the function upwards.
type Paths[T any] struct {
	deepest int
	look    func(stack []*site.Frame, from int) (*T, int)
	known   map[string]path[T]
	lines   map[gocode.Pos]*T
}

type path[T any] struct {
	found *T
	up    int // from the function to the line's frame
}

// RememberPaths returns empty Paths. look returns what it finds above the frame from of a stack,
// leaf first, with the index of the line's frame; nil for nothing. deepest is the number of frames
// that decide, from the function upwards.
func RememberPaths[T any](deepest int, look func(stack []*site.Frame, from int) (*T, int)) *Paths[T] {
	return &Paths[T]{deepest, look, map[string]path[T]{}, map[gocode.Pos]*T{}}
}

// From returns the index of the frame on whose line something was found above the frame from; -1
// for none.
func (p *Paths[T]) From(stack []*site.Frame, from int) int {
	key := stacks.Key(stack[from:], p.deepest)
	at, seen := p.known[key]
	if !seen {
		found, i := p.look(stack, from)
		at = path[T]{found, i - from}
		p.known[key] = at
	}
	if at.found == nil {
		return -1
	}
	line := stack[from+at.up]
	p.lines[gocode.Pos{File: line.File, Line: line.Line}] = at.found
	return from + at.up
}

// At returns what [Paths.From] found last on a line; nil for nothing.
func (p *Paths[T]) At(f *site.Frame) *T { return p.lines[gocode.Pos{File: f.File, Line: f.Line}] }
