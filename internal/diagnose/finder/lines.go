package finder

import (
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Lines remembers what a rule finds in the source at each line: rows are many, their lines few.
type Lines[T any] struct {
	pass *rule.Pass
	look func(*site.Frame, *gocode.Place) *T
	seen map[gocode.Pos]*T
}

// Remember returns the lines of a recording at which look finds something; look returns nil if
// there is nothing. It is called once for each line that is asked for, if the line's source is
// available.
func Remember[T any](p *rule.Pass, look func(*site.Frame, *gocode.Place) *T) *Lines[T] {
	return &Lines[T]{pass: p, look: look, seen: map[gocode.Pos]*T{}}
}

// At returns what is found at a frame's line; nil for nothing.
func (l *Lines[T]) At(f *site.Frame) *T {
	pos := gocode.Pos{File: f.File, Line: f.Line}
	found, seen := l.seen[pos]
	if seen {
		return found
	}
	if place, ok := l.pass.Syntax.At(f.File, f.Line); ok {
		found = l.look(f, place)
	}
	l.seen[pos] = found
	return found
}

// Nearest returns the index of the frame of the main module or a dependency, nearest the leaf, at
// which something is found; -1 for none. It fits [Frames].
func (l *Lines[T]) Nearest(r *site.Row) int {
	for i, f := range r.Stack {
		if k := f.Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && l.At(f) != nil {
			return i
		}
	}
	return -1
}

// Farthest returns the index of the frame of the main module or a dependency, nearest the root, at
// which something is found, so that the fix removes everything below; -1 for none. It fits
// [Frames].
func (l *Lines[T]) Farthest(r *site.Row) int {
	for i := len(r.Stack) - 1; i > 0; i-- {
		if k := r.Stack[i].Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && l.At(r.Stack[i]) != nil {
			return i
		}
	}
	return -1
}

// Calling returns a function for [Frames]: the index of the frame of the main module, nearest the
// leaf, at which something is found that calls the function of the frame below, as calls reports;
// -1 for none.
func (l *Lines[T]) Calling(calls func(found *T, function string) bool) func(*site.Row) int {
	return func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			if r.Stack[i].Owner.Kind != gocode.Main {
				continue
			}
			if found := l.At(r.Stack[i]); found != nil && calls(found, r.Stack[i-1].Function) {
				return i
			}
		}
		return -1
	}
}

// Edges remembers what a rule finds at each edge of the call graph: a line, and a function that it
// calls.
type Edges[T any] struct {
	look func(f, below *site.Frame) *T
	seen map[edge]*T
	line map[gocode.Pos]*T
}

type edge struct {
	line   gocode.Pos
	callee string
}

// RememberEdges returns the edges of a recording at which look finds something; look returns nil if
// there is nothing. It is called once for each edge that is asked for: a frame, and one of the
// function that it calls.
func RememberEdges[T any](look func(f, below *site.Frame) *T) *Edges[T] {
	return &Edges[T]{look: look, seen: map[edge]*T{}, line: map[gocode.Pos]*T{}}
}

// At returns what is found where the line of f calls the function of below; nil for nothing.
func (e *Edges[T]) At(f, below *site.Frame) *T {
	key := edge{gocode.Pos{File: f.File, Line: f.Line}, below.Function}
	found, seen := e.seen[key]
	if !seen {
		found = e.look(f, below)
		e.seen[key] = found
		if found != nil && e.line[key.line] == nil {
			e.line[key.line] = found
		}
	}
	return found
}

// From returns what was found first at an edge from a frame's line; nil for nothing.
func (e *Edges[T]) From(f *site.Frame) *T { return e.line[gocode.Pos{File: f.File, Line: f.Line}] }

// Farthest returns the index of the frame of the main module or a dependency, nearest the root, at
// whose edge something is found, so that the fix removes everything below; -1 for none. It fits
// [Frames].
func (e *Edges[T]) Farthest(r *site.Row) int {
	for i := len(r.Stack) - 1; i > 0; i-- {
		if k := r.Stack[i].Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && e.At(r.Stack[i], r.Stack[i-1]) != nil {
			return i
		}
	}
	return -1
}
