package loops

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Waits reports whether a loop may wait for something outside between two iterations: it receives
// from a channel, selects, sleeps, or reads from something other than memory. Output may have to be
// flushed before such a wait. It examines the names of called functions, not their bodies.
func Waits(p *gocode.Place, loop ast.Node) bool { return waits(p, loop, waiting) }

// WaitsForMore is [Waits] for anything but input that the loop itself reads.
func WaitsForMore(p *gocode.Place, loop ast.Node) bool {
	return waits(p, loop, func(p *gocode.Place, call *ast.CallExpr) bool { return waiting(p, call) && !reading(p, call) })
}

func waits(p *gocode.Place, loop ast.Node, calls func(*gocode.Place, *ast.CallExpr) bool) bool {
	if r, ok := loop.(*ast.RangeStmt); ok {
		switch p.TypeOf(r.X).Underlying().(type) {
		case *types.Chan:
			return true
		case *types.Signature: // an iterator: only its name is known
			call, ok := ast.Unparen(r.X).(*ast.CallExpr)
			if !ok || !inMemory(p.CalleeName(call)) {
				return true
			}
		}
	}
	waits := false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectStmt:
			waits = true
		case *ast.UnaryExpr:
			waits = waits || n.Op == token.ARROW
		case *ast.CallExpr:
			waits = waits || calls(p, n)
		}
		return !waits
	})
	return waits
}

// WaitsBetween reports whether a function waits between two nodes of it.
func WaitsBetween(p *gocode.Place, a, b ast.Node) bool {
	from, to := a.End(), b.Pos()
	if from > to {
		from, to = b.End(), a.Pos()
	}
	waits := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if n == nil || waits || n.End() < from || n.Pos() > to {
			return false
		}
		if from <= n.Pos() && n.End() <= to {
			waits = Waits(p, n)
			return false // which examined all of it
		}
		return true
	})
	return waits
}

// inMemory reports whether an iterator goes over values in memory: those of the standard library
// do.
func inMemory(name string) bool {
	return funcname.Match(name, "strings.*", "bytes.*", "slices.*", "maps.*")
}

// waiting reports whether a call waits for time or for input, by its name.
func waiting(p *gocode.Place, call *ast.CallExpr) bool {
	name := p.CalleeName(call)
	if funcname.Match(name, "time.Sleep", "io.Copy*", "io.Read*", "fmt.Scan*", "fmt.Fscan*", "(*sync.WaitGroup).Wait", "(*sync.Cond).Wait",
		"(*bufio.Reader).Discard", "(*bufio.Reader).Peek") {
		return true
	}
	if strings.HasPrefix(name, "(*strings.Reader)") || strings.HasPrefix(name, "(*bytes.") {
		return false
	}
	method := name[strings.LastIndexByte(name, '.')+1:]
	return strings.Contains(name, ").") && (strings.HasPrefix(method, "Read") || strings.HasPrefix(method, "Scan") ||
		strings.HasPrefix(method, "Recv") || method == "Accept" || method == "Next" || method == "Do" || method == "RoundTrip" || method == "Decode" || method == "Wait")
}

// reading reports whether a call that waits reads input, by its name.
func reading(p *gocode.Place, call *ast.CallExpr) bool {
	name := p.CalleeName(call)
	if funcname.Match(name, "io.Read*", "fmt.Scan*", "fmt.Fscan*") {
		return true
	}
	method := name[strings.LastIndexByte(name, '.')+1:]
	return strings.HasPrefix(method, "Read") || strings.HasPrefix(method, "Scan") || method == "Decode" || method == "Next"
}

// Repeating returns the innermost loop around n that may execute it more than twice; nil when there
// is none.
func Repeating(p *gocode.Place, n ast.Node) ast.Node {
	for _, loop := range Around(p, n) {
		if !AtMost(p, loop, n, 2) {
			return loop
		}
	}
	return nil
}

// FromOutside reports whether an expression mentions nothing that a loop declares: it denotes the
// same variable in every iteration.
func FromOutside(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	outside := true
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := p.Object(id).(*types.Var); ok && !v.IsField() && syntax.Inside(loop, v.Pos()) {
				outside = false
			}
		}
		return outside
	})
	return outside
}
