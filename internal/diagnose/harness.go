package diagnose

import (
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// harness finds the work in a recording of benchmarks that they do not measure.
type harness struct {
	pass  *rule.Pass
	lines map[sourceLine]gocode.Timing
}

// sourceLine is a line of a file.
type sourceLine struct {
	file string
	line int
}

// newHarness returns the harness of a pass; nil when the recording is not of benchmarks.
func newHarness(p *rule.Pass) *harness {
	if !p.Benchmark() {
		return nil
	}
	return &harness{p, map[sourceLine]gocode.Timing{}}
}

// strip removes the work of a benchmark's harness from a match, and reports whether something is
// left: nothing is, if the match is on a line of the harness, or if all rows are setup.
func (h *harness) strip(m *rule.Match) bool {
	if h == nil {
		return true
	}
	if m.Site != nil && h.timing(&m.Site.Frame) == gocode.Harness {
		return false
	}
	had := !m.Empty()
	m.Keep(h.measured)
	return !had || !m.Empty()
}

// measured reports whether a benchmark measures a row, as far as is known: one of its frames is on
// a timed line, or none belongs to a benchmark and TestMain did not start it.
func (h *harness) measured(r *site.Row) bool {
	harness := false
	for _, f := range r.Stack {
		switch h.timing(f) {
		case gocode.Timed:
			return true
		case gocode.Harness:
			harness = true
		}
		harness = harness || strings.HasSuffix(f.Function, ".TestMain") && f.Owner.Kind == gocode.Main
	}
	return !harness
}

// timing examines the syntax at a frame of a module.
func (h *harness) timing(f *site.Frame) gocode.Timing {
	if f.Owner.Kind != gocode.Main || h.pass.Syntax == nil || !strings.HasSuffix(f.File, ".go") {
		return gocode.NoBenchmark
	}
	key := sourceLine{f.File, f.Line}
	t, known := h.lines[key]
	if !known {
		if place, ok := h.pass.Syntax.At(f.File, f.Line); ok {
			t = place.Timing()
		}
		h.lines[key] = t
	}
	return t
}
