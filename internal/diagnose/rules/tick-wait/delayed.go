package tickwait

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// mostTimers is the largest number of timers for each request, for a timer to be that of several.
const mostTimers = 0.7

// delayed is a function that a timer of time.AfterFunc runs, and that answers requests.
type delayed struct {
	batcher
	call *ast.CallExpr // of time.AfterFunc
	in   *gocode.Place
	name string // "b.flush"; "a function" for a literal
}

// byTimer finds requests that wait for a function which time.AfterFunc starts after a while, for
// all that have come until then.
func byTimer(p *rule.Pass) []rule.Match {
	for _, d := range delays(p) {
		t := traced.LongestQueue(p, leastShare, d.answers)
		if t == nil || !awaited.HandsOver(p, t) {
			continue
		}
		busy := 0.0
		for _, g := range p.Trace.Goroutines.Groups {
			if slices.Contains(d.calls, g.Function) {
				busy += g.Seconds
			}
		}
		if t.Waited >= fewest*max(1, t.Total/t.Length)*busy {
			return []rule.Match{d.match(t)}
		}
	}
	return nil
}

// delays returns the functions that the program passes to time.AfterFunc.
func delays(p *rule.Pass) (all []*delayed) {
	for _, in := range p.Syntax.Calls(func(fn *types.Func) bool { return fn.FullName() == "time.AfterFunc" }) {
		for _, call := range syntax.CallsOf(in, "time.AfterFunc") {
			d := &delayed{batcher: batcher{pass: p}, call: call, in: in}
			switch f := ast.Unparen(call.Args[1]).(type) {
			case *ast.FuncLit:
				if at, ok := p.Syntax.At(in.Fset.Position(f.Pos()).Filename, syntax.Line(in, f.Body.Pos())+1); ok && at.Func == ast.Node(f) {
					d.name, d.calls = "a function", reached(at)
				}
			case *ast.SelectorExpr:
				d.declared(in, f.Sel)
			case *ast.Ident:
				d.declared(in, f)
			}
			if len(d.calls) > 0 {
				all = append(all, d)
			}
		}
	}
	return all
}

// declared sets the function that a name denotes.
func (d *delayed) declared(in *gocode.Place, name *ast.Ident) {
	fn, ok := in.Object(name).(*types.Func)
	if !ok {
		return
	}
	if decl := in.Declaration(fn.Origin()); decl != nil && decl.Body != nil {
		d.name, d.calls = syntax.Text(d.call.Args[1]), reached(in.Entry(decl))
	}
}

// answers reports whether the function ends most waits of requests at a place, those of several
// requests each time: in a loop, or because the timer is started for fewer than all requests.
func (d *delayed) answers(place *requests.PlaceTime) bool {
	if !d.ends(place) {
		return false
	}
	if ran, ok := evidence.ExecutionsAt(d.pass, d.in, d.call.Pos()); ok && ran.PerUnit > mostTimers {
		return false
	}
	return slices.ContainsFunc(place.Wakers, func(w requests.WakerShare) bool {
		if w.Line == nil || w.Share < mostEnded {
			return false
		}
		at, ok := d.pass.Syntax.At(w.Line.File, w.Line.Line)
		return ok && (at.Loop() != nil || len(syntax.CallsOf(at, "close")) > 0)
	})
}

func (d *delayed) match(t *traced.Queue) rule.Match {
	after, times := syntax.Text(d.call.Args[0]), "the delay"
	if v, ok := d.in.Const(d.call.Args[0]); ok {
		if n, exact := constant.Int64Val(v); exact {
			after = units.Seconds(float64(n) / 1e9)
		}
	}
	where := syntax.Where(d.in, d.call.Pos())
	return rule.Match{
		Site:       t.Site,
		Confidence: rule.Likely, // batches may be wanted
		Saving:     t.Saving(),
		Cause: fmt.Sprintf("Requests spend %s of their time waiting for %s, which a timer starts %s after the first of a batch has come (time.AfterFunc, %s): nobody works on what they wait for meanwhile.",
			t.Share(), d.name, after, where),
		Fix:      fmt.Sprintf("Run %s at once if it does not run already, and let requests that come meanwhile wait for its next run: batches then grow with the load. Or make %s much shorter.", d.name, times),
		Evidence: t.Evidence(d.pass, d.name, "mostly ended at"),
	}
}
