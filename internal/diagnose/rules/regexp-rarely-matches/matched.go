package regexprarelymatches

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// matches is how often calls ran, and an upper bound of how many of them matched, for each unit of
// work.
type matches struct{ calls, hits float64 }

func (m matches) rate() float64 { return min(1, m.hits/m.calls) }

func (m matches) evidence(c *finder.Case) rule.Evidence {
	return rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s calls, %s matches per %s", units.Count(int64(m.calls+0.5)), units.Number(m.hits), c.Pass.Manifest.Unit())}
}

// matched returns how often the calls on a line ran and matched; false if that is not known.
func matched(c *finder.Case, calls []*ast.CallExpr) (all matches, ok bool) {
	for _, call := range calls {
		m, ok := (&reader{pass: c.Pass, p: c.Place}).call(call)
		if !ok {
			m, ok = byCallers(c, call)
		}
		if !ok && len(calls) == 1 {
			m, ok = byAllocations(c, call)
		}
		if !ok {
			return matches{}, false
		}
		all.calls += m.calls
		all.hits += m.hits
	}
	return all, all.calls > 0
}

// byCallers returns how often a call matched whose result the function returns, according to what
// its callers in the profile do with that.
func byCallers(c *finder.Case, call *ast.CallExpr) (all matches, ok bool) {
	if !returned(c.Place, call) {
		return matches{}, false
	}
	type line struct {
		file string
		line int
	}
	seen := map[line]bool{}
	for _, r := range c.CPU {
		if r.Owner < 0 || r.Owner+1 >= len(r.Stack) {
			return matches{}, false
		}
		f := r.Stack[r.Owner+1]
		at := line{f.File, f.Line}
		if seen[at] {
			continue
		}
		seen[at] = true
		place := c.Pass.Place(&site.Site{Frame: *f})
		if place == nil {
			return matches{}, false
		}
		for _, of := range syntax.CallsTo(place, c.Site.Function) {
			m, ok := (&reader{pass: c.Pass, p: place}).call(of)
			if !ok {
				return matches{}, false
			}
			all.calls += m.calls
			all.hits += m.hits
		}
	}
	return all, all.calls > 0
}

const (
	// leastMatch is the minimum number of bytes that a match allocates, for its positions or texts.
	leastMatch = 32
	// rate is how many bytes the profile of allocations samples once, and leastSamples how many
	// samples there would have to be if as many calls matched as the rule reports at most.
	rate         = 512 << 10
	leastSamples = 8
)

// byAllocations returns an upper bound of how often a call matched that allocates for each match,
// if the profile has many calls.
func byAllocations(c *finder.Case, call *ast.CallExpr) (matches, bool) {
	name := c.Place.CalleeName(call)
	if strings.HasSuffix(name, ".FindString") || strings.HasSuffix(name, ".Find") || strings.Contains(name, ".Match") {
		return matches{}, false // these allocate nothing
	}
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, 1)
	if !ok || !known || each <= 0 || mostMatches*leastMatch/each < leastSamples*rate {
		return matches{}, false
	}
	bytes, _ := stacks.Sum(stacks.Select(c.Site.Allocs, func(r *site.Row) bool {
		return stacks.Calls(r, methods("regexp.(*Regexp).")...) && !r.Below("regexp.(*Regexp).doExecute")
	}))
	return matches{e.PerUnit, float64(bytes) * each / leastMatch * e.PerUnit}, true
}

// returned reports whether a function returns what a call returns, alone or with ||.
func returned(p *gocode.Place, call *ast.CallExpr) bool {
	var n ast.Node = call
	for {
		switch up := syntax.Parent(p, n).(type) {
		case *ast.BinaryExpr:
			if up.Op != token.LOR {
				return false
			}
			n = up
		case *ast.ReturnStmt:
			return len(up.Results) == 1
		default:
			return false
		}
	}
}

// reader finds the code that runs for a match, and reads how often it ran.
type reader struct {
	pass *rule.Pass
	p    *gocode.Place
}

func (r *reader) runs(n ast.Node) (float64, bool) {
	e, ok := evidence.ExecutionsAt(r.pass, r.p, n.Pos())
	return e.PerUnit, ok
}

// call returns how often a call ran and matched: its result is a condition, is compared with nil,
// or is iterated over, at once or through a variable.
func (r *reader) call(call *ast.CallExpr) (matches, bool) {
	calls, ok := r.runs(call)
	if !ok {
		return matches{}, false
	}
	if v := syntax.Result(r.p, call); v != nil && calls > 0 {
		for _, read := range syntax.Reads(r.p, v) {
			if hits, ok := r.hits(read); ok {
				return matches{calls, hits}, true
			}
		}
		return matches{}, false
	}
	if calls, ok = r.reached(call, calls); !ok || calls <= 0 {
		return matches{}, false
	}
	hits, ok := r.hits(call)
	return matches{calls, hits}, ok
}

