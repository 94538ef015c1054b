// Package procsoverquota finds programs whose GOMAXPROCS is above their CPU quota.
package procsoverquota

import (
	"fmt"
	"go/version"
	"math"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/units"
)

// leastShare of the time in which the program must be throttled.
const leastShare = 0.01

// Rule is procs-over-quota.
func Rule() rule.Rule {
	return rule.Rule{
		ID:      "procs-over-quota",
		Kind:    rule.Sched,
		Setting: true,
		Title:   "More processors than the CPU quota pays for",
		Doc:     doc,
		Finder:  finder.Program{Judge: find},
	}
}

const doc = `A container's CPU limit is a quota for each 100 ms. A program with GOMAXPROCS
above it may use up the quota early in a period, by its own work or by a burst
of the collector, and then the kernel throttles every thread until the next
period. That shows as latency in steps of tens of milliseconds while the CPU
looks half idle.

Since Go 1.25 the runtime sets GOMAXPROCS to the quota, rounded up, but never
below 2, and updates it when the quota changes. Before Go 1.25 the default is
the number of the machine's cores. Build with Go 1.25, or remove the setting, or
set it to the quota.

It is fine when the program was not throttled: bursty services may want more
processors than their quota and accept occasional throttling.

Seen in the field: golang/go#73193 (the change of the runtime);
pachyderm/pachyderm#5971; uber-go/automaxprocs exists for this.`

func find(p *rule.Pass) []rule.Match {
	if p.Manifest == nil {
		return nil
	}
	quota, procs := p.Manifest.Machine.CgroupCPUs, p.Manifest.Runtime.GOMAXPROCS
	if quota <= 0 || procs <= 1 || float64(procs) <= math.Ceil(quota) {
		return nil
	}
	aware := knows(p.Manifest.Runtime.Go)
	if aware && procs == 2 {
		return nil // the runtime's default
	}
	held, of, ok := throttled(p)
	if !ok || held < leastShare*of {
		return nil
	}
	why := "GOMAXPROCS is set by hand, or by a library"
	fix := fmt.Sprintf("Leave GOMAXPROCS to the runtime, or set it to %d.", int(math.Ceil(quota)))
	if !aware {
		why = "before Go 1.25 the runtime ignores the quota"
		fix = fmt.Sprintf("Build with Go 1.25 or newer, which sets GOMAXPROCS by the quota, or set GOMAXPROCS=%d.", int(math.Ceil(quota)))
	}
	held = math.Min(held, of)
	return []rule.Match{{
		Cause: fmt.Sprintf("GOMAXPROCS is %d, but the CPU quota is %s CPUs (%s). The kernel throttled the whole program for %s of the time.",
			procs, units.Number(quota), why, units.Percent(held/of)),
		Fix:        fix,
		Confidence: rule.Likely,
		// With fewer processors the same work may still use up the quota, only later in each
		// period.
		Saving: &rule.Saving{Seconds: held / 2, Low: 0, High: held, Latency: of},
		Evidence: []rule.Evidence{
			{What: "time throttled by the quota", Value: fmt.Sprintf("%s of %s", units.Seconds(held), units.Seconds(of))},
			{What: "GOMAXPROCS and quota", Value: fmt.Sprintf("%d and %s CPUs", procs, units.Number(quota))},
		},
	}}
}

// throttled returns for how long the program was throttled at least, and of how much time. The
// kernel adds up the time of each CPU that had work waiting (cpu.stat, throttled_usec), of which
// there are at most GOMAXPROCS.
func throttled(p *rule.Pass) (held, of float64, ok bool) {
	for _, name := range []string{recording.PhaseClean, recording.PhaseCPU} {
		if ph, is := p.Phase(name); is && ph.Seconds > 0 {
			return ph.Throttled / float64(p.Manifest.Runtime.GOMAXPROCS), ph.Seconds, true
		}
	}
	return 0, 0, false
}

// knows reports whether the runtime of a release sets GOMAXPROCS by the quota.
func knows(release string) bool {
	release, _, _ = strings.Cut(release, " ")
	return version.IsValid(release) && version.Compare(release, "go1.25") >= 0
}
