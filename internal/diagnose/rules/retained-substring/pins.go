package retainedsubstring

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// atOnce is how many buffers may be in use at a time, if the number of connections is unknown.
	atOnce = 32
	// mostShare of a buffer that a part is whose copy saves memory.
	mostShare = 0.5
	// mostParts is the largest number of stored parts of a buffer whose sizes are unknown.
	mostParts = 3
)

// pins judges lines whose buffers stay in memory although only parts of them are stored, here or in
// other functions: the values are followed through results, parameters and fields, up along the
// stacks of the live memory and down into calls. It also reports whether it saw that the buffers
// themselves are stored.
func pins(c *finder.Case) (ok, stored bool) {
	var rows []*site.Row
	var found *follower
	live, objects := stacks.Sum(c.Live)
	for _, r := range c.Live {
		if c.Pass.Syntax == nil || r.Owner < 0 || objects == 0 {
			continue
		}
		f := &follower{pass: c.Pass, size: float64(live) / float64(objects), seen: map[visit]bool{}, spots: map[ast.Expr]*spot{}, cuts: map[ast.Expr]*cut{}}
		f.start(c.Place, r)
		if stored = stored || f.stored; !f.whole && f.small(c, r) {
			rows = append(rows, r)
			if found == nil {
				found = f
			}
		}
	}
	live, objects = stacks.Sum(rows)
	if found == nil || float64(live) < leastShare*float64(c.Pass.Table.Totals.LiveBytes) || objects < inUse(c.Pass) {
		return false, stored
	}
	c.Live = rows
	found.describe(c, live, objects)
	return true, stored
}

// inUse returns how many buffers may be live because they are in use.
func inUse(p *rule.Pass) int64 {
	if load := p.Manifest.Load; load != nil {
		return max(atOnce, 4*int64(load.Connections))
	}
	return atOnce
}

// start follows what the line of a live row allocates.
func (f *follower) start(p *gocode.Place, r *site.Row) {
	call := allocating(p, r)
	if call == nil {
		f.whole = true
		return
	}
	in := f.scope(p, r, r.Owner, call)
	if arg := filled(p, call); arg != nil {
		if v := syntax.LocalVar(p, arg); v != nil {
			in.from = v.Pos()
			f.variable(in, v, value{}, 0)
			return
		}
		f.whole = true
		return
	}
	if v := syntax.LocalVar(p, ident(p, call)); v != nil {
		in.from = v.Pos()
	}
	f.results(in, call, 0, value{}, 0)
}

// scope returns the scope of a frame of a row. Its results go to the call in the frame above.
func (f *follower) scope(p *gocode.Place, r *site.Row, frame int, from ast.Node) *scope {
	in := &scope{place: p.Outer(), from: from.Pos()}
	in.result = func(i int, v value) {
		if frame+1 >= len(r.Stack) || r.Stack[frame+1].Owner.Kind != gocode.Main {
			f.whole = f.whole || v.extent == entire
			return
		}
		above := r.Stack[frame+1]
		caller, ok := f.pass.Syntax.At(above.File, above.Line)
		if !ok {
			f.whole = f.whole || v.extent == entire
			return
		}
		call := flow.CallAbove(in.place, caller)
		if call == nil {
			f.whole = f.whole || v.extent == entire
			return
		}
		f.results(f.scope(caller, r, frame+1, call), call, i, v, 0)
	}
	return in
}

// allocating returns the call on the line that makes a string or a list, or fills a buffer, in a
// row; nil if that is unknown.
func allocating(p *gocode.Place, r *site.Row) *ast.CallExpr {
	callee := ""
	if r.Owner > 0 {
		callee = stacks.Callee(r)
	}
	var found []*ast.CallExpr
	for _, call := range syntax.Calls(p) {
		name := p.CalleeName(call)
		to, conversion := p.Conversion(call)
		switch {
		case conversion:
			from := p.TypeOf(call.Args[0])
			if callee == "" || funcname.Match(callee, "runtime.*") {
				if from != nil && to != nil && copied(from, to) && listOrText(to) {
					found = append(found, call)
				}
			}
		case callee == "" || funcname.Match(callee, "runtime.*"):
			if name == "make" || name == "append" {
				found = append(found, call)
			}
		case funcname.Match(funcname.Typed(callee), name) || filled(p, call) != nil:
			found = append(found, call)
		}
	}
	if len(found) != 1 {
		return nil
	}
	if filled(p, found[0]) == nil && !listOrText(first(p.TypeOf(found[0]))) {
		return nil
	}
	return found[0]
}

// first returns the type of the first result of a call.
func first(t types.Type) types.Type {
	if tuple, ok := t.(*types.Tuple); ok {
		if tuple.Len() == 0 {
			return nil
		}
		return tuple.At(0).Type()
	}
	return t
}

