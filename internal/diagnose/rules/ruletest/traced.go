package ruletest

import (
	"bytes"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/target"
)

// maxTrace bounds a test program's trace.
const maxTrace = 32 << 20

// RecordTraced is [Record] with what an execution trace of a second run says: tracing stretches
// what is short, so it has a run of its own, as in a recording.
func RecordTraced(t *testing.T, archive string) *rule.Pass {
	t.Helper()
	p := build(t, archive)
	p.record(t)
	p.trace(t)
	return p.pass(t)
}

// trace runs the program with its execution trace.
func (p *program) trace(t *testing.T) {
	t.Helper()
	parts, _ := p.run(t, target.Collect{Trace: true, TraceBytes: maxTrace}, "trace")
	set := analysis.New(requests.Options{})
	trace, err := exectrace.Read(t.Context(), bytes.NewReader(parts["trace"]), exectrace.Options{}, set.Folds()...)
	if _, err = exectrace.Usable(trace, err); err != nil { // a long one is cut at maxTrace
		t.Fatal(err)
	}
	set.Done(trace)
	p.traced = set.Results()
}