// reached corrects the number of calls for those in a case: the line of a case counts its body.
func (r *reader) reached(call *ast.CallExpr, calls float64) (float64, bool) {
	for _, n := range r.p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.CaseClause:
			if len(n.Body) > 0 && call.Pos() > n.Colon {
				return calls, true // in the body
			}
			block, _ := syntax.Parent(r.p, n).(*ast.BlockStmt)
			sw, ok := syntax.Parent(r.p, block).(*ast.SwitchStmt)
			if !ok {
				return 0, false
			}
			calls, ok = r.runs(sw)
			for _, s := range block.List {
				before, is := s.(*ast.CaseClause)
				if !is || before.Pos() >= n.Pos() {
					break
				}
				if len(before.Body) > 0 {
					taken, _ := r.runs(before.Body[0])
					calls -= taken
				}
			}
			return calls, ok && calls > 0
		case *ast.FuncLit, *ast.FuncDecl, *ast.BlockStmt:
			return calls, true
		}
	}
	return calls, true
}

// hits returns how often the code ran that a match leads to, given the expression that has the
// result.
func (r *reader) hits(e ast.Expr) (float64, bool) {
	match := true // what the value of e is for a match
	var n ast.Node = e
	if t := r.p.TypeOf(e); t != nil && !isBool(t) {
		var ok bool
		if n, match, ok = r.compared(e); !ok {
			return r.iterated(e)
		}
	}
	for {
		switch up := syntax.Parent(r.p, n).(type) {
		case *ast.UnaryExpr:
			if up.Op != token.NOT {
				return 0, false
			}
			n, match = up, !match
		case *ast.BinaryExpr:
			// The whole has the value for a match if the part has, and possibly more often.
			if match && up.Op != token.LOR || !match && up.Op != token.LAND {
				return 0, false
			}
			n = up
		case *ast.IfStmt:
			return r.branch(up, match)
		case *ast.CaseClause:
			sw, tagless := syntax.Parent(r.p, syntax.Parent(r.p, up)).(*ast.SwitchStmt)
			if !tagless || sw.Tag != nil || !match || len(up.Body) == 0 {
				return 0, false
			}
			return r.runs(up.Body[0])
		default:
			return 0, false
		}
	}
}

// compared returns the comparison of a list with nil or of its length with a number, and its value
// for a match.
func (r *reader) compared(e ast.Expr) (n ast.Node, match, ok bool) {
	n = e
	length := false
	if call, is := syntax.Parent(r.p, e).(*ast.CallExpr); is && r.p.CalleeName(call) == "len" {
		n, length = call, true
	}
	b, is := syntax.Parent(r.p, n).(*ast.BinaryExpr)
	if !is || ast.Unparen(b.X) != n {
		return nil, false, false
	}
	if !length && !r.empty(b.Y) {
		return nil, false, false
	}
	if length {
		if _, constant := r.p.Const(b.Y); !constant {
			return nil, false, false
		}
	}
	switch b.Op {
	case token.EQL:
		least, _ := syntax.ConstInt(r.p, b.Y)
		return b, length && least > 0, true
	case token.NEQ:
		least, _ := syntax.ConstInt(r.p, b.Y)
		return b, !length || least == 0, true
	case token.GTR, token.GEQ:
		return b, true, length
	case token.LSS, token.LEQ:
		return b, false, length
	}
	return nil, false, false
}

// empty reports whether an expression is nil or "".
func (r *reader) empty(e ast.Expr) bool {
	if s, ok := syntax.ConstString(r.p, e); ok {
		return s == ""
	}
	b, ok := r.p.TypeOf(e).(*types.Basic)
	return ok && b.Kind() == types.UntypedNil
}

// iterated returns how often the body of a loop over the matches ran.
func (r *reader) iterated(e ast.Expr) (float64, bool) {
	loop, ok := syntax.Parent(r.p, e).(*ast.RangeStmt)
	if !ok || ast.Unparen(loop.X) != ast.Unparen(e) || len(loop.Body.List) == 0 {
		return 0, false
	}
	return r.runs(loop.Body.List[0])
}

// branch returns how often an if statement took the branch for a value of its condition.
func (r *reader) branch(s *ast.IfStmt, value bool) (float64, bool) {
	if value {
		if len(s.Body.List) == 0 {
			return 0, false
		}
		return r.runs(s.Body.List[0])
	}
	switch other := s.Else.(type) {
	case *ast.BlockStmt:
		if len(other.List) == 0 {
			return 0, false
		}
		return r.runs(other.List[0])
	case *ast.IfStmt:
		return r.runs(other)
	}
	if len(s.Body.List) == 0 || !leaves(s.Body.List[len(s.Body.List)-1]) {
		return 0, false
	}
	next := after(r.p, s)
	if next == nil {
		return 0, false
	}
	return r.runs(next)
}

// leaves reports whether what follows a statement does not run after it.
func leaves(s ast.Stmt) bool {
	if _, ok := s.(*ast.BranchStmt); ok {
		return true
	}
	return syntax.Departs(s, true)
}

// after returns the statement that follows another in its list; nil for none.
func after(p *gocode.Place, s ast.Stmt) ast.Stmt {
	var list []ast.Stmt
	switch up := syntax.Parent(p, s).(type) {
	case *ast.BlockStmt:
		list = up.List
	case *ast.CaseClause:
		list = up.Body
	case *ast.CommClause:
		list = up.Body
	}
	for i, other := range list {
		if other == s && i+1 < len(list) {
			return list[i+1]
		}
	}
	return nil
}

func isBool(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}
