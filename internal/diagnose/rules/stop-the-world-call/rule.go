// Package stoptheworldcall finds calls on hot paths that stop all goroutines to examine the
// program.
package stoptheworldcall

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	perRequest = 0.05   // executions per request or operation from which a call is on a hot path
	perSecond  = 1000.0 // the same in a program that exits
)

// Rule is stop-the-world-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "stop-the-world-call",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Call that stops all goroutines on a hot path",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// What replaces the call costs about a microsecond, or nothing if a goroutine reads
				// the figures occasionally.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Start: finder.Calls{Functions: []string{"runtime.ReadMemStats", "runtime.GoroutineProfile", "runtime/pprof.(*Profile).WriteTo"}},
			Judge: judge,
		},
	}
}

const doc = `runtime.ReadMemStats stops the world: every goroutine waits until it has summed up
the statistics of all processors, some 20 to 100 µs. A profile of all goroutines
does so too, for longer. Called for each request (to shed load when memory is
short, or to add a figure to a log line), it takes CPU and makes all other
requests wait; one call waits for another.

Read single figures with runtime/metrics, which does not stop the world:
/memory/classes/heap/objects:bytes is HeapAlloc. Or let one goroutine read all of
it once a second and publish it in an atomic.

It is fine in an endpoint for monitoring that is asked every few seconds. The
rule reports calls that run for at least one request in twenty, or 1,000 times a
second.

Seen in the field: prometheus/client_golang#1033 (its Go collector reads
runtime/metrics instead).`

func judge(c *finder.Case) bool {
	if !loops.PerCall(c.Place, c.Calls[0]) || !often(c) {
		return false
	}
	name := symbol.Short(c.Name())
	switch name {
	case "runtime.ReadMemStats":
		c.Cause = "runtime.ReadMemStats stops all goroutines while it sums up the statistics, also those of other requests."
		c.Fix = "Read the figures that are needed with runtime/metrics (metrics.Read), which does not stop the world: /memory/classes/heap/objects:bytes is HeapAlloc. Or let one goroutine read them once a second, and keep them in an atomic."
	default:
		c.Cause = fmt.Sprintf("%s stops all goroutines while it collects their stacks, also those of other requests.", name)
		c.Fix = "Take such a profile on request only; for the number of goroutines, runtime.NumGoroutine is enough."
	}
	return true
}

// often reports whether the line is on a hot path.
func often(c *finder.Case) bool {
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok {
		return false
	}
	if c.Pass.Manifest.Unit() != "run" {
		return e.PerUnit >= perRequest
	}
	ph, ok := c.Pass.Manifest.Phase(recording.PhaseCPU)
	return ok && ph.Seconds > 0 && e.PerUnit*float64(max(ph.Runs, 1)) >= perSecond*ph.Seconds
}
