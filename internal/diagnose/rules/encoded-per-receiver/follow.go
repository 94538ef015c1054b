package encodedperreceiver

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// deepest is how many callers away from the encoder the loop over the receivers may be.
const deepest = 7

// follow follows the value that the function at a frame encodes to a loop over receivers, through
// the parameters of its callers; nil if it depends on the receiver, or there is no such loop. line
// is the frame of the line that is reported.
func (s *search) follow(stack []*site.Frame, encoder, line int) *found {
	f := &found{encoder: stack[encoder].Function}
	var values []ast.Expr
	for i := encoder + 1; i < len(stack) && i <= encoder+deepest; i++ {
		at := stack[i]
		p, ok := s.pass.Syntax.At(at.File, at.Line)
		if !ok {
			return nil
		}
		call := loops.CallTo(p, stack[i-1].Function)
		if call == nil {
			return nil
		}
		if i == encoder+1 {
			values = encoded(call, f.encoder)
		} else if values = passed(s.pass.Syntax, stack[i-1], call, values); len(values) == 0 {
			return nil
		}
		if len(values) == 0 {
			return nil
		}
		if i == line {
			f.value = syntax.Text(values[0])
		}
		switch done, ok := s.looped(f, p, call, values); {
		case done && (!ok || i < line):
			return nil
		case done:
			f.times = min(f.times, s.perValue(f, stack[line]))
			if f.times < leastReceivers {
				return nil
			}
			return f
		}
		if !given(p, call, values) {
			return nil
		}
	}
	return nil
}

// encoded returns the arguments of a call of an encoder on which its result depends.
func encoded(call *ast.CallExpr, encoder string) []ast.Expr {
	name := encoder[strings.LastIndexByte(encoder, '.')+1:]
	switch n := len(call.Args); {
	case n == 0:
		return nil
	case strings.HasPrefix(name, "Execute"), strings.Contains(name, "Append"), strings.HasSuffix(name, "Write"):
		return call.Args[1:] // the first is where the result goes
	case name == "EncodeContext":
		return call.Args[1:]
	default:
		return call.Args
	}
}

// given reports whether values consist of parameters of the function around, which nothing there
// changes, and constants.
func given(p *gocode.Place, call *ast.CallExpr, values []ast.Expr) bool {
	if p.Func == nil {
		return false
	}
	vars, ok := roots(p, p.Func, values)
	if !ok || len(vars) == 0 {
		return false
	}
	for _, v := range vars {
		if !syntax.Param(p, v) || changed(p, p.Func, v, call) {
			return false
		}
	}
	return true
}

// passed returns what a call passes for the parameters that values in the called function consist
// of; nil if that is unknown.
func passed(all *gocode.Syntax, callee *site.Frame, call *ast.CallExpr, values []ast.Expr) []ast.Expr {
	in, ok := all.At(callee.File, callee.Line)
	if !ok {
		return nil
	}
	sig := syntax.SignatureOf(in)
	if sig == nil {
		return nil
	}
	vars, ok := roots(in, in.Func, values)
	if !ok {
		return nil
	}
	var args []ast.Expr
	for _, v := range vars {
		switch k := syntax.ParamIndex(sig, v); {
		case k >= 0 && k < len(call.Args) && !(sig.Variadic() && k == sig.Params().Len()-1):
			args = append(args, call.Args[k])
		case k < 0 && sig.Recv() == v && syntax.Receiver(call) != nil:
			args = append(args, syntax.Receiver(call))
		default:
			return nil
		}
	}
	return args
}

// looped reports whether a call is in a loop over receivers, or in the goroutine of one, and then
// whether all of them get the same values.
func (s *search) looped(f *found, p *gocode.Place, call *ast.CallExpr, values []ast.Expr) (done, ok bool) {
	loop := loops.Repeating(p, call)
	if loop != nil && overReceivers(p, loop) {
		return true, same(p, loop, call, values) && s.counted(f, p, loop)
	}
	if v := received(p, values); v != nil {
		return true, !changed(p, p.Func, v.to, call) && s.sentToAll(f, p, v)
	}
	if loop != nil {
		return true, false
	}
	lit, isLit := p.Func.(*ast.FuncLit)
	if !isLit || p.Decl == nil {
		return false, false
	}
	outer := p.Outer()
	if start, isGo := syntax.Parent(outer, lit).(*ast.CallExpr); isGo && start.Fun == ast.Expr(lit) {
		loop = loops.Repeating(outer, start)
		if loop == nil || !overReceivers(outer, loop) {
			return false, false
		}
		if values = parameters(p, start, values); values == nil || !same(outer, loop, call, values) {
			return true, false
		}
		return true, s.counted(f, outer, loop)
	}
	if loops.Each(p) == nil {
		return false, false
	}
	each, _ := syntax.Parent(outer, lit).(*ast.CallExpr)
	if each == nil || !same(outer, lit, call, values) {
		return true, false
	}
	return true, s.countedEach(f, outer, each, lit)
}

