package rescangrowing

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastRuns is how often a line must run for each unit of work to be the body of a caller's
	// loop.
	leastRuns = 100
	// leastEach is the minimum time of one pass, in seconds, to be one over more than a few hundred
	// bytes: bytes.Count takes 40 ns for one to two kilobytes.
	leastEach = 40e-9
)

// passing are functions that go through all of a text, as profiles name them.
var passing = []string{
	"strings.Count", "bytes.Count", "unicode/utf8.RuneCount*", "unicode/utf8.Valid*", "strings.Split*", "bytes.Split*", "strings.Fields*", "bytes.Fields*",
	"strings.Contains*", "bytes.Contains*", "strings.To*", "bytes.To*", "hash/crc32.*", "hash/adler32.*", "crypto/sha256.Sum*", "crypto/sha1.Sum", "crypto/md5.Sum",
}

// prefix judges a line that goes through a text from its start to a position that moves on.
func prefix(c *finder.Case) bool {
	p := c.Place
	for _, call := range syntax.Calls(p) {
		text, end := headOf(p, call)
		if text == nil {
			continue
		}
		where, ok := moves(c, call, text, end)
		if !ok {
			continue
		}
		name := p.CalleeName(call)
		_, conversion := p.Conversion(call)
		of := passing
		if conversion {
			of = append(syntax.ConversionFuncs(), "runtime.slicerunetostring", "runtime.slicebytetostring")
		}
		c.Keep(func(r *site.Row) bool { return stacks.Calls(r, of...) })
		if len(c.CPU) == 0 {
			return false
		}
		c.Callees = of
		what := symbol.Short(name)
		if conversion {
			what = "a conversion"
		}
		c.Cause = fmt.Sprintf("%s goes through %s from its start to %s (%s), %s: the time grows with the square of the length.",
			syntax.Text(call), syntax.Text(text), syntax.Text(end), what, where)
		c.Fix = fmt.Sprintf("Continue where the last pass ended: keep its result with its position, and add the result for %s[last:%s]. For positions in any order, build an index once (where lines start) and search it with slices.BinarySearch.",
			syntax.Text(text), syntax.Text(end))
		c.Confidence = rule.Likely
		return true
	}
	return false
}

// headOf returns the text and the position if a call goes through text[:position].
func headOf(p *gocode.Place, call *ast.CallExpr) (text, end ast.Expr) {
	if len(call.Args) == 0 {
		return nil, nil
	}
	_, conversion := p.Conversion(call)
	if !conversion && !funcname.Match(p.CalleeName(call), passing...) {
		return nil, nil
	}
	s, ok := syntax.Origin(p, call.Args[0]).(*ast.SliceExpr)
	if !ok || s.High == nil {
		return nil, nil
	}
	if s.Low != nil {
		if from, ok := syntax.ConstInt(p, s.Low); !ok || from != 0 {
			return nil, nil
		}
	}
	if _, constant := p.Const(s.High); constant || conversion && !textual(p.TypeOf(s.X)) {
		return nil, nil
	}
	return s.X, s.High
}

// moves reports whether the position moves through one text, and where: in a loop around the call,
// or in one of a caller, for a text and a position that are fields of one value or parameters.
func moves(c *finder.Case, call *ast.CallExpr, text, end ast.Expr) (string, bool) {
	p := c.Place
	for _, loop := range loops.Around(p, call) {
		if !loops.FromOutside(p, loop, text) {
			return "", false
		}
		if loops.Invariant(p, loop, end) {
			continue
		}
		l, counted := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, syntax.Line(p, loop.Pos()))
		if counted && l.Iterations < least {
			return "", false
		}
		if v, _ := syntax.Var(p, text); v == nil || syntax.Changes(p, loop, v) && changesText(p, loop, text) {
			return "", false
		}
		if !syntax.IsString(p, text) && !counts(p, loop, end) || short(c) {
			return "", false // another chunk in the same buffer
		}
		return fmt.Sprintf("in every iteration of the loop on line %d", syntax.Line(p, loop.Pos())), true
	}
	if !kept(p, text) || !kept(p, end) || !syntax.IsString(p, text) && filled(p, text) {
		return "", false
	}
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || e.PerUnit < leastRuns {
		return "", false
	}
	seconds, _ := stacks.Sum(c.CPU)
	each, ok := evidence.PerExecution(c.Pass, c.Site.Frame, float64(seconds)/1e9)
	if !ok || each < leastEach {
		return "", false
	}
	return fmt.Sprintf("%s per %s, %s each", evidence.Times(e.PerUnit), c.Pass.Manifest.Unit(), units.Seconds(each)), true
}

// short reports whether one pass takes so little time that the text must be short, if executions
// were counted.
func short(c *finder.Case) bool {
	seconds, _ := stacks.Sum(c.CPU)
	each, ok := evidence.PerExecution(c.Pass, c.Site.Frame, float64(seconds)/1e9)
	return ok && each < leastEach
}

// counts reports whether a position is the variable that a loop itself counts up.
func counts(p *gocode.Place, loop ast.Node, end ast.Expr) bool {
	v := syntax.LocalVar(p, end)
	if v == nil {
		return false
	}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		return l.Key != nil && syntax.LocalVar(p, l.Key) == v
	case *ast.ForStmt:
		return l.Init != nil && syntax.Inside(l.Init, v.Pos())
	}
	return false
}

// filled reports whether the package reads or copies something into a slice, so that it has other
// content later.
func filled(p *gocode.Place, text ast.Expr) bool {
	obj := syntax.Named(p, text)
	found := false
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || found || len(call.Args) == 0 {
				return !found
			}
			method := p.CalleeName(call)
			method = method[strings.LastIndexByte(method, '.')+1:]
			if method != "copy" && method != "append" && !strings.HasPrefix(method, "Read") {
				return true
			}
			for _, arg := range call.Args {
				for {
					s, ok := ast.Unparen(arg).(*ast.SliceExpr)
					if !ok {
						break
					}
					arg = s.X
				}
				found = found || obj != nil && syntax.Named(p, arg) == obj
			}
			return !found
		})
	}
	return found
}

// changesText reports whether a loop assigns to the text itself, not to another field of its value.
func changesText(p *gocode.Place, loop ast.Node, text ast.Expr) bool {
	changed := false
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				changed = changed || syntax.Same(p, lhs, text)
			}
		}
		return !changed
	})
	return changed
}

// kept reports whether an expression is a field, or a parameter of the function.
func kept(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		_, field := p.Object(e.Sel).(*types.Var)
		return field
	case *ast.Ident:
		v, ok := p.Object(e).(*types.Var)
		return ok && syntax.Param(p, v)
	case *ast.BinaryExpr:
		_, constant := p.Const(e.Y)
		return constant && kept(p, e.X)
	}
	return false
}
