package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// onlyRead adds to what keeps a value that an entry whose time is over is removed only when its own
// key is read again, or when the container is full. It reports whether that holds of all removals;
// those that never ran and belong to neither may only drop a key or all of them on demand.
func (k *keep) onlyRead(pass *rule.Pass, p *gocode.Place, of *owner, out []ast.Node, name string) bool {
	read, full := "", ""
	for _, n := range out {
		for _, pos := range reaching(p, n) {
			fn := around(p, pos)
			if fn == nil {
				return false
			}
			switch cond := condition(p, fn, pos, func(c ast.Expr) bool { return aged(p, fn, c) }); {
			case cond != nil && readsKey(p, fn, of):
				read = fmt.Sprintf("%s, %s", fn.Name.Name, syntax.Where(p, cond.Pos()))
			case condition(p, fn, pos, func(c ast.Expr) bool { return counted(p, of, c) }) != nil:
				c := condition(p, fn, pos, func(c ast.Expr) bool { return counted(p, of, c) })
				full = fmt.Sprintf(", or if %s (%s)", syntax.Text(c), syntax.Where(p, c.Pos()))
			default:
				if ran, ok := evidence.ExecutionsAt(pass, p, pos); !ok || ran.PerUnit > 0 || looped(p, fn, pos) {
					return false
				}
			}
		}
	}
	if read == "" {
		return false
	}
	k.release = true
	k.words += fmt.Sprintf(". An expired entry is removed only when its own key is read again (%s)%s: entries whose keys never come again stay.", read, full)
	k.fix = fmt.Sprintf("Remove expired entries of %s also when nobody reads them: a few of the oldest at each insertion, or all of them in a sweep that a ticker starts.", name)
	return true
}

// reaching returns where a node that removes an entry is reached from: the calls of its function in
// the package, if it is one that other packages cannot call; else the node itself.
func reaching(p *gocode.Place, n ast.Node) []token.Pos {
	fn := around(p, n.Pos())
	if fn == nil || fn.Name.IsExported() {
		return []token.Pos{n.Pos()}
	}
	var calls []token.Pos
	callee := p.Object(fn.Name)
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if c := p.Callee(call); c != nil && types.Object(c.Origin()) == callee {
					calls = append(calls, call.Pos())
				}
			}
			return true
		})
	}
	if len(calls) == 0 {
		return []token.Pos{n.Pos()}
	}
	return calls
}

// condition returns the condition of a branch around a position in a function that is as wanted, or
// of one that returns before the position otherwise; nil for none.
func condition(p *gocode.Place, fn *ast.FuncDecl, pos token.Pos, wanted func(ast.Expr) bool) (found ast.Expr) {
	ast.Inspect(fn, func(n ast.Node) bool {
		branch, ok := n.(*ast.IfStmt)
		if ok && wanted(branch.Cond) && (syntax.Inside(branch.Body, pos) || branch.End() < pos && syntax.Leaves(branch.Body)) {
			found = branch.Cond
		}
		return true
	})
	return found
}

// aged reports whether a condition compares times: it uses a time, a method of one, or a variable
// that is the result of one.
func aged(p *gocode.Place, fn *ast.FuncDecl, cond ast.Expr) (found bool) {
	in := p.Entry(fn)
	isTime := func(e ast.Expr) bool {
		t := p.TypeOf(e)
		return t != nil && slices.Contains([]string{"time.Time", "time.Duration"}, t.String())
	}
	ast.Inspect(cond, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || found {
			return !found
		}
		if call, isCall := syntax.Origin(in, e).(*ast.CallExpr); isCall {
			found = strings.HasPrefix(p.CalleeName(call), "time.") || strings.HasPrefix(p.CalleeName(call), "(time.Time)")
		}
		_, name := e.(*ast.Ident)
		_, sel := e.(*ast.SelectorExpr)
		found = found || (name || sel) && isTime(e)
		return !found
	})
	return found
}

// readsKey reports whether a function looks up a key that it gets as a parameter.
func readsKey(p *gocode.Place, fn *ast.FuncDecl, of *owner) (found bool) {
	in := p.Entry(fn)
	param := func(e ast.Expr) bool {
		v := syntax.LocalVar(p, syntax.Origin(in, e))
		return v != nil && syntax.Param(in, v)
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			found = found || of.is(p, n.X) && param(n.Index)
		case *ast.CallExpr:
			to := syntax.Receiver(n)
			found = found || to != nil && of.is(p, to) && len(n.Args) > 0 && param(n.Args[0]) && funcname.Match(p.CalleeName(n), "(*sync.Map).Load*")
		}
		return !found
	})
	return found
}

// counted reports whether a condition compares the number of entries of a container.
func counted(p *gocode.Place, of *owner, cond ast.Expr) (found bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && p.CalleeName(call) == "len" && of.is(p, call.Args[0])
		return !found
	})
	return found
}

// looped reports whether a position is in a loop of a function.
func looped(p *gocode.Place, fn *ast.FuncDecl, pos token.Pos) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			found = found || syntax.Inside(n, pos)
		}
		return !found
	})
	return found
}

// swept reports whether a goroutine removes entries from time to time, as far as the source shows:
// one of some removals is called, at most a few levels below, from a loop that waits for a ticker,
// a timer or a sleep, in which a goroutine waits at the end of the recording. It may just not have
// run while executions were counted.
func swept(pass *rule.Pass, p *gocode.Place, out []ast.Node) bool {
	const levels = 3
	own := positions(out)
	var reach []*ast.FuncDecl
	for _, n := range out {
		reach = append(reach, around(p, n.Pos()))
	}
	for range levels {
		for _, f := range p.Files() {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil || slices.Contains(reach, fn) && !slices.ContainsFunc(own, func(pos token.Pos) bool { return syntax.Inside(fn, pos) }) {
					continue
				}
				at := steps(p, fn, reach, own)
				if at == token.NoPos {
					continue
				}
				if periodic(p, fn, at) && (pass.Parked == nil || waitsIn(pass, fn)) {
					return true
				}
				if !slices.Contains(reach, fn) {
					reach = append(reach, fn)
				}
			}
		}
	}
	return false
}

// periodic reports whether a position is in a loop that waits for the time.
func periodic(p *gocode.Place, fn *ast.FuncDecl, pos token.Pos) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			found = found || syntax.Inside(n, pos) && syntax.Times(p, n.X)
		case *ast.ForStmt:
			found = found || syntax.Inside(n, pos) && waitsForTime(p, n)
		case *ast.CallExpr: // a function that a timer runs
			found = found || p.CalleeName(n) == "time.AfterFunc" && syntax.Inside(n, pos)
		}
		return !found
	})
	return found
}

// waitsForTime reports whether a loop receives from a ticker or a timer, or sleeps.
func waitsForTime(p *gocode.Place, loop *ast.ForStmt) (found bool) {
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW && syntax.Times(p, n.X)
		case *ast.CallExpr:
			found = found || p.CalleeName(n) == "time.Sleep"
		}
		return !found
	})
	return found
}

// waitsIn reports whether a goroutine waits in a function at the end of the recording.
func waitsIn(pass *rule.Pass, fn *ast.FuncDecl) bool {
	for i := range pass.Parked {
		place, ok := pass.Syntax.At(pass.Parked[i].File, int(pass.Parked[i].Line))
		if ok && place.Decl == fn {
			return true
		}
	}
	return false
}