// parameters replaces parameters of a function literal, which is called at once, by its arguments.
func parameters(p *gocode.Place, call *ast.CallExpr, values []ast.Expr) []ast.Expr {
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return nil
	}
	vars, ok := roots(p, p.Func, values)
	if !ok {
		return nil
	}
	var args []ast.Expr
	for _, v := range vars {
		k := syntax.ParamIndex(sig, v)
		if k < 0 {
			continue // captured
		}
		if k >= len(call.Args) {
			return nil
		}
		args = append(args, call.Args[k])
	}
	for _, e := range values {
		if v, _ := syntax.Var(p, e); v == nil || syntax.ParamIndex(sig, v) < 0 {
			args = append(args, e)
		}
	}
	return args
}

// overReceivers reports whether a loop iterates over objects in memory, not over numbers or what a
// channel brings.
func overReceivers(p *gocode.Place, loop ast.Node) bool {
	object := func(t types.Type) bool {
		if t == nil {
			return false
		}
		_, basic := t.Underlying().(*types.Basic)
		return !basic
	}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		switch t := p.TypeOf(l.X).Underlying().(type) {
		case *types.Slice:
			return object(t.Elem())
		case *types.Array:
			return object(t.Elem())
		case *types.Map:
			return object(t.Elem()) && !empty(t.Elem()) || object(t.Key())
		case *types.Pointer:
			return true // to an array
		case *types.Signature:
			return slices.ContainsFunc([]ast.Expr{l.Key, l.Value}, func(e ast.Expr) bool { return e != nil && object(p.TypeOf(e)) })
		}
	case *ast.ForStmt:
		if init, ok := l.Init.(*ast.AssignStmt); ok {
			return object(p.TypeOf(init.Lhs[0])) || measured(p, l.Cond)
		}
	}
	return false
}

func empty(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() == 0
}

// measured reports whether a condition of a loop asks for a length.
func measured(p *gocode.Place, cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(b.Y).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "len"
}

// counted sets how many receivers a loop has; false if they are few or unknown.
func (s *search) counted(f *found, p *gocode.Place, loop ast.Node) bool {
	at := p.Fset.Position(loop.Pos())
	l, ok := s.pass.Counts.Loop(p.Pkg.Path(), at.Filename, at.Line)
	if !ok || l.Entries <= 0 {
		return false
	}
	f.times, f.entries, f.loop = l.Iterations, l.Entries, fmt.Sprintf("line %d of %s", at.Line, syntax.FuncName(p))
	return f.times >= leastReceivers
}

// countedEach is counted for a function that is called for each receiver.
func (s *search) countedEach(f *found, p *gocode.Place, each *ast.CallExpr, lit *ast.FuncLit) bool {
	if len(lit.Body.List) == 0 {
		return false
	}
	entries, ok1 := evidence.ReachedAt(s.pass, p, each.Pos())
	calls, ok2 := evidence.ReachedAt(s.pass, p, lit.Body.List[0].Pos())
	if !ok1 || !ok2 || entries <= 0 {
		return false
	}
	f.times, f.entries, f.loop = calls/entries, entries, fmt.Sprintf("line %d of %s", syntax.Line(p, each.Pos()), syntax.FuncName(p))
	return f.times >= leastReceivers
}

// perValue returns how often the reported line runs for each entry of the loop: less often than
// there are receivers if the result is kept.
func (s *search) perValue(f *found, line *site.Frame) float64 {
	runs, ok := evidence.Executions(s.pass, *line)
	if !ok {
		return 0
	}
	return runs.PerUnit / f.entries
}

// harmless reports whether a call does not change what its arguments refer to.
func harmless(p *gocode.Place, call *ast.CallExpr) bool {
	if _, conversion := p.Conversion(call); conversion {
		return true
	}
	name := p.CalleeName(call)
	if funcname.Match(name, "len", "cap", "fmt.*", "log.*", "log/slog.*", "(*log.Logger).*", "(*log/slog.Logger).*", "append") {
		return true
	}
	t := p.TypeOf(call)
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0 // asks a question
}
