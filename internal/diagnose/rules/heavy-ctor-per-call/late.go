package heavyctorpercall

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// A writer of gzip and zlib creates its compressor in its first Write, and keeps it after Reset.
var lazily = []string{"compress/flate.NewWriter*", "github.com/klauspost/compress/flate.NewWriter*"}

// lazy are the packages of writers that create their compressor in the first Write.
var lazy = []string{"compress/gzip", "compress/zlib", "github.com/klauspost/compress/gzip", "github.com/klauspost/compress/zlib"}

// mostOffered is the maximum number of names that a fix mentions.
const mostOffered = 4

// leastMade is the minimum number of compressors in a recording: long streams create few.
const leastMade = 30

// tables returns the number of objects of compressors that are so large that the profile counts
// nearly all of them; each compressor has at least one.
func tables(rows []*site.Row) (objects int64) {
	const counted = 256 << 10
	for _, r := range rows {
		if r.Count > 0 && r.Value/r.Count >= counted {
			objects += r.Count
		}
	}
	return objects
}

// madeLate returns the line in a row that writes to a gzip or zlib writer, which creates its
// compressor in this call, possibly through the standard library, such as io.Copy; -1 for none.
func madeLate(r *site.Row) int {
	for j := range len(r.Stack) - 1 {
		if !funcname.Match(r.Stack[j].Function, lazily...) {
			continue
		}
		of := r.Stack[j+1]
		if !slices.ContainsFunc(lazy, func(pkg string) bool { return funcname.Match(of.Function, pkg+".(*Writer).*") }) {
			return -1
		}
		for i := j + 2; i < len(r.Stack); i++ {
			switch line := r.Stack[i].Owner; line.Kind {
			case gocode.Main, gocode.Dependency:
				if line.Module != of.Owner.Module || of.Owner.Kind == gocode.Std {
					return i
				}
			}
		}
		return -1
	}
	return -1
}

// usedOnce returns the call that creates the writer of a package to which a line writes, if the
// function keeps it in a local variable alone and never resets it; nil for none.
func usedOnce(p *gocode.Place, pkg string) (made *ast.CallExpr) {
	if p.Decl == nil {
		return nil
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || made != nil || !creates(p.CalleeName(call), pkg) || !loops.PerCall(p, call) || reused(p, call) {
			return made == nil
		}
		if v := created(p, call); v != nil && stays(p, v) && written(p, v) {
			made = call
		}
		return true
	})
	return made
}

func creates(name, pkg string) bool {
	return funcname.Match(name, pkg+".NewWriter", pkg+".NewWriterLevel", pkg+".NewWriterLevelDict")
}

// created returns the local variable that a constructor's first result is assigned to, and nothing
// else; nil for none.
func created(p *gocode.Place, call *ast.CallExpr) *types.Var {
	to := syntax.AssignedTo(p, call)
	if v := syntax.LocalVar(p, to); v != nil && syntax.Origin(p, to) == ast.Expr(call) {
		return v
	}
	return nil
}

