// Package heavyctorpercall finds writers, readers and coders with large state that are created for
// one use although they can be reset.
package heavyctorpercall

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"path/filepath"
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
)

// constructors of the standard library whose values are large and have a Reset method.
var constructors = []string{
	"compress/flate.NewWriter", "compress/flate.NewWriterDict", "compress/flate.NewReader", "compress/flate.NewReaderDict",
	"compress/gzip.NewWriter", "compress/gzip.NewWriterLevel", "compress/gzip.NewReader",
	"compress/zlib.NewWriter*", "compress/zlib.NewReader*", "compress/lzw.NewWriter", "compress/lzw.NewReader",
	"bufio.NewReader", "bufio.NewReaderSize", "bufio.NewWriter", "bufio.NewWriterSize",
}

// wrappers of the standard library put a buffer of 4 KB around their source or destination, unless
// they get a bufio.Reader or bufio.Writer. They have no Reset, but the buffer has.
var wrappers = []string{
	"encoding/csv.NewReader", "encoding/csv.NewWriter", "encoding/xml.NewDecoder", "encoding/xml.NewEncoder", "encoding/gob.NewDecoder",
}

// A writer of gzip and zlib creates its compressor in its first Write, and keeps it after Reset.
const lazily = "compress/flate.NewWriter*"

// lazy are the types that create their compressor in the first Write.
var lazy = []string{"compress/gzip", "compress/zlib"}

// large is the minimum mean size, in bytes, of the objects of a heavy constructor.
const large = 512

// Rule is heavy-ctor-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "heavy-ctor-per-call",
		Kind:  rule.Alloc,
		Title: "Writer or reader with large state created for one use",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes: true,
				// For constructors outside of the standard library; see saves for the others.
				Fraction:    rule.Fraction{Expect: 0.93, Low: 0.8, High: 1},
				Specificity: 1,
			},
			Start: finder.Frames(caller),
			Judge: guilty,
			Unseen: finder.Words{
				Cause: "A value with large state is created on every call. The source is not available.",
				Fix:   "If it is used once and dropped, keep such values in a sync.Pool and Reset them.",
			}.Fill,
		},
	}
}

// saves returns the part of the cost of a constructor of the standard library that reuse saves.
// BenchmarkReuse measures it (Go 1.26): Reset of a compressor of the middle levels clears its
// tables, which takes 18 µs instead of 135 for a new one; compressors of level 1, readers and
// buffers take 1 to 2 % of the construction. A pool also loses values: for 300 responses, 169,274
// kB became 3,568 kB, 2 %, when chi began to pool (v3.3.4 to v4.1.2). Clearing tables makes no
// garbage, so of the collector's work, a part of the cost, as much goes as for other values.
func saves(name string, garbage float64) rule.Fraction {
	reused := rule.Fraction{Expect: 0.96, Low: 0.92, High: 1}
	if !funcname.Match(name, "compress/flate.NewWriter*", "compress/gzip.NewWriter*", "compress/zlib.NewWriter*") {
		return reused
	}
	mix := func(cleared, reused float64) float64 { return cleared*(1-garbage) + reused*garbage }
	return rule.Fraction{Expect: mix(0.87, reused.Expect), Low: mix(0.82, reused.Low), High: mix(0.94, reused.High)}
}

// garbage returns the collector's part of the cost of a match.
func garbage(p *rule.Pass, m *rule.Match) float64 {
	cost, _ := p.Table.Price(m.CPU, m.Allocs)
	if all := cost.CPUSeconds + cost.GCSeconds; all > 0 {
		return cost.GCSeconds / all
	}
	return 0
}

