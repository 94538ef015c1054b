package leakgrowth

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// asOften is how many elements a container may gain for each object that stays: a part of both
	// is counted in other runs.
	asOften = 2
	// mostEach is the maximum number of objects for each element: those that it refers to.
	mostEach = 8
)

// adopter returns the line that probably keeps what another line allocates, and how: the only one
// that adds elements with pointers to a container about as often as objects stay behind, where
// nothing removes them. What allocates passes them on, through parameters, fields and channels.
func (w *window) adopter(g growth) (at *site.Site, k *keep) {
	if w.pass.Syntax == nil || w.requests <= 0 {
		return nil, nil
	}
	stay := float64(g.objects) / w.units()
	for _, s := range w.pass.Table.Sites {
		f := &s.Frame
		if f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency {
			continue
		}
		e, ok := evidence.Executions(w.pass, *f)
		if !ok || e.PerUnit < stay/mostEach || e.PerUnit > stay*asOften {
			continue
		}
		place, ok := w.pass.Syntax.At(f.File, f.Line)
		if !ok {
			continue
		}
		found := onLine(w.pass, s, place, func(in insertion) bool {
			if holdsMore(place.TypeOf(in.value)) || holdsMore(typeOf(place, in.key)) {
				return gains(place, in) || w.grew(f)
			}
			// Texts may be constants, or parts of others: the container itself has to grow.
			return (isText(place.TypeOf(in.value)) || isText(typeOf(place, in.key))) && w.grew(f)
		})
		if found == nil && w.grew(f) {
			found = cmp.Or(chained(place), timed(w, place))
		}
		if found == nil {
			continue
		}
		if k != nil {
			return nil, nil // either may be the one
		}
		at, k = s, found
	}
	return at, k
}

// isText reports whether a type is one of strings.
func isText(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// holdsMore reports whether an element may refer to other memory than its own. Texts do not count.
func holdsMore(t types.Type) bool {
	if t == nil {
		return false
	}
	if _, any := types.Unalias(t).(*types.TypeParam); any {
		return true
	}
	if isText(t) {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return syntax.HoldsPointers(t)
}

// gains reports whether an insertion always adds an element: one into a map may replace another.
func gains(p *gocode.Place, in insertion) bool {
	if t := p.TypeOf(in.into); t != nil {
		if _, slice := t.Underlying().(*types.Slice); slice || strings.HasSuffix(t.String(), "container/list.List") {
			return true
		}
	}
	call, ok := ast.Unparen(in.value).(*ast.CallExpr) // m[k] = append(m[k], x)
	return ok && p.CalleeName(call) == "append"
}

// grew reports whether live memory that a line allocated grew.
func (w *window) grew(f *site.Frame) bool {
	return slices.ContainsFunc(w.pass.Growth, func(g site.Grown) bool { return g.File == f.File && g.Line == f.Line })
}

// adopted says that the line of a container probably keeps what the match is about, and makes that
// line the place of the match: there the memory can be bounded.
func (w *window) adopted(m *rule.Match, at *site.Site, k *keep) {
	made := evidence.Near(w.pass, at, exectrace.Line{Function: m.Site.Function, File: m.Site.File, Line: m.Site.Line})
	if !strings.HasPrefix(k.words, "It is put into") {
		m.Cause += fmt.Sprintf(" It was allocated on %s, and what keeps it is probably what this line makes.", made)
		m.Site, m.Callees = at, nil
		k.explain(m)
		return
	}
	m.Cause += fmt.Sprintf(" It was allocated on %s, and what keeps it is probably this line:", made)
	k.words = strings.Replace(k.words, "It is put into", "it adds elements to", 1)
	if at.Owner.Kind == gocode.Dependency {
		if from := into(w.pass, at); from != nil {
			where := evidence.Near(w.pass, from, exectrace.Line{Function: at.Function, File: at.File, Line: at.Line})
			k.words = strings.Replace(k.words, "it adds elements", "through "+where+" it adds elements", 1)
			k.fix += created(w.pass, from)
			at = from
		} else {
			k.fix += " See whether the module has an option that limits it or turns it off."
		}
	}
	m.Site, m.Callees = at, nil
	k.explain(m)
}
