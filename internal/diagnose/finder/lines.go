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
