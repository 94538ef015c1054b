// Package heavyctorpercall finds writers, readers and coders with large state that are created for
// one use although they can be reset.
package heavyctorpercall

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
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

A writer of gzip and zlib allocates its tables in its first write: the rule adds
that cost to the line of the constructor, if the writer is used once, although
other code of the package may reset its writers.

Other libraries do the same: the first use of each new object allocates its
tables, as EncodeAll of a zstd.Encoder does.

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
TecharoHQ/anubis#1694 (a pool for each request), elastic/elastic-transport-go#19.`

// caller returns the frame that called a heavy constructor, the nearest to the root in a row, so
// that a constructor that calls another counts as one.
func caller(r *site.Row) int {
	if i := madeLate(r); i >= 0 {
		return i
	}
	for i := max(r.Owner, 1); i < len(r.Stack) && i <= r.Owner+4; i++ {
		callee := r.Stack[i-1].Function
		switch {
		case i == r.Owner && (funcname.Match(callee, constructors...) || wraps(r, i)):
			return i
		case foreign(r.Stack[i], r.Stack[i-1]) && strings.HasPrefix(shortName(callee), "New"):
			return i
		}
	}
	return firstUse(r)
}

// wraps reports whether the line at i calls a wrapper that creates a buffer.
func wraps(r *site.Row, i int) bool {
	return i > 1 && funcname.Match(r.Stack[i-1].Function, wrappers...) && funcname.Match(r.Stack[i-2].Function, "bufio.New*")
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
	if usedFirst(c) {
		return true
	}
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
		m.Cause = fmt.Sprintf("%s creates a new %s with %s on every call, and uses it once.", syntax.FuncName(p), result(p, call), symbol.Short(name))
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
	name, buffer := symbol.Short(c.Place.CalleeName(call)), "bufio.Writer"
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
			if funcname.Typed(f.Function) == gocode.FullName(fn) {
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
