// Package compresslevel finds compressors set to their most expensive level.
package compresslevel

import (
	"fmt"
	"go/ast"
	"go/constant"

	"github.com/hone-go/hone/internal/diagnose/finder"
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
				// Level 9 against 6: 33 % less (weaveworks/scope#2437), 78 % less for program files
				// (google/go-containerregistry#153); text of few repetitions gains little.
				Fraction: rule.Fraction{Expect: 0.4, Low: 0.1, High: 0.8},
			},
			Start: finder.Calls{
				Functions: calls(),
				Keep:      deflates,
			},
			Judge: judge,
		},
	}
}

const doc = `BestCompression searches up to 4096 earlier places for the longest match at
every byte, the default level 128. The result is smaller by a percent or two,
the time two to four times as long on data that repeats itself.

Use gzip.DefaultCompression (6), or BestSpeed (1) where the network is fast.

It is fine for what is compressed once and sent many times, like files of a web
site. It is a trade-off: the rule states the cost of the level; measure what it
saves in size.

Seen in the field: google/go-containerregistry#153 (246 s became 54 s, sizes
almost the same), weaveworks/scope#2437.`

// calls are the functions that the rule looks for.
func calls() []string {
	var callees []string
	for _, format := range []string{"gzip", "flate", "zlib"} {
		for _, method := range []string{"Write", "Flush", "Close"} {
			callees = append(callees, "compress/"+format+".(*Writer)."+method)
		}
	}
	callees = append(callees, "io.Copy", "io.WriteString", "fmt.Fprint*")
	return callees
}

func deflates(r *site.Row) bool { return r.Below("compress/flate.(*compressor).*") }

func judge(c *finder.Case) bool {
	var made *ast.CallExpr
	ok := c.All(func(call *ast.CallExpr) bool {
		made = best(c.Place, target(c.Place, call))
		return made != nil
	})
	if !ok {
		return false
	}
	c.Confidence = rule.Likely // whether the bytes are worth it, only their owner can say
	c.Cause = fmt.Sprintf("The writer is made with the highest level (%s, line %d), which searches far longer for a percent or two.", syntax.Text(made), syntax.Line(c.Place, made.Pos()))
	c.Fix = "Measure the size at the default level (6) or at BestSpeed (1), and take the lowest level whose size will do."
	return true
}

// target is the compressor that a call writes to.
func target(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if funcname.Match(p.CalleeName(call), "io.*", "fmt.*") {
		return call.Args[0]
	}
	return syntax.Receiver(call)
}

// best returns the call that made a compressor with a constant level of 9.
func best(p *gocode.Place, w ast.Expr) *ast.CallExpr {
	if w == nil {
		return nil
	}
	made, ok := syntax.Origin(p, w).(*ast.CallExpr)
	if !ok || len(made.Args) < 2 || !funcname.Match(p.CalleeName(made), "compress/gzip.NewWriterLevel", "compress/zlib.NewWriterLevel*", "compress/flate.NewWriter*") {
		return nil
	}
	level, ok := p.Const(made.Args[1])
	if !ok {
		return nil
	}
	if n, ok := constant.Int64Val(level); !ok || n != 9 {
		return nil
	}
	return made
}
