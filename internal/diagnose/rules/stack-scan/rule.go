// Package stackscan finds programs whose collector spends much of its marking on the stacks of goroutines.
package stackscan

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare of CPU that scanning stacks must take.
	leastShare = 0.03
	// leastPart of all that is scanned that stacks are.
	leastPart = 0.3
	// many goroutines: a few deep stacks are another matter.
	many = 1000
)

// Rule is stack-scan.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "stack-scan",
		Kind:   rule.GC,
		Needs:  []rule.Need{rule.NeedMetrics},
		Title:  "Garbage collection scans the stacks of many goroutines",
		Doc:    doc,
		Finder: finder.Program{Judge: find},
	}
}

const doc = `Each cycle scans the stack of every goroutine, also of those that sleep. With a
hundred thousand of them that is the larger part of a collection, and it does
not shrink with garbage or with live objects; nor does GOGC count it in full.

Let fewer goroutines wait: one reader per connection in place of three, a shared
timer in place of a sleeping goroutine per entry, workers in place of a goroutine
per task. Or keep their stacks shallow where they wait: large local arrays of
functions on the way stay on the stack.

It is fine for servers that hold very many connections: net/http needs a
goroutine for each. The rule is a hint, for whether they can be fewer it cannot
tell.

Seen in the field: panjf2000/gnet and mailru/easygo exist to hold connections
without a goroutine each; golang/go#44167 made the pacer count stacks.`

func find(p *rule.Pass) []rule.Match {
	stacks, all := p.Metrics["/gc/scan/stack:bytes"], p.Metrics["/gc/scan/total:bytes"]
	goroutines := p.Metrics["/sched/goroutines:goroutines"]
	if all <= 0 || goroutines < many || stacks < leastPart*all {
		return nil
	}
	part := math.Min(1, stacks/all)
	if collector.Share(p)*part < leastShare {
		return nil
	}
	work := p.Table.GCWork()
	return []rule.Match{{
		Confidence: rule.Hint,
		Saving:     &rule.Saving{Seconds: work.Value * part / 2, Low: 0, High: work.High * part, Collector: work.Value * part / 2},
		Cause: fmt.Sprintf("%.0f goroutines hold %s of stack, %s of what a collection scans. Garbage collection takes %s of CPU.",
			goroutines, units.Bytes(stacks), units.Percent(part), units.Percent(collector.Share(p))),
		Fix: "Run fewer waiting goroutines (workers, one reader per connection, shared timers), or have them wait in shallower functions.",
		Evidence: []rule.Evidence{
			{What: "scanned in the last cycle", Value: fmt.Sprintf("%s, stacks %s", units.Bytes(all), units.Bytes(stacks))},
			{What: "CPU in the collector", Value: units.Percent(collector.Share(p)), Command: evidence.TopCommand(p, "cpu")},
		},
	}}
}
