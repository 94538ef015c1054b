package regexprarelymatches

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// list is a loop that runs each of several expressions on the same text.
type list struct {
	matches
	over       ast.Expr
	text       string
	head       string // its line; with the file, if a caller has the loop
	iterations float64
	// filterable of known patterns have a literal that can be tested.
	filterable, known int
}

// listed returns the list of expressions that a loop goes through on the line; false if the call's
// expression does not depend on the iteration, or its text does.
func listed(c *finder.Case, loop ast.Stmt) (*list, bool) {
	p, call := c.Place, c.Calls[0]
	receiver := syntax.Receiver(call)
	inner, ranges := loop.(*ast.RangeStmt)
	if receiver == nil || !ranges || loops.Invariant(p, loop, receiver) || asked(p, loop, call, call.Args[0]) {
		return nil, false
	}
	outer := loops.Same(p, call, call.Args[0])
	if outer == nil {
		return nil, false
	}
	head := syntax.Line(p, outer.Pos())
	l := &list{over: inner.X, text: syntax.Text(call.Args[0]), head: fmt.Sprintf("line %d", head)}
	n, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, head)
	return l, ok && l.count(c, n, receiver)
}

// count fills in how many expressions there are and how often they match; false if they are few,
// or if many match.
func (l *list) count(c *finder.Case, outer counts.Loop, receiver ast.Expr) bool {
	var ok bool
	if l.matches, ok = matched(c, c.Calls); !ok || l.rate() > mostOfList {
		return false
	}
	if l.iterations = l.calls / outer.Entries; l.iterations < leastPatterns {
		return false
	}
	for _, pattern := range patterns(c, receiver, l.over) {
		l.known++
		if _, ok := required(pattern); ok {
			l.filterable++
		}
	}
	return true
}

// listedBy returns the list that a caller goes through, whose elements' method or function has the
// call: it gets the element and the text from the caller.
func listedBy(c *finder.Case) (*list, bool) {
	call := c.Calls[0]
	receiver := syntax.Receiver(call)
	if receiver == nil {
		return nil, false
	}
	element, _ := syntax.Var(c.Place, receiver)
	text := syntax.LocalVar(c.Place, call.Args[0])
	if element == nil || text == nil || !syntax.Param(c.Place, element) || !syntax.Param(c.Place, text) {
		return nil, false
	}
	f, p := caller(c)
	if f == nil {
		return nil, false
	}
	for _, of := range syntax.CallsTo(p, c.Site.Function) {
		inner, ranges := p.LoopAround(of).(*ast.RangeStmt)
		arg, from := given(c.Place, of, text), given(c.Place, of, element)
		if !ranges || arg == nil || from == nil || loops.Invariant(p, inner, from) || asked(p, inner, of, arg) {
			continue
		}
		outer := loops.Same(p, of, arg)
		if outer == nil {
			continue
		}
		l := &list{over: inner.X, text: syntax.Text(arg), head: syntax.Where(p, outer.Pos())}
		n, ok := c.Pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, outer.Pos()))
		return l, ok && l.count(c, n, receiver)
	}
	return nil, false
}

// caller returns the line that most of a match's rows come from; nil when there is no such line.
func caller(c *finder.Case) (*site.Frame, *gocode.Place) {
	var most *site.Frame
	var of, all int64
	for _, r := range c.CPU {
		all += r.Count
		if r.Owner < 0 || r.Owner+1 >= len(r.Stack) {
			continue
		}
		f := r.Stack[r.Owner+1]
		if most == nil {
			most = f
		}
		if f.Line == most.Line && f.File == most.File {
			of += r.Count
		}
	}
	if most == nil || float64(of) < mostlyOne*float64(all) {
		return nil, nil
	}
	p := c.Pass.Place(&site.Site{Frame: *most})
	if p == nil {
		return nil, nil
	}
	return most, p
}

// given returns what a call passes for a parameter or the receiver of the place's function.
func given(p *gocode.Place, call *ast.CallExpr, v *types.Var) ast.Expr {
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return nil
	}
	if sig.Recv() == v {
		return syntax.Receiver(call)
	}
	if i := syntax.ParamIndex(sig, v); i >= 0 && i < len(call.Args) {
		return call.Args[i]
	}
	return nil
}

// asked reports whether the loop asks something about the text before the call.
func asked(p *gocode.Place, loop ast.Stmt, call *ast.CallExpr, of ast.Expr) bool {
	text, _ := syntax.Var(p, of)
	found := false
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || c == call || c.Pos() >= call.Pos() || found {
			return !found
		}
		for _, arg := range c.Args {
			v, _ := syntax.Var(p, arg)
			found = found || v != nil && v == text
		}
		return !found
	})
	return found
}

// patterns returns the constant patterns of a list of expressions, as far as they are known: of the
// elements of a literal, or of the values that code gives to a field.
func patterns(c *finder.Case, receiver, over ast.Expr) (all []string) {
	if sel, ok := ast.Unparen(receiver).(*ast.SelectorExpr); ok {
		return fieldPatterns(c, sel)
	}
	lit, ok := syntax.Origin(c.Place, over).(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, e := range lit.Elts {
		if pattern, ok := compiled(c.Pass.Syntax, c.Place, e); ok {
			all = append(all, pattern)
		}
	}
	return all
}

// describe fills in a match; it reports false if too few of the patterns have a literal.
func (l *list) describe(c *finder.Case) bool {
	share := 1.0
	if l.known > 0 {
		share = float64(l.filterable) / float64(l.known)
	}
	if share < leastFilterable {
		return false
	}
	c.Cause = fmt.Sprintf("The loop on %s runs each of %s expressions of %s on all of %s. According to the counts of executions, %s of these calls match.",
		l.head, units.Number(l.iterations), syntax.Text(l.over), l.text, units.Percent(l.rate()))
	c.Fix = fmt.Sprintf("Keep with each expression a literal that every match contains (regexp/syntax parses the pattern), and run the expression only if %s contains it. With many expressions, search all literals in one pass (Aho–Corasick) and run those whose literal was found.", l.text)
	f := saves(l.rate(), true)
	f = rule.Fraction{Expect: f.Expect * share, Low: f.Low * share, High: f.High * share}
	if l.known == 0 {
		// Which of the patterns have a literal is unknown.
		f.Expect, f.Low = f.Expect*0.75, 0.1
		c.Confidence = rule.Likely
	}
	c.Fraction = &f
	c.Evidence = append(c.Evidence, l.evidence(c))
	return true
}
