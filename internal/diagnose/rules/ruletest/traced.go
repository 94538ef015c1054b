package ruletest

import (
	"bytes"
	"context"
	"testing"
	"time"

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
	pass, bin := record(t, archive)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	parts, _ := run(ctx, t, bin, target.Collect{Trace: true, TraceBytes: maxTrace}, "trace")
	set := analysis.New(requests.Options{})
	trace, err := exectrace.Read(ctx, bytes.NewReader(parts["trace"]), exectrace.Options{}, set.Folds()...)
	if _, err = exectrace.Usable(trace, err); err != nil { // a long one is cut at maxTrace
		t.Fatal(err)
	}
	set.Done(trace)
	pass.Trace = set.Results()
	if pkgs := pass.TracedPackages(1); len(pkgs) > 0 && len(packages(pass.Table)) == 0 {
		if pass.Syntax, err = pass.Code.Syntax(ctx, pkgs); err != nil { // a program that hardly uses the CPU
			t.Fatal(err)
		}
	}
	return pass
}
