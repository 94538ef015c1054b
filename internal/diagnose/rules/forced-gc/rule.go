// Package forcedgc finds garbage collections that the program forces.
package forcedgc

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is forced-gc.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "forced-gc",
		Kind:  rule.GC,
		Needs: []rule.Need{rule.NeedMetrics},
		Title: "Garbage collections forced by the program",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.6, High: 1}, // a rare call may be intended
			},
			Start:  finder.Calls{Functions: calls},
			Judge:  judge,
			Unseen: words("runtime.GC or debug.FreeOSMemory").Fill,
		},
	}
}

const doc = `runtime.GC blocks until a whole collection, including the sweep, is done.
debug.FreeOSMemory also returns all free memory to the operating system, and the
program then faults it in again page by page. Both cost the work of a cycle
however little garbage there is, and do not make the next cycles cheaper.

The runtime collects when it pays, and returns memory in the background, also
that of a burst. To keep the process small, set GOMEMLIMIT.

It is fine in tests and benchmarks, before a measurement, and once after a
start-up that leaves much garbage: the rule reports only calls that run
repeatedly.

Seen in the field: AdguardTeam/AdGuardHome#2044 (constant CPU load from
debug.FreeOSMemory on a timer), Symantec/Dominator#260; golang/go#30333 made the
runtime return memory in the background.`

// calls are the functions that force a collection.
var calls = []string{"runtime.GC", "runtime/debug.FreeOSMemory"}

func judge(c *finder.Case) bool {
	if !loops.PerCall(c.Place, c.Calls[0]) {
		return false
	}
	words(symbol.Short(c.Name())).Fill(c.Pass, c.Match)
	c.Saving = saving(c.Pass, c.CPU, calls)
	return true
}

func words(name string) finder.Words {
	return finder.Words{
		Cause: fmt.Sprintf("The line calls %s repeatedly: each call runs a whole collection, however little garbage there is.", name),
		Fix:   "Remove the call: the runtime collects when it pays. To bound the process's memory, set GOMEMLIMIT.",
	}
}

// saving adds background marking, which no stack connects to the call, to the call's own CPU: the
// part of all cycles that the program, not the recording, forced. nil when the cycles are not
// known.
func saving(p *rule.Pass, rows []*site.Row, calls []string) *rule.Saving {
	share, ok := forced(p)
	if !ok {
		return nil
	}
	var all int64 // CPU of these calls on all lines, by which the cycles are shared out
	p.EachRow(func(r *site.Row) {
		if stacks.Calls(r, calls...) {
			all += r.Value
		}
	})
	own, _ := stacks.Sum(rows)
	part := 1.0 // the call mostly waits, and may have no sample of its own
	if all > 0 {
		part = float64(own) / float64(all)
	}
	t := p.Table.Totals
	marking := (t.D + t.I) * share * part
	seconds := float64(own)/1e9 + marking
	return &rule.Saving{Seconds: seconds * 0.9, Low: 0.6 * float64(own) / 1e9, High: seconds, Collector: seconds * 0.9}
}

// forced returns the part of all collections so far that the program forced.
func forced(p *rule.Pass) (float64, bool) {
	all, forced := p.Metrics[recording.MetricCycles], p.Metrics["/gc/cycles/forced:gc-cycles"]
	if all <= 0 {
		return 0, false
	}
	if ph, ok := p.Phase(recording.PhaseClean); ok {
		forced -= float64(ph.ForcedGC)
	}
	return math.Max(0, forced) / all, true
}