const doc = `A compressor keeps hash tables and windows: flate.NewWriter allocates and clears
more than half a megabyte (1.2 MB at the lowest levels), a reader about 40 KB, a
bufio.Reader or Writer 4 KB. If a service creates one for each request or
message and drops it, this is most of the memory that it allocates, and causes
most collections.

These types have a Reset method for this purpose: take one from a sync.Pool,
Reset it to the new destination, put it back after Close. The rule also knows
constructors of unknown libraries by their form: New…, large objects, and a
result that has a Reset.

A csv.Reader or csv.Writer, an xml.Encoder, and decoders of xml and gob create
such a buffer, too, unless they get one: put the buffers in a pool.

A sync.Pool that is a local variable of a function or middleware which runs for
each request is a new one each time, and has nothing to give.

It is fine for a long-lived stream, where the constructor's cost is negligible.
If the line belongs to a dependency, a newer version may have fixed it.

Seen in the field: go-chi/chi#306, flipt-io/flipt#170, labstack/echo#1672,
TecharoHQ/anubis#1694 (a pool for each request).`

// caller returns the frame that called a heavy constructor, the nearest to the root in a row, so
// that a constructor that calls another counts as one.
func caller(r *site.Row) int {
	for i := max(r.Owner, 1); i < len(r.Stack) && i <= r.Owner+4; i++ {
		callee := r.Stack[i-1].Function
		switch {
		case i == r.Owner && (funcname.Match(callee, constructors...) || madeLate(r, i) || wraps(r, i)):
			return i
		case foreign(r.Stack[i], r.Stack[i-1]) && strings.HasPrefix(shortName(callee), "New"):
			return i
		}
	}
	return -1
}

// wraps reports whether the line at i calls a wrapper that creates a buffer.
func wraps(r *site.Row, i int) bool {
	return i > 1 && funcname.Match(r.Stack[i-1].Function, wrappers...) && funcname.Match(r.Stack[i-2].Function, "bufio.New*")
}

// madeLate reports whether the line at i writes to a gzip or zlib writer that creates its
// compressor in this call.
func madeLate(r *site.Row, i int) bool {
	for j := i - 1; j > 0; j-- {
		if funcname.Match(r.Stack[j-1].Function, lazily) {
			return funcname.Match(r.Stack[j].Function, "compress/gzip.(*Writer).*", "compress/zlib.(*Writer).*")
		}
	}
	return false
}

// foreign reports whether a line calls into another module.
func foreign(line, callee *site.Frame) bool {
	return callee.Owner.Kind == gocode.Dependency && callee.Owner.Module != line.Owner.Module &&
		(line.Owner.Kind == gocode.Main || line.Owner.Kind == gocode.Dependency)
}

// shortName returns a function's name without package and receiver.
func shortName(function string) string {
	return function[strings.LastIndexByte(function, '.')+1:]
}

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	if bytes, objects := stacks.Sum(m.Allocs); objects > 0 && bytes/objects < large {
		return false
	}
	for _, call := range syntax.Calls(p) {
		name := p.CalleeName(call)
		if funcname.Match(name, wrappers...) && loops.PerCall(p, call) {
			describeWrapper(c, call)
			return true
		}
		known := funcname.Match(name, constructors...)
		if !known && !unknownHeavy(p, call, m) || !loops.PerCall(p, call) || reused(p, call) {
			continue
		}
		m.Cause = fmt.Sprintf("%s creates a new %s with %s on every call, and uses it once.", syntax.FuncName(p), result(p, call), funcname.Short(name))
		if known {
			f := saves(name, garbage(c.Pass, m))
			m.Fraction = &f
		}
		m.Fix = fmt.Sprintf("Keep them in a sync.Pool: Get, Reset to the new source or destination, and Put back when done%s.", closeFirst(name))
		return true
	}
	return late(c)
}

