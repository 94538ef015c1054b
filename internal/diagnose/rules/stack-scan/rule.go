// Package stackscan finds programs whose garbage collector spends much of its marking on the stacks
// of goroutines.
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
	// leastPart is the minimum part of all scanned memory that is stacks.
	leastPart = 0.3
	// many is the minimum number of goroutines: a few deep stacks have another cause.
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
hundred thousand of them that is the larger part of a collection. It does not
depend on garbage or on live objects, and GOGC does not count it in full.

Run fewer waiting goroutines: one reader per connection instead of three, a
shared timer instead of a sleeping goroutine per entry, workers instead of a
goroutine per task. Or keep their stacks shallow where they wait: large local
arrays of their callers stay on the stack.

It is fine for servers that hold very many connections: net/http needs a
goroutine for each. The finding is a hint: the rule does not know whether fewer
would do.

Seen in the field: panjf2000/gnet and mailru/easygo exist to hold connections
without a goroutine each; since golang/go#44167 the GC pacer counts stacks.`

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
	work := p.Table.CycleWork()
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
