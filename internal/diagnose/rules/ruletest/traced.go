//go:build live

package ruletest

import (
	"bytes"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/target"
)

// maxTrace bounds a test program's trace.
const maxTrace = 32 << 20

// trace runs the program once more with its execution trace: tracing lengthens short operations, so
// it has a separate run, as in a recording.
func (p *program) trace(t *testing.T) *analysis.Results {
	t.Helper()
	parts, _ := p.run(t, target.Collect{Trace: true, TraceBytes: maxTrace}, "trace")
	set := analysis.New(requests.Options{})
	trace, err := exectrace.Read(t.Context(), bytes.NewReader(parts["trace"]), exectrace.Options{}, set.Folds()...)
	if _, err = exectrace.Usable(trace, err); err != nil { // a long one is cut at maxTrace
		t.Fatal(err)
	}
	set.Done(trace)
	return set.Results()
}
