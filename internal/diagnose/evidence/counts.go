package evidence

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Executions returns how often a line ran for each unit of work, as counted in the recording. It
// reports false where the line was not counted.
func Executions(p *rule.Pass, f site.Frame) (counts.Executions, bool) {
	if p.Counts == nil || f.Owner.Package == "" {
		return counts.Executions{}, false
	}
	return p.Counts.Line(f.Owner.Package, f.File, f.Line)
}

// ExecutionsAt is [Executions] for the line of a position in the package of a place.
func ExecutionsAt(p *rule.Pass, place *gocode.Place, pos token.Pos) (counts.Executions, bool) {
	if p.Counts == nil {
		return counts.Executions{}, false
	}
	at := place.Fset.Position(pos)
	return p.Counts.Line(place.Pkg.Path(), at.Filename, at.Line)
}

// ReachedAt returns how often the code at a position in the package of a place ran for each unit of
// work. On a line with a function literal it counts what is around the literal alone.
func ReachedAt(p *rule.Pass, place *gocode.Place, pos token.Pos) (float64, bool) {
	at := place.Fset.Position(pos)
	return p.Counts.At(place.Pkg.Path(), at.Filename, at.Line, at.Column)
}

// ReturnBetween returns the return between two positions of a function that ran most often, and how
// often per unit of work.
func ReturnBetween(pass *rule.Pass, p *gocode.Place, fn *ast.FuncDecl, from, to token.Pos) (at token.Pos, runs float64) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if n.Pos() > from && n.Pos() < to {
				if e, ok := ExecutionsAt(pass, p, n.Pos()); ok && e.PerUnit > runs {
					at, runs = n.Pos(), e.PerUnit
				}
			}
		}
		return true
	})
	return at, runs
}

// Hot reports whether a line that ran so often is on a hot path: it runs for at least one request
// or operation in twenty, or a hundred times in each run of a program that exits.
func Hot(p *rule.Pass, e counts.Executions) bool {
	if p.Manifest.Unit() == "run" {
		return e.PerUnit >= 100
	}
	return e.PerUnit >= 0.05
}

// unitsOfWork returns the number of units of work in the CPU profile and the allocations; 0 when
// unknown.
func unitsOfWork(p *rule.Pass) float64 {
	if p.Manifest == nil {
		return 0
	}
	ph, ok := p.Manifest.Phase(recording.PhaseCPU)
	switch {
	case !ok:
		return 0
	case ph.Requests > 0:
		return float64(ph.Requests)
	case p.Manifest.Target.Bench != "":
		return operations(ph)
	}
	return float64(ph.Runs)
}

// operations returns how many operations of a benchmark are in a phase; 0 for several benchmarks,
// whose profiles are not kept apart. A benchmark with a loop to b.N does up to half as many again
// to find b.N, which it does not print.
func operations(ph recording.Phase) (n float64) {
	if len(ph.Benchmarks) != 1 {
		return 0
	}
	for _, s := range ph.Benchmarks[0].Samples {
		n += float64(s.Iterations)
	}
	return n
}

// Often describes how often a line runs: "46 times per request, 46 times per call of its function";
// "" when it is unknown.
func Often(p *rule.Pass, f site.Frame) string {
	e, ok := Executions(p, f)
	if !ok || e.PerUnit <= 0 {
		return ""
	}
	var parts []string
	perUnit := countsUnits(p)
	if perUnit {
		parts = append(parts, Times(e.PerUnit)+" per "+p.Manifest.Unit())
	}
	if once := e.PerCall < 1.05*e.PerUnit && e.PerCall > 0.95*e.PerUnit; e.PerCall >= leastRepeats && !(perUnit && once) {
		parts = append(parts, Times(e.PerCall)+" per call of its function")
	}
	return strings.Join(parts, ", ")
}

// Runs describes how often a line runs and what one execution costs: "runs 46 times per request, 46
// times per call of its function: 150 ns and 32 B each"; "" when it is unknown.
func Runs(p *rule.Pass, f site.Frame, c site.Cost) string {
	text := Often(p, f)
	if text == "" {
		return ""
	}
	var parts []string
	if each, ok := PerExecution(p, f, 1); ok {
		if c.CPUSeconds > 0 {
			parts = append(parts, units.Seconds(each*c.CPUSeconds))
		}
		if c.AllocBytes > 0 {
			parts = append(parts, units.Bytes(each*float64(c.AllocBytes)))
		}
	}
	if len(parts) > 0 {
		text += ": " + funcname.List(parts) + " each"
	}
	return "runs " + text
}

