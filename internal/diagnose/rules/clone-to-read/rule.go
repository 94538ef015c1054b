// Package clonetoread finds deep copies of stored values that are only read.
package clonetoread

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Rule is clone-to-read.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "clone-to-read",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Stored values cloned, and the clones only read",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Whoever changes a value copies it then, which the counts show to be seldom.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function makes a deep copy of a value that the program keeps, with its maps and
lists, or of each element of a list, so that callers cannot change the original.
But the callers only read: they look for the next one, count, filter, or encode an
answer. Each copy is five to twenty allocations, and garbage when the answer is
sent.

Return the stored values, and let nobody change them: whoever changes a value
stores a changed copy of it (copy on write). Then readers need no copy, and after
the lookup no lock. If a caller does change what it gets, let that caller clone.
Where a filter drops most clones, filter the originals and clone the rest.

It is fine where callers change the copy, or the originals change in place about
as often as they are read. The rule follows the clone through the functions that
get it, and compares how often clones are made with how often fields of such
values are set.

Seen in the field: kubernetes-sigs/controller-runtime#1235 (all objects of a
cache copied for each list), kiali/kiali#9764, celestiaorg/rsmt2d#311.`

const (
	// mostChanges is the largest number of assignments to fields for each clone.
	mostChanges = 0.1
	// mostKept is the largest share of the clones that may be used for more than reading.
	mostKept = 1. / 3
	// levels is how many callers a clone, or the value that it is a copy of, is followed to.
	levels = 4
)

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, copies: flow.NewCopies(p.Syntax), found: map[gocode.Pos]*clone{}, judged: map[string]*clone{}}
	return finder.Line{Start: finder.Frames(s.cloner), Judge: s.judge}
}

// search remembers what it finds in a recording.
type search struct {
	pass   *rule.Pass
	copies *flow.Copies
	found  map[gocode.Pos]*clone
	judged map[string]*clone // by the lines of the stack above the copying
}

// clone is a copy that is only read.
type clone struct {
	place    *gocode.Place // of the line that makes it
	from     ast.Expr      // what is copied
	by       string        // what copies
	value    ast.Expr      // the call or literal; nil if it is made in a variable
	variable *types.Var
	parts    []ast.Node // the statements that fill the variable
	object   types.Type
	runs     float64 // per unit of work
	changes  float64 // assignments to fields of such values, per unit of work
	kept     float64 // clones that are not only read, per unit of work
	dropped  bool    // the function that clones drops most clones after it has read them
	readers  string  // the function that reads them
	callee   string  // the function of a module that copies by reflection, as profiles name it
}

// cloner returns the frame of a row that clones a stored value only to read it; -1 for none.
func (s *search) cloner(r *site.Row) int {
	first := max(r.Owner, 0)
	for first < len(r.Stack) && r.Stack[first].Owner.Kind == gocode.Dependency {
		first++ // copies by reflection
	}
	for i := first; i < len(r.Stack) && r.Stack[i].Owner.Kind == gocode.Main; i++ {
		p, ok := s.pass.Syntax.At(r.Stack[i].File, r.Stack[i].Line)
		if !ok {
			return -1
		}
		if s.copies.Original(p) != nil {
			continue // a part of a larger copy
		}
		key := ""
		for _, f := range r.Stack[i:min(len(r.Stack), i+levels)] {
			key += fmt.Sprint(f.File, ":", f.Line, " ")
		}
		c, seen := s.judged[key]
		if !seen {
			c = s.examine(r, i, p)
			s.judged[key] = c
		}
		if c == nil {
			return -1
		}
		s.found[gocode.Pos{File: r.Stack[i].File, Line: r.Stack[i].Line}] = c
		return i
	}
	return -1
}

// examine returns the clone that the frame i of a row makes, if it is only read; nil for others.
func (s *search) examine(r *site.Row, i int, p *gocode.Place) *clone {
	c := s.made(r, i, p)
	if c == nil || !s.stored(r, i, p, c.from) {
		return nil
	}
	e, ok := evidence.Executions(s.pass, *r.Stack[i])
	if !ok || !evidence.Hot(s.pass, e) {
		return nil
	}
	c.runs = e.PerUnit
	if c.object == nil || !s.onlyRead(r, i, c) {
		return nil
	}
	c.changes, ok = s.changes(p, c.object)
	if !ok || c.changes > mostChanges*c.runs {
		return nil
	}
	return c
}

// made returns the clone that the line of the frame i makes, by a call of a function that returns
// copies or by its own statements; nil for none.
func (s *search) made(r *site.Row, i int, p *gocode.Place) *clone {
	if i > 0 && r.Stack[i-1].Owner.Kind == gocode.Dependency {
		return s.reflected(p, r.Stack[i-1].Function)
	}
	if i > max(r.Owner, 0) {
		below, ok := s.pass.Syntax.At(r.Stack[i-1].File, r.Stack[i-1].Line)
		if !ok || s.copies.Original(below) == nil {
			return nil
		}
		call := loops.CallTo(p, r.Stack[i-1].Function)
		if call == nil {
			return nil
		}
		from := flow.ArgumentFor(below, call, s.copies.Original(below))
		if from == nil {
			return nil
		}
		object := flow.CopiedStruct(s.copies.Original(below).Type()) // that of the call may be a type parameter
		return &clone{place: p, from: from, by: syntax.Text(call.Fun), value: call, object: object}
	}
	in := s.copies.Inline(p)
	if in == nil {
		return nil
	}
	c := &clone{place: p, from: in.From, by: syntax.FuncName(p), variable: in.Var, parts: in.Parts, object: flow.CopiedStruct(p.TypeOf(in.From))}
	if in.Lit != nil {
		c.value = in.Lit
	}
	return c
}

