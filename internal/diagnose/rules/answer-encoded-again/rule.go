// Package answerencodedagain finds answers that are encoded for each request from values which the
// program keeps and that hardly change.
package answerencodedagain

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastPerChange is the minimum number of times that a value is encoded for each change.
	leastPerChange = 10
	// leastShare is the minimum share of CPU of the encoding, and leastCost its minimum CPU time in
	// seconds: keeping the bytes of each small object is not worth it. leastSure is the minimum
	// share if the answers were seen to be the same.
	leastShare, leastSure, leastCost = 0.1, 0.03, 10e-6
	// leastCompared is the minimum number of answers that the load compared, and leastSame the
	// minimum share of those that were the same as the answer before to the same request.
	leastCompared, leastSame = 100, 0.8
	// leastUnmodified is the minimum share of answers without a body that is mentioned.
	leastUnmodified = 0.3
)

// Rule is answer-encoded-again.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "answer-encoded-again",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedInputs},
		Title: "Answer encoded or compressed again from values that did not change",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Changes still encode; the rest of the work becomes a write of kept bytes.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.6, High: 1},
				Specificity: 1, // how the values are encoded does not matter if it is done once
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A service keeps a result in memory: the rendered difference of a pull request,
the list of all stations, a snapshot that a goroutine replaces from time to time.
Each request encodes it again, though it is what the last request got: reflection
over all fields, the text of each number, escaping of each string. Clients that
poll, and middleware that computes an ETag from the finished answer, make it
worse: all of the work is done to learn that the client has the answer already.
A file that the program keeps, and compresses for each client, is the same.

Encode where the value changes, keep the bytes beside it, and write them. If
changes are frequent and requests are not, encode on the first request after a
change. A number that each change increments makes an ETag that needs no answer:
compare it with If-None-Match before anything else.

It is fine where the value changes about as often as it is asked for, or where the
answer depends on who asks. The rule follows what is encoded to the fields and
package variables that it comes from, and counts the executions of the lines that
change those: it reports values that are encoded ten times as often. If the load
saw that answers to the same request differ, or the request selects what the
answer shows, it is a hint, or nothing.

Seen in the field: home-operations/konflate#139 (differences of several MB
encoded for each request), SamSaffron/term-llm#562 and stormkit-io/stormkit-io#541
(the same files compressed for each visitor).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	if p.Benchmark() {
		return finder.Line{} // they use the same values again, whatever programs do
	}
	s := &search{pass: p, encoders: slices.Concat(codecs.Encoders(), compressors)}
	s.paths = finder.RememberPaths(deepest, s.follow)
	return finder.Line{Start: finder.Frames(s.frame), Judge: s.judge}
}

type search struct {
	pass     *rule.Pass
	encoders []string
	paths    *finder.Paths[found]
}

// found is a line that passes a kept value to an encoder.
type found struct {
	encoder string
	inside  string // the function that calls the encoder, if it is another one
	value   string
	origin  *kept.Origin
	uses    float64 // for each unit of work
	changes float64
}

// frame returns the frame whose line gives a kept value to an encoder, itself or through functions
// that pass it on.
func (s *search) frame(r *site.Row) int {
	encoder := stacks.Outermost(r.Stack, s.encoders...)
	if encoder < 0 || stacks.Outermost(r.Stack[encoder:], servers...) < 0 {
		return -1
	}
	return s.paths.From(r.Stack, encoder)
}

// servers are functions below which requests are answered, as profiles name them.
var servers = []string{
	"net/http.(*conn).serve", "net/http.(*http2serverConn).runHandler", "golang.org/x/net/http2.(*serverConn).runHandler",
	"github.com/valyala/fasthttp.(*Server).serveConn",
}

// compressors are functions that compress what they get, as profiles name them.
var compressors = []string{
	"compress/gzip.(*Writer).*", "compress/flate.(*Writer).*", "compress/zlib.(*Writer).*", "github.com/klauspost/compress/gzip.(*Writer).*",
	"github.com/klauspost/compress/zstd.(*Encoder).*", "github.com/andybalholm/brotli.(*Writer).*",
}

// deepest is the number of frames above an encoder that decide.
const deepest = 9

// follow returns the line that gives a kept value to an encoder, and the index of its frame; nil if
// the value is not kept, or changes about as often.
func (s *search) follow(stack []*site.Frame, encoder int) (*found, int) {
	for i := encoder + 1; i < len(stack) && i < encoder+deepest; i++ {
		if stack[i].Owner.Kind != gocode.Main {
			continue
		}
		p, ok := s.pass.Syntax.At(stack[i].File, stack[i].Line)
		if !ok || p.Decl == nil {
			return nil, 0
		}
		call := loops.CallTo(p, stack[i-1].Function)
		if call == nil {
			return nil, 0
		}
		value := encoded(p, call)
		if funcname.Match(stack[encoder].Function, compressors...) {
			value = compressed(p, call)
		}
		if value == nil {
			return nil, 0
		}
		f, at := &found{encoder: stack[encoder].Function, value: syntax.Text(value)}, i
		if v := syntax.LocalVar(p, value); v != nil && syntax.Param(p, v) && i+1 < len(stack) {
			if above, ok := s.pass.Syntax.At(stack[i+1].File, stack[i+1].Line); ok {
				if passing := loops.CallTo(above, stack[i].Function); passing != nil && stack[i+1].Owner.Kind == gocode.Main {
					if arg := flow.ArgumentFor(p, passing, v); arg != nil {
						f.value = syntax.Text(arg)
					}
					at, f.inside, p, call = i+1, syntax.FuncName(p), above, passing
				}
			}
		}
		return s.unchanged(f, stack, i, value, p, call), at
	}
	return nil, 0
}