// PerExecution returns the cost of one execution of a line whose cost in the CPU phase is cost, in
// the same unit: seconds or bytes. It reports false if executions were not counted.
func PerExecution(p *rule.Pass, f site.Frame, cost float64) (float64, bool) {
	e, ok := Executions(p, f)
	done := unitsOfWork(p)
	if !ok || e.PerUnit <= 0 || done <= 0 || !countsUnits(p) {
		return 0, false
	}
	return cost / (done * e.PerUnit), true
}

// leastSamples is the minimum number of samples for the cost of one execution to be known.
const leastSamples = 8

// Cheaper reports whether an execution of a line takes less than most seconds of CPU in some rows,
// as far as counts and samples show.
func Cheaper(p *rule.Pass, f site.Frame, rows []*site.Row, most float64) bool {
	spent, samples := stacks.Sum(rows)
	each, ok := PerExecution(p, f, float64(spent)/1e9)
	return ok && samples >= leastSamples && each < most
}

// ExecutionsCounted names the evidence that Runs describes.
const ExecutionsCounted = "executions, counted"

// leastRepeats is the minimum number of executions per call of the function that Runs mentions.
const leastRepeats = 1.5

// countsUnits reports whether the counting run knows its units of work. It does not for several
// benchmarks, and for a run that was stopped before its end.
func countsUnits(p *rule.Pass) bool {
	ph, ok := p.Manifest.Phase(recording.PhaseCounts)
	return ok && !ph.Cut && (ph.Requests > 0 || p.Manifest.Target.Bench == "")
}

// Times returns how often something happens: "once", "46 times".
func Times(n float64) string {
	switch {
	case n > 0.95 && n < 1.05:
		return "once"
	case n < 0.01:
		return fmt.Sprintf("%.2g times", n)
	}
	if n >= 1000 {
		return units.Count(int64(n+0.5)) + " times"
	}
	return units.Number(n) + " times"
}

// leastWatched is the minimum number of calls of a function whose inputs are mentioned.
const leastWatched = 50

// leastAgain is the minimum share of calls with a repeated input of the same request that is
// mentioned.
const leastAgain = 0.1

// InputsSeen describes how many different inputs the calls of a function had, as counted in the
// recording: "got 3 different inputs in 35,412 calls"; "" when that is unknown. It mentions when
// the load repeats one request.
func InputsSeen(p *rule.Pass, function string) string {
	f := p.Inputs.Of(function)
	if f == nil || f.Calls < leastWatched || f.Hashed < f.Calls || !f.ByValue() {
		return ""
	}
	return InputsOf(p, f)
}

// InputsOf says how many different inputs a function got: "got 7 different inputs in 1,200 calls".
func InputsOf(p *rule.Pass, f *inputs.Function) string {
	calls := units.Count(f.Calls) + " calls"
	if f.Stopped {
		calls = "its first " + calls
	}
	text := fmt.Sprintf("got %s in %s", Different(units.Count(f.Different)), calls)
	if again := f.InRequest - f.PerRequest; float64(again) >= leastAgain*float64(f.Calls) {
		_, unit := p.Inputs.Apart()
		text += fmt.Sprintf(", %s of them with one that the same %s had before", units.Percent(float64(again)/float64(f.Calls)), unit)
	}
	if p.Inputs.Requests > 0 && p.Inputs.Targets == 1 {
		text += " (the load sends one request again and again)"
	}
	return text
}

// Different returns a number of inputs for a sentence: "one input", "7 different inputs".
func Different(n string) string {
	if n == "1" {
		return "one input"
	}
	return n + " different inputs"
}

// CalleesMeasured names the evidence of the calls that take a line's cost.
const CalleesMeasured = "calls, by their cost"

// InputsCounted names the evidence of the input counts.
const InputsCounted = "inputs, counted"