// listOrText reports whether a type is a string or a list.
func listOrText(t types.Type) bool {
	if t == nil {
		return false
	}
	_, list := t.Underlying().(*types.Slice)
	return list || syntax.StringOrBytes(t)
}

// filled returns the buffer, a bytes.Buffer or strings.Builder, that a call writes to: its receiver
// or an argument; nil for none.
func filled(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	args := call.Args
	if recv := syntax.Receiver(call); recv != nil && !funcname.Match(p.CalleeName(call), "*.String", "*.Bytes") {
		args = append([]ast.Expr{recv}, args...)
	}
	for _, arg := range args {
		if !buffered(p.TypeOf(arg)) {
			continue
		}
		if ref, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok {
			arg = ref.X
		}
		return ast.Unparen(arg)
	}
	return nil
}

// small reports whether only small parts of each buffer of a row are stored.
func (f *follower) small(c *finder.Case, r *site.Row) bool {
	if len(f.stores) == 0 {
		return false
	}
	known, unknown := 0.0, 0.0
	cuts := map[*cut]bool{}
	for _, s := range f.stores {
		times := 1.0
		if s.repeat != nil {
			// The parts of all iterations may be the whole.
			stored, ok := evidence.ExecutionsAt(c.Pass, s.repeat.place, s.repeat.expr.Pos())
			made, counted := buffers(c, r, s.repeat.place)
			if !ok || !counted || made <= 0 {
				return false
			}
			times = stored.PerUnit / made
		}
		if cuts[s.cut] {
			continue
		}
		if cuts[s.cut] = true; s.cut.size > 0 {
			known += times * float64(s.cut.size)
			continue
		}
		unknown += times
	}
	return known <= mostShare*f.size && unknown <= mostParts
}

// buffers returns how many buffers the line makes for a function above it in the stack of a row,
// for each unit of work: other functions may call the line, too.
func buffers(c *finder.Case, r *site.Row, above *gocode.Place) (float64, bool) {
	made, ok := evidence.Executions(c.Pass, c.Site.Frame)
	least := made.PerUnit
	for _, frame := range r.Stack[r.Owner:] {
		if e, counted := evidence.Executions(c.Pass, *frame); counted {
			least = min(least, e.PerUnit)
		}
		if place, known := c.Pass.Syntax.At(frame.File, frame.Line); known && place.Decl == above.Decl {
			return least, ok
		}
	}
	return made.PerUnit, ok
}

// describe writes the finding.
func (f *follower) describe(c *finder.Case, live, objects int64) {
	s := f.stores[0]
	clone := "slices.Clone"
	if t := s.cut.place.TypeOf(s.cut.expr); syntax.IsString(s.cut.place, s.cut.expr) {
		clone = "strings.Clone"
	} else if t != nil && syntax.StringOrBytes(t) {
		clone = "bytes.Clone"
	}
	text := syntax.Text(s.cut.expr)
	size := "A part"
	c.Confidence = rule.Likely
	if s.cut.size > 0 {
		size = fmt.Sprintf("A part of %s", units.Bytes(float64(s.cut.size)))
		low := 1 - float64(s.cut.size)/f.size
		c.Fraction = &rule.Fraction{Expect: low, Low: low / 2, High: 1}
	}
	stored := ""
	if at := syntax.Where(s.place, s.expr.Pos()); at != syntax.Where(s.cut.place, s.cut.expr.Pos()) {
		stored = fmt.Sprintf(" and stored at %s", at)
	}
	more, verb := "", "is"
	others := map[*cut]bool{}
	for _, s := range f.stores {
		others[s.cut] = true
	}
	if n := len(others) - 1; n > 0 {
		more, verb = fmt.Sprintf(" and %s", units.Some(float64(n), "other part")), "are"
	}
	c.Cause = fmt.Sprintf("Of what this line allocates, only %s (%s)%s %s kept%s. %s keeps the whole in memory, %s each: %s are live.",
		text, syntax.Where(s.cut.place, s.cut.expr.Pos()), more, verb, stored, size, units.Bytes(float64(live)/float64(objects)), units.Bytes(float64(live)))
	c.Fix = fmt.Sprintf("Keep a copy of the part, so that the rest is released: %s(%s).", clone, text)
	if more != "" {
		c.Fix = fmt.Sprintf("Keep copies of the parts, so that the rest is released: %s(%s), and so on.", clone, text)
	}
	c.Evidence = []rule.Evidence{{
		What:    "live memory allocated by the line",
		Value:   fmt.Sprintf("%s in %d objects", units.Bytes(float64(live)), objects),
		Command: evidence.ListCommand(c.Pass, "inuse_space", c.Site.Function),
	}}
}