// describeWrapper fills in the words for a call of one of the wrappers.
func describeWrapper(c *finder.Case, call *ast.CallExpr) {
	name, buffer := funcname.Short(c.Place.CalleeName(call)), "bufio.Writer"
	if strings.Contains(name, "Reader") || strings.Contains(name, "Decoder") {
		buffer = "bufio.Reader"
	}
	c.Cause = fmt.Sprintf("%s calls %s, which creates a new %s with a buffer of 4 KB on every call and uses it once.", syntax.FuncName(c.Place), name, buffer)
	c.Fix = fmt.Sprintf("Keep values of type *%s in a sync.Pool: Get one, Reset it, pass it to %s, which uses it as its buffer, and Put it back when done.", buffer, name)
	f := saves("bufio.New", 0)
	c.Fraction, c.Callees = &f, []string{"bufio.New*"}
}

// unknownHeavy reports whether a call is of a constructor of another module that allocated the
// match's rows, which are large objects, and returns a value that can be reset.
func unknownHeavy(p *gocode.Place, call *ast.CallExpr, m *rule.Match) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil || fn.Pkg() == p.Pkg || !strings.HasPrefix(fn.Name(), "New") || !called(m, fn) {
		return false
	}
	return len(m.Allocs) > 0 && resets(p, fn, call)
}

// called reports whether the rows are of that function.
func called(m *rule.Match, fn *types.Func) bool {
	for _, r := range m.Allocs {
		for _, f := range r.Stack {
			if funcname.Typed(f.Function) == fn.FullName() {
				return true
			}
		}
	}
	return false
}

// resets reports whether the first result of a constructor has a method Reset that prepares it for
// other arguments. A Reset without parameters keeps the constructor's arguments, such as the key of
// a MAC, so it counts only if the arguments of the constructor never differ.
func resets(p *gocode.Place, fn *types.Func, call *ast.CallExpr) bool {
	results := fn.Signature().Results()
	if results.Len() == 0 {
		return false
	}
	reset, _, _ := types.LookupFieldOrMethod(results.At(0).Type(), true, fn.Pkg(), "Reset")
	method, ok := reset.(*types.Func)
	if !ok || method.Signature().Params().Len() > 0 {
		return ok
	}
	for _, arg := range call.Args {
		if !syntax.Fixed(p, syntax.Origin(p, arg)) {
			return false
		}
	}
	return true
}

// reused reports whether a loop around the use of the value resets it: it is then created for many
// uses.
func reused(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.LocalVar(p, syntax.AssignedTo(p, call))
	if v == nil {
		return false
	}
	for _, use := range syntax.Reads(p, v) {
		sel, ok := syntax.Parent(p, use).(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "Reset" {
			return true
		}
	}
	return false
}

func result(p *gocode.Place, call *ast.CallExpr) string {
	fn := p.Callee(call)
	t := fn.Signature().Results().At(0).Type()
	return strings.TrimPrefix(syntax.TypeText(p, t), "*")
}

func closeFirst(name string) string {
	if strings.Contains(name, "Writer") {
		return ", after Close or Flush"
	}
	return ""
}

// late judges a Write that creates the compressor of a writer which a constructor of the package
// created just before. A package that resets such writers is assumed to reuse them, unless it
// creates the pool itself again and again.
func late(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, r := range append(append([]*site.Row{}, m.Allocs...), m.CPU...) {
		if !madeLate(r, r.Owner) {
			return false
		}
	}
	for _, pkg := range lazy {
		made, reset := uses(p, pkg)
		if made == "" || reset && !newPools(c) {
			continue
		}
		if !reset {
			m.Cause = fmt.Sprintf("The first write to each new %s writer creates its compressor here; the package creates a writer with %s for each use and never resets one.", funcname.Short(pkg), funcname.Short(made))
			m.Fix = "Keep the writers in a sync.Pool: Get, Reset to the new destination, and Put back after Close."
		}
		f := saves(lazily, garbage(c.Pass, m))
		m.Fraction = &f
		return true
	}
	return false
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
			switch name := fn.FullName(); name {
			case pkg + ".NewWriter", pkg + ".NewWriterLevel", pkg + ".NewWriterLevelDict":
				if made == "" || name < made {
					made = name
				}
			default:
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
