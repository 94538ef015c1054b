package roundtripperitem

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	ioinloop "github.com/hone-go/hone/internal/diagnose/rules/io-in-loop"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// levels is how many callers away from the wait the loop may be.
const levels = 3

// loop is a loop with a call that waits in its iterations.
type loop struct {
	place *gocode.Place // of the line of the call
	file  string
	call  *ast.CallExpr
	node  ast.Node
	items float64 // calls each time the loop is reached
	sent  string  // the call that sends the item, if this one only waits for the answer
	below string  // the call of the module, if the loop calls a function that contains it
}

func (l *loop) site(p *rule.Pass) *site.Site {
	function := syntax.ProfileName(l.place)
	for _, s := range p.Table.Sites {
		if s.Line == l.place.Line && s.File == l.file {
			return s
		}
	}
	return p.Site(&site.Frame{Function: function, File: l.file, Line: l.place.Line, Owner: p.Code.Owner(function, l.file)})
}

// where returns the line of the loop, or the call that runs a function literal for each item.
func (l *loop) where() string {
	return syntax.Where(l.place, l.node.Pos())
}

// loopAround returns the loop around a wait, or around calls of the function that waits; nil for
// none.
func (s *search) loopAround(w *wait) *loop {
	place, ok := s.pass.Syntax.At(w.line.File, w.line.Line)
	if !ok {
		return nil
	}
	runs, ok := evidence.Executions(s.pass, site.Frame{File: w.line.File, Line: w.line.Line, Owner: s.pass.Code.Owner(w.line.Function, w.line.File)})
	if !ok {
		return nil
	}
	if w.own {
		if l := s.callers(place, runs.PerUnit, levels); l != nil {
			return l
		}
		return s.byStacks(w, runs.PerUnit)
	}
	call := callOf(place, w.module)
	if call == nil || s.known(w, place, call) {
		return nil
	}
	l := s.above(place, call, runs.PerUnit, levels)
	if l == nil {
		l = s.byStacks(w, runs.PerUnit)
	}
	if l != nil && l.call != call {
		l.below = syntax.Text(call.Fun)
	}
	return l
}

// byStacks returns the loop around the calls that the stacks of the profiles show, such as those of
// a function value.
func (s *search) byStacks(w *wait, waits float64) (found *loop) {
	visit := func(rows []*site.Row) {
		for _, r := range rows {
			at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Line == w.line.Line && f.File == w.line.File })
			for i := at + 1; found == nil && at >= 0 && i < len(r.Stack) && i <= at+2*levels; i++ {
				place, ok := s.pass.Syntax.At(r.Stack[i].File, r.Stack[i].Line)
				if !ok || r.Stack[i].Owner.Kind != gocode.Main {
					continue // a wrapper
				}
				call := loops.CallTo(place, r.Stack[i-1].Function)
				if call == nil {
					call = callOf(place, "")
				}
				if call != nil {
					found = s.above(place, call, waits, 0)
				}
			}
		}
	}
	for _, at := range s.pass.Table.Sites {
		visit(at.CPU)
		visit(at.Allocs)
		visit(at.Block)
	}
	return found
}

// callOf returns the call of a module on a line: of one of its functions or, if there is none,
// through an interface or a variable.
func callOf(p *gocode.Place, module string) (call *ast.CallExpr) {
	for _, c := range syntax.Calls(p) {
		fn := p.Callee(c)
		if fn != nil && fn.Pkg() != nil && (fn.Pkg().Path() == module || strings.HasPrefix(fn.Pkg().Path(), module+"/")) {
			return c
		}
		_, conversion := p.Conversion(c)
		if call == nil && !conversion && p.TypeOf(c.Fun) != nil && (fn == nil || fn.Signature().Recv() != nil) {
			if _, function := p.TypeOf(c.Fun).Underlying().(*types.Signature); function {
				call = c
			}
		}
	}
	return call
}

// known reports whether io-in-loop knows the call, or one below the line, by its name.
func (s *search) known(w *wait, p *gocode.Place, call *ast.CallExpr) bool {
	if fn := p.Callee(call); fn != nil && ioinloop.Knows(profiled(fn)) {
		return true
	}
	found := false
	s.pass.EachRow(func(r *site.Row) {
		at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Line == w.line.Line && f.File == w.line.File })
		found = found || at > 0 && slices.ContainsFunc(r.Stack[:at], func(f *site.Frame) bool { return ioinloop.Knows(f.Function) })
	})
	return found
}

