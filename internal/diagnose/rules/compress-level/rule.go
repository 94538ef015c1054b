// Package compresslevel finds compressors that are set to the highest level.
package compresslevel

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is compress-level.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "compress-level",
		Kind:  rule.CPU,
		Title: "Compression at the highest level",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Level 6 instead of 9: 33 % less (weaveworks/scope#2437), 78 % less for program
				// files (google/go-containerregistry#153). Text with few repetitions gains little.
				Fraction: rule.Fraction{Expect: 0.4, Low: 0.1, High: 0.8},
			},
			Start: finder.Calls{
				Functions: calls(),
				Types:     typed(),
				Keep:      deflates,
			},
			Judge: judge,
		},
	}
}

const doc = `At every byte, BestCompression searches up to 4096 earlier positions for the
longest match; the default level searches 128. The result is one or two percent
smaller, and takes two to four times as long on repetitive data. Levels 10 and 11
of brotli take ten to fifty times as long as level 5.

Use gzip.DefaultCompression (6), or BestSpeed (1) where the network is fast.

It is fine for data that is compressed once and sent many times, like files of a
web site. It is a trade-off: the rule reports the cost of the level; measure how
much smaller the result is.

Seen in the field: google/go-containerregistry#153 (246 s became 54 s, with
almost the same sizes), weaveworks/scope#2437.`

// packages are those with the same compressors and levels as the standard library's.
func packages() []string { return []string{"compress/", "github.com/klauspost/compress/"} }

const brotli = "github.com/andybalholm/brotli."

// calls are the functions that the rule looks for.
func calls() []string {
	var callees []string
	for _, method := range []string{"Write", "Flush", "Close"} {
		for _, in := range packages() {
			for _, format := range []string{"gzip", "flate", "zlib"} {
				callees = append(callees, in+format+".(*Writer)."+method)
			}
		}
		callees = append(callees, brotli+"(*Writer)."+method)
	}
	callees = append(callees, "io.Copy", "io.WriteString", "fmt.Fprint*")
	return callees
}

// typed are the same functions as the source names them: a writer may be an interface there.
func typed() []string {
	return append(funcname.TypedAll(calls()), "(io.Writer).Write", "(io.WriteCloser).Write", "(io.WriteCloser).Close", "(io.Closer).Close")
}

func deflates(r *site.Row) bool {
	for _, in := range packages() {
		if r.Below(in + "flate.(*compressor).*") {
			return true
		}
	}
	return r.Below(brotli + "(*Writer).*")
}

func judge(c *finder.Case) bool {
	var made *ast.CallExpr
	where := ""
	ok := c.All(func(call *ast.CallExpr) bool {
		made = best(c.Place, target(c.Place, call))
		return made != nil
	})
	if ok {
		where = fmt.Sprintf("line %d", syntax.Line(c.Place, made.Pos()))
	} else if made, where = everywhere(c.Pass); made == nil || c.Site.Owner.Kind != gocode.Main {
		return false
	}
	c.Confidence = rule.Likely // the profile does not show whether the smaller size is worth it
	c.Cause = fmt.Sprintf("The writer is created with the highest level (%s, %s), which searches far longer for a percent or two.", syntax.Text(made), where)
	c.Fix = "Measure the size at the default level (6) or at BestSpeed (1), and use the lowest level whose size will do."
	if strings.Contains(syntax.Text(made), "brotli") {
		c.Fix = "Use level 4 to 6 for answers that are compressed for each request; compress files with level 11 once, when they are built."
	}
	return true
}

// target returns the compressor that a call writes to.
func target(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if funcname.Match(p.CalleeName(call), "io.*", "fmt.*") {
		return call.Args[0]
	}
	return syntax.Receiver(call)
}

// everywhere returns a call that creates a compressor with the constant level 9, and its place, if
// the program creates no compressor in another way: then the writer here, from a pool or a
// function, is one of those.
func everywhere(p *rule.Pass) (made *ast.CallExpr, where string) {
	if p.Syntax == nil {
		return nil, ""
	}
	for _, place := range p.Syntax.Calls(func(fn *types.Func) bool { return funcname.Match(fn.FullName(), constructors()...) }) {
		for _, call := range syntax.CallsOf(place, constructors()...) {
			if !isBest(p.Syntax, place, call) {
				return nil, ""
			}
			made, where = call, syntax.Where(place, call.Pos())
		}
	}
	return made, where
}

// constructors are the functions that create compressors.
func constructors() []string {
	all := []string{brotli + "NewWriter*"}
	for _, in := range packages() {
		all = append(all, in+"gzip.NewWriter*", in+"zlib.NewWriter*", in+"flate.NewWriter*")
	}
	return all
}

// leastBrotli is the lowest of the levels of brotli that search for the shortest form: they take
// ten times as long as level 9, and more.
const leastBrotli = 10

// best returns the call that creates a compressor with the constant level 9.
func best(p *gocode.Place, w ast.Expr) *ast.CallExpr {
	if w == nil {
		return nil
	}
	made, ok := syntax.Origin(p, w).(*ast.CallExpr)
	if !ok || !isBest(nil, p, made) {
		return nil
	}
	return made
}

// isBest reports whether a call creates a compressor with the constant level 9, which it may get
// from a field or a parameter.
func isBest(all *gocode.Syntax, p *gocode.Place, made *ast.CallExpr) bool {
	name := p.CalleeName(made)
	if len(made.Args) < 2 || !funcname.Match(name, constructors()...) || strings.HasSuffix(name, "ip.NewWriter") || strings.HasSuffix(name, "zlib.NewWriter") {
		return false
	}
	highest := int64(9)
	if strings.HasPrefix(name, brotli) {
		highest = leastBrotli
	}
	levels := flow.Constants(all, p, made.Args[1])
	for _, level := range levels {
		if n, ok := constant.Int64Val(level); !ok || n < highest {
			return false
		}
	}
	return len(levels) > 0
}