// encoded returns the value that a call has encoded: the last argument that may be of any type.
func encoded(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	fn := p.Callee(call)
	if fn == nil {
		return nil
	}
	params := fn.Signature().Params()
	for i := min(len(call.Args), params.Len()) - 1; i >= 0; i-- {
		if syntax.TakesAny(params.At(i).Type()) || strings.HasSuffix(params.At(i).Type().String(), "protoreflect.ProtoMessage") {
			return call.Args[i]
		}
	}
	return nil
}

// compressed returns what the function around a call of a compressor's method writes to it: the
// argument of its only Write, or what it copies.
func compressed(p *gocode.Place, call *ast.CallExpr) (value ast.Expr) {
	to := syntax.Named(p, syntax.Receiver(call))
	if to == nil {
		return nil
	}
	writes := 0
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		recv := syntax.Receiver(c)
		switch {
		case recv != nil && syntax.Named(p, recv) == to && len(c.Args) == 1 && writesAll(p.Callee(c)), p.CalleeName(c) == "io.WriteString" && syntax.Named(p, c.Args[0]) == to:
			value, writes = c.Args[len(c.Args)-1], writes+1
		case p.CalleeName(c) == "io.Copy" && syntax.Named(p, c.Args[0]) == to:
			value, writes = c.Args[1], writes+1
		}
		return true
	})
	if writes != 1 {
		return nil
	}
	return value
}

func writesAll(fn *types.Func) bool { return fn != nil && strings.HasPrefix(fn.Name(), "Write") }

// unchanged completes what was found, if the value is kept and hardly changes.
func (s *search) unchanged(f *found, stack []*site.Frame, i int, value ast.Expr, line *gocode.Place, call *ast.CallExpr) *found {
	p, _ := s.pass.Syntax.At(stack[i].File, stack[i].Line)
	origin, ok := kept.From(s.pass.Syntax, stack, i, p, value)
	if !ok {
		return nil
	}
	ran, ok := evidence.ExecutionsAt(s.pass, line, call.Pos())
	if !ok || !evidence.Hot(s.pass, ran) {
		return nil
	}
	f.origin, f.uses = origin, ran.PerUnit
	if f.changes, ok = origin.Changes(s.pass); !ok || f.uses < leastPerChange*f.changes {
		return nil
	}
	return f
}

func (s *search) judge(c *finder.Case) bool {
	f := s.paths.At(&c.Site.Frame)
	if f == nil {
		return false
	}
	cpu := 0.
	for _, r := range c.CPU {
		cpu += float64(r.Value) / 1e9
	}
	each, ok := evidence.PerExecution(s.pass, c.Site.Frame, cpu)
	same, known := s.same()
	if known && same < leastSame/2 {
		return false
	}
	least := leastShare
	if known && same >= leastSame && !f.origin.Asked {
		least = leastSure
	}
	if total := s.pass.Table.Totals.TotalSeconds; total <= 0 || cpu < least*total || !ok || each < leastCost {
		return false
	}
	c.Confidence = rule.Hint
	if (known && same >= leastSame || s.unmodified() >= leastUnmodified) && !f.origin.Asked {
		c.Confidence = rule.Likely
	}
	s.describe(c, f, same, known)
	return true
}

// same returns the share of answers that were the same as the answer before to the same request.
func (s *search) same() (share float64, known bool) {
	ph, _ := s.pass.Phase(recording.PhaseInputs)
	if b := ph.Bodies; b != nil && b.Compared >= leastCompared {
		return float64(b.Same) / float64(b.Compared), true
	}
	return 0, false
}

func (s *search) describe(c *finder.Case, f *found, same float64, known bool) {
	from, unit := f.origin.Names(), s.pass.Manifest.Unit()
	name := symbol.Short(funcname.Typed(f.encoder))
	changed := "which did not change while executions were counted"
	if f.changes > 0 {
		changed = fmt.Sprintf("which changes once for %s encodings", units.Number(f.uses/f.changes))
	}
	if f.inside != "" {
		name += ", which " + f.inside + " calls,"
	}
	does, source, done := "encodes", "It comes from", "Encode"
	if funcname.Match(f.encoder, compressors...) {
		name, does, done = cmp.Or(f.inside, syntax.FuncName(c.Place)), "compresses", "Compress"
	}
	if f.origin.Built {
		source = "It is built from"
	}
	c.Cause = fmt.Sprintf("%s %s %s again %s per %s. %s %s, %s.", name, does, f.value, evidence.Times(f.uses), unit, source, from, changed)
	if known {
		c.Cause += fmt.Sprintf(" %s of the answers were the same as the answer before to the same request.", units.Percent(same))
	}
	c.Fix = fmt.Sprintf("%s where %s changes, or on the first request after a change, keep the bytes beside it (for each key or query that requests name), and write them.", done, from)
	if share := s.unmodified(); share >= leastUnmodified {
		c.Cause += fmt.Sprintf(" %s of the answers are 304: the client had the answer, which was made only to find that out.", units.Percent(share))
		c.Fix += " Keep a number with it that each change increments, send that as the ETag, and compare it with If-None-Match before the answer is made."
	} else {
		c.Fix += " A number that each change increments is an ETag: with it, clients that have the answer get a 304."
	}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("encoded %s times and changed %s times per %s", units.Number(f.uses), units.Number(f.changes), unit),
	})
}

// unmodified returns the share of answers with status 304.
func (s *search) unmodified() float64 {
	ph, _ := s.pass.Phase(recording.PhaseInputs)
	if ph.Outcome == nil || ph.Requests == 0 {
		return 0
	}
	return float64(ph.Outcome.Status[304]) / float64(ph.Requests)
}