// profiled returns the name of a function as profiles write it: "database/sql.(*DB).Exec".
func profiled(fn *types.Func) string {
	if fn.Pkg() == nil {
		return fn.Name()
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Pkg().Path() + "." + fn.Name()
	}
	t := types.TypeString(recv.Type(), func(*types.Package) string { return "" })
	if pointer := strings.HasPrefix(t, "*"); pointer {
		t = "(" + t + ")"
	}
	return fn.Pkg().Path() + "." + t + "." + fn.Name()
}

// above returns the loop that repeats a call, in its function or in a caller. The waits are below
// the call's line, which runs so often for each unit of work.
func (s *search) above(p *gocode.Place, call *ast.CallExpr, waits float64, levels int) *loop {
	runs, ok := evidence.ReachedAt(s.pass, p, call.Pos())
	if !ok || runs < each*waits {
		return nil
	}
	around := loops.Around(p, call)
	if lit := loops.Each(p); lit != nil {
		around = append(around, lit)
	}
	for _, node := range around {
		entries, ok := evidence.ReachedAt(s.pass, outside(p, node), node.Pos())
		if !ok || entries <= 0 {
			continue
		}
		if items := runs / entries; items >= leastItems {
			if !s.repeats(p, node, runs) {
				return nil
			}
			sent := ""
			if !asks(p, call) || !awaited.PerItem(p, node, call) {
				before := answered(p, node, call)
				if before == nil {
					return nil
				}
				sent = syntax.Text(before.Fun)
			}
			return &loop{sent: sent, place: p, file: p.Fset.Position(call.Pos()).Filename, call: call, node: node, items: items}
		}
	}
	if !asks(p, call) {
		return nil
	}
	return s.callers(p, waits, levels)
}

// outside returns the place from which a loop, or a function literal, is reached.
func outside(p *gocode.Place, node ast.Node) *gocode.Place {
	if _, lit := node.(*ast.FuncLit); lit {
		return p.Outer()
	}
	return p
}

// repeats reports whether a call runs in most iterations of a loop.
func (s *search) repeats(p *gocode.Place, node ast.Node, runs float64) bool {
	var body *ast.BlockStmt
	if lit, ok := node.(*ast.FuncLit); ok {
		body = lit.Body
	} else {
		body = loops.Body(node)
	}
	if body == nil || len(body.List) == 0 {
		return false
	}
	iterations, ok := evidence.ReachedAt(s.pass, p, body.List[0].Pos())
	return ok && runs >= each*iterations
}

// callers returns the loop around the calls of the function around a place, if it causes most of
// the waits.
func (s *search) callers(p *gocode.Place, waits float64, levels int) *loop {
	if levels == 0 || p.Decl == nil {
		return nil
	}
	if lit, ok := p.Func.(*ast.FuncLit); ok {
		return s.callersOf(p, lit, waits, levels)
	}
	self, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok {
		return nil
	}
	is := func(fn *types.Func) bool { return fn == self || awaited.Implements(self, fn) }
	for _, in := range s.pass.Syntax.Calls(is) {
		for _, call := range syntax.Calls(in) {
			if fn := in.Callee(call); fn == nil || !is(fn.Origin()) || in.Decl == p.Decl {
				continue
			}
			if l := s.above(in, call, waits, levels-1); l != nil {
				return l
			}
		}
	}
	return nil
}

// callersOf is callers for a function literal that a variable has.
func (s *search) callersOf(p *gocode.Place, lit *ast.FuncLit, waits float64, levels int) (found *loop) {
	outer := p.Outer()
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil || syntax.Within(lit, call) || syntax.Origin(outer, call.Fun) != ast.Expr(lit) {
			return found == nil
		}
		at := p.Fset.Position(call.Pos())
		if in, ok := s.pass.Syntax.At(at.Filename, at.Line); ok {
			found = s.above(in, call, waits, levels-1)
		}
		return found == nil
	})
	return found
}

// asks reports whether a call may ask for something, by its name. Others receive what comes, or
// wait until they may go on.
func asks(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || awaited.Words(fn.Name())[0] == "read" && slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return keyed(p.TypeOf(e)) }) {
		return true
	}
	return !slices.Contains([]string{
		"accept", "acquire", "allow", "consume", "dequeue", "limit", "listen", "lock", "next", "poll", "pop", "read", "receive", "recv", "scan", "sleep", "subscribe", "take", "throttle", "wait",
	}, awaited.Words(fn.Name())[0]) && !funcname.Match(fn.FullName(), "(*sync.*", "(sync.*", "time.*")
}
