// Package tracetest records traces for tests.
package tracetest

import (
	"bytes"
	"runtime/trace"
	"testing"
)

// Record traces f and returns the trace. It skips the test under go test -trace, because only one
// tracer can run.
func Record(t testing.TB, f func()) []byte {
	t.Helper()
	if trace.IsEnabled() {
		t.Skip("go test -trace has the tracer")
	}
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		t.Fatal(err)
	}
	f()
	trace.Stop()
	return buf.Bytes()
}