// reflected returns the clone that a function of a module makes by reflection; nil for none.
func (s *search) reflected(p *gocode.Place, function string) *clone {
	call := loops.CallTo(p, function)
	if call == nil {
		return nil
	}
	c := &clone{place: p, by: syntax.Text(call.Fun), callee: function}
	if to, from := flow.CopyInto(p, call); to != nil {
		c.variable, c.from, c.parts = to, from, []ast.Node{call}
	} else if from, deep := s.copies.CopyOf(p, call); from != nil && deep {
		c.value, c.from = call, from
	} else {
		return nil
	}
	if u, ok := ast.Unparen(c.from).(*ast.UnaryExpr); ok {
		c.from = u.X
	}
	c.object = flow.CopiedStruct(p.TypeOf(c.from))
	return c
}

// onlyRead reports whether the function of the frame i, and the callers that it returns the clone
// to, only read it, or do more with few of the clones.
func (s *search) onlyRead(r *site.Row, i int, c *clone) bool {
	in := c.reading(s.pass.Syntax)
	if len(in.Others) > 0 {
		return s.seldomKept(c, in)
	}
	c.readers = syntax.FuncName(c.place)
	for j := i + 1; in.Returned || len(in.Given) > 0; j++ {
		if j >= len(r.Stack) || j > i+levels || r.Stack[j].Owner.Kind != gocode.Main {
			return false
		}
		p, ok := s.pass.Syntax.At(r.Stack[j].File, r.Stack[j].Line)
		if !ok {
			return false
		}
		next := s.receives(p, r.Stack[j-1].Function, c, in)
		if next == nil || len(next.Others) > 0 {
			return false
		}
		c.readers = syntax.FuncName(p)
		in = next
	}
	return true
}

// reading follows the clone in the function that makes it.
func (c *clone) reading(s *gocode.Syntax) *flow.Reading {
	if c.variable != nil {
		return flow.ReadingOfVar(s, c.place, c.variable, c.object, c.parts...)
	}
	return flow.ReadingOf(s, c.place, c.value, c.object)
}

// receives follows the clone in a caller that gets it: as a result, or as an argument of its
// callback or the variable of its loop.
func (s *search) receives(p *gocode.Place, callee string, c *clone, in *flow.Reading) *flow.Reading {
	if loop := over(p); loop != nil && len(in.Given) > 0 {
		next := flow.NewReading(s.pass.Syntax, p, c.object)
		next.Loop(p, loop)
		return next
	}
	call := loops.CallTo(p, callee)
	if call == nil {
		return nil
	}
	next := flow.NewReading(s.pass.Syntax, p, c.object)
	if in.Returned {
		next = flow.ReadingOf(s.pass.Syntax, p, call, c.object)
	}
	for _, f := range in.Given {
		next.Callback(p, call, f)
	}
	return next
}

// over returns the loop over an iterator on the line.
func over(p *gocode.Place) (loop *ast.RangeStmt) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if l, ok := n.(*ast.RangeStmt); ok && syntax.Line(p, l.Pos()) == p.Line {
			if _, iterator := p.TypeOf(l.X).Underlying().(*types.Signature); iterator {
				loop = l
			}
		}
		return loop == nil
	})
	return loop
}

// seldomKept reports whether the function that clones drops most clones after it has read them.
func (s *search) seldomKept(c *clone, in *flow.Reading) bool {
	for _, use := range in.Others {
		if use.Decl != c.place.Decl {
			return false
		}
		n, ok := evidence.ReachedAt(s.pass, c.place, use.Node.Pos())
		if !ok {
			return false
		}
		c.kept = max(c.kept, n)
	}
	c.dropped = true
	return c.kept <= mostKept*c.runs
}

func (s *search) judge(c *finder.Case) bool {
	found := s.found[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if found == nil {
		return false
	}
	name := types.TypeString(found.object, func(*types.Package) string { return "" })
	each := ""
	if e := found.runs; e >= 1.5 {
		each = fmt.Sprintf(", %s per %s", evidence.Times(e), s.pass.Manifest.Unit())
	}
	what := syntax.Text(found.from)
	c.Confidence = rule.Likely // that readers may see values of different times is not judged
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s clones per %s, %s assignments to fields of a %s", units.Number(found.runs), s.pass.Manifest.Unit(), units.Number(found.changes), name),
	})
	if found.callee != "" {
		c.Callees = []string{found.callee}
	}
	if found.dropped {
		unused := 1 - found.kept/found.runs
		c.Fraction = &rule.Fraction{Expect: 0.95 * unused, Low: 0.7 * unused, High: unused}
		further := "none of the copies was used further while executions were counted"
		if found.kept > 0 {
			further = fmt.Sprintf("only %s of the copies are used further", units.Percent(found.kept/found.runs))
		}
		c.Cause = fmt.Sprintf("%s makes a deep copy of %s%s, reads it, and drops it: %s.", found.by, what, each, further)
		c.Fix = fmt.Sprintf("Test %s itself, and clone only what passes.", what)
		return true
	}
	c.Cause = fmt.Sprintf("%s makes a deep copy of %s, which the program keeps%s, and %s only reads the copies.", found.by, what, each, found.readers)
	how := fmt.Sprintf("Let readers share the stored values: whoever changes a %s stores a changed copy of it instead (copy on write), so that nobody changes one that others read.", name)
	if found.changes == 0 {
		how = fmt.Sprintf("Let readers share the stored values: no field of a stored %s was set while executions were counted. Whoever changes one stores a changed copy.", name)
	}
	c.Fix = how + " A caller that changes what it gets can clone it itself."
	return true
}