// stays reports whether a function does not hand the value of a variable on, to where it may be
// used again: it calls methods of it and passes it to functions.
func stays(p *gocode.Place, v *types.Var) bool {
	for _, use := range syntax.Reads(p, v) {
		switch n := syntax.Parent(p.Outer(), use).(type) {
		case *ast.SelectorExpr, *ast.BinaryExpr:
		case *ast.CallExpr:
			if funcname.Match(p.CalleeName(n), "(*sync.Pool).Put", "append") {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// written reports whether a line uses a variable, or a local one that was created from it, such as
// an encoder that writes to it.
func written(p *gocode.Place, v *types.Var) bool {
	for _, call := range syntax.Calls(p) {
		if mentions(p, call, v, 2) {
			return true
		}
	}
	return false
}

func mentions(p *gocode.Place, in ast.Expr, v *types.Var, steps int) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || found {
			return !found
		}
		switch of := syntax.LocalVar(p, id); {
		case of == v:
			found = true
		case of != nil && steps > 0:
			if from := syntax.Origin(p, id); from != ast.Expr(id) {
				found = mentions(p, from, v, steps-1)
			}
		}
		return !found
	})
	return found
}

// late judges a Write that creates the compressor of a writer which a constructor of the package
// created just before. A package that resets such writers is assumed to reuse them, unless it
// creates the pool itself again and again.
func late(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, r := range slices.Concat(m.Allocs, m.CPU) {
		if madeLate(r) < 0 {
			return false
		}
	}
	for _, pkg := range lazy {
		once := usedOnce(p, pkg)
		if once == nil {
			once = heldOnce(p, pkg)
		}
		if once != nil && tables(m.Allocs) >= leastMade {
			describeLate(c, pkg, once)
			return true
		}
		made, reset := uses(p, pkg)
		if made == "" || reset && !newPools(c) {
			continue
		}
		if !reset {
			m.Cause = fmt.Sprintf("The first write to each new %s writer creates its compressor here; the package creates a writer with %s for each use and never resets one.", symbol.Short(pkg), symbol.Short(made))
			m.Fix = "Keep the writers in a sync.Pool: Get, Reset to the new destination, and Put back after Close."
		}
		f := saves(lazily[0], garbage(c.Pass, m))
		m.Fraction = &f
		return true
	}
	return false
}

// describeLate fills in the words for a writer that a call creates for one use; the line of the
// call becomes that of the finding.
func describeLate(c *finder.Case, pkg string, made *ast.CallExpr) {
	name, first := symbol.Short(c.Place.CalleeName(made)), fmt.Sprintf("%s:%d", path.Base(c.Site.File), c.Site.Line)
	f, by := c.Site.Frame, c.Place
	f.File, f.Line = path.Join(path.Dir(f.File), path.Base(filepath.ToSlash(by.Fset.Position(made.Pos()).Filename))), syntax.Line(by, made.Pos())
	if at, ok := c.Pass.Syntax.At(f.File, f.Line); ok && at.Func != by.Func {
		by, f.Function = at, syntax.ProfileName(at)
	}
	c.Site = c.Pass.Site(&f)
	c.Cause = fmt.Sprintf("%s creates a new %s writer with %s on every call, and uses it once. The first write to it allocates its tables, at %s.", syntax.FuncName(by), path.Base(pkg), name, first)
	c.Fix = "Keep the writers in a sync.Pool: Get, Reset to the new destination, and Put back after Close."
	functions := func(name string) bool { return !strings.Contains(name, ".") } // which create other pools
	names := slices.DeleteFunc(syntax.Offered(c.Place, "Pool", "Reuse"), functions)
	if c.Site.Owner.Kind == gocode.Dependency && len(names) > 0 && len(names) <= mostOffered {
		c.Fix += fmt.Sprintf(" Package %s has %s: see whether that reuses writers.", c.Place.Pkg.Name(), funcname.List(names))
	}
	saved := saves(lazily[0], garbage(c.Pass, c.Match))
	c.Fraction = &saved
}

// newPools reports whether a function of the package that runs often creates a sync.Pool. It then
// fills in the words, and the line of the pool becomes that of the finding.
func newPools(c *finder.Case) bool {
	p := c.Place
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			in := p.Entry(decl)
			lit := localPool(in)
			if lit == nil {
				continue
			}
			f := c.Site.Frame
			f.File, f.Line = path.Join(path.Dir(f.File), path.Base(filepath.ToSlash(p.Fset.Position(lit.Pos()).Filename))), syntax.Line(in, lit.Pos())
			f.Function = syntax.ProfileName(in)
			e, ok := evidence.Executions(c.Pass, f)
			if !ok || !evidence.Hot(c.Pass, e) {
				continue
			}
			wrote := fmt.Sprintf("%s:%d", path.Base(c.Site.File), c.Site.Line)
			c.Site = c.Pass.Site(&f)
			c.Cause = fmt.Sprintf("%s creates a sync.Pool each time it runs, %s per %s: such a pool is empty, so each value is a new one and is used once. Its state is created at %s.",
				syntax.FuncName(in), evidence.Times(e.PerUnit), c.Pass.Manifest.Unit(), wrote)
			c.Fix = "Create the pool once, in a package variable or in a field of what lives as long as the program; one for each setting, such as a level, if values differ by it."
			return true
		}
	}
	return false
}

// localPool returns the sync.Pool that a function creates in a local variable; nil for none.
func localPool(p *gocode.Place) *ast.CompositeLit {
	var pool *ast.CompositeLit
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || p.TypeOf(lit) == nil || types.TypeString(p.TypeOf(lit), nil) != "sync.Pool" {
			return pool == nil
		}
		var e ast.Expr = lit
		if u, ok := syntax.Parent(p, lit).(*ast.UnaryExpr); ok {
			e = u
		}
		if syntax.LocalVar(p, syntax.AssignedTo(p, e)) != nil {
			pool = lit
		}
		return false
	})
	return pool
}

// uses reports whether the package of a place creates writers of the compression package, and
// whether it resets any to a new destination, possibly through an interface.
func uses(p *gocode.Place, pkg string) (made string, reset bool) {
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok {
				return true
			}
			fn, ok := p.Info.Uses[sel.Sel].(*types.Func)
			if !ok {
				return true
			}
			if creates(fn.FullName(), pkg) {
				if name := fn.FullName(); made == "" || name < made {
					made = name
				}
			} else {
				reset = reset || fn.Name() == "Reset" && resetsWriter(fn) && !discards(call)
			}
			return true
		})
	}
	return made, reset
}

// discards reports whether a Reset drops what is written afterwards: it does not prepare a writer
// for its next use.
func discards(call *ast.CallExpr) bool {
	if len(call.Args) != 1 {
		return false
	}
	sel, ok := ast.Unparen(call.Args[0]).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Discard"
}

// resetsWriter reports whether a method has a parameter for the new io.Writer to write to.
func resetsWriter(fn *types.Func) bool {
	params := fn.Signature().Params()
	return params.Len() == 1 && params.At(0).Type().String() == "io.Writer"
}
