package equalelements

import (
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// grows reports whether a row is of the line itself, or of the list that grows there.
func grows(at *site.Frame, r *site.Row) bool {
	for i, f := range r.Stack {
		if f.File == at.File && f.Line == at.Line {
			return i == 0 || strings.HasPrefix(r.Stack[i-1].Function, "runtime.")
		}
	}
	return false
}

func rowsOfCPU(s *site.Site) []*site.Row    { return s.CPU }
func rowsOfAllocs(s *site.Site) []*site.Row { return s.Allocs }

// inLoops returns the rows that pass through a loop over a list.
func (s *search) inLoops(l *list, of func(*site.Site) []*site.Row) (rows []*site.Row) {
	inside := func(f *site.Frame) bool {
		for _, u := range l.loops {
			p, ok := s.pass.Syntax.At(f.File, f.Line)
			if ok && p.Decl == u.Decl && syntax.Line(u.Place, u.Pos()) <= f.Line && f.Line <= syntax.Line(u.Place, u.End()) {
				return true
			}
		}
		return false
	}
	for _, at := range s.pass.Table.Sites {
		for _, r := range of(at) {
			for _, f := range r.Stack {
				if f.Owner.Kind == gocode.Main && inside(f) {
					rows = append(rows, r)
					break
				}
			}
		}
	}
	return rows
}
