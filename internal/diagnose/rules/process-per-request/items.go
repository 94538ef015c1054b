package processperrequest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastStarted is the minimum number of programs that a line starts in one run.
	leastStarted = 20
	// mostEach is the longest mean time, in seconds, of a program that its start is a large part
	// of.
	mostEach = 0.05
)

// wait is the time in which a line waits for the programs that it starts.
type wait struct {
	seconds float64
	// most is the longest of its parts, and started how many that part has: one for each program.
	most    float64
	started int64
}

// items judges a program that runs and exits: a loop that starts another program for each of its
// items.
func items(p *rule.Pass) []rule.Match {
	total := traced.LatencyTotal(p)
	waits := map[exectrace.Line]*wait{}
	add := func(line exectrace.Line, seconds float64, n int64) {
		if !starts(p, &line) {
			return
		}
		w := waits[line]
		if w == nil {
			w = &wait{}
			waits[line] = w
		}
		w.seconds += seconds
		if seconds > w.most {
			w.most, w.started = seconds, n
		}
	}
	for _, b := range p.Trace.Blocking.Waits {
		add(b.Line, b.Seconds, b.Count)
	}
	if p.Trace.Syscalls != nil {
		for _, s := range p.Trace.Syscalls.Lines {
			add(s.Line, s.Seconds, s.Count)
		}
	}
	lines := slices.SortedFunc(maps.Keys(waits), func(a, b exectrace.Line) int {
		return cmp.Or(cmp.Compare(waits[b].seconds, waits[a].seconds), a.Compare(b))
	})
	for _, line := range lines {
		w := waits[line]
		at := traced.SiteAt(p, line)
		if at == nil || w.started < leastStarted || w.seconds < leastShare*total || w.seconds > mostEach*float64(w.started) {
			continue
		}
		f, waited := saved(), min(w.seconds, total) // several goroutines may wait at a time
		return []rule.Match{{
			Site:       at,
			Confidence: rule.Likely, // see find
			Saving:     f.Saving(waited, total),
			Cause: fmt.Sprintf("This line starts another program %s in a run and waits %s for each: creating, loading and ending these processes takes %s of the run.",
				evidence.Times(float64(w.started)), units.Seconds(w.seconds/float64(w.started)), units.Percent(waited/total)),
			Fix: "Pass many items to one process (most tools take a list of files, or read one from standard input), keep the program running and talk to it through pipes, or do the work with a library.",
			Evidence: []rule.Evidence{{
				What: "time that this line waits for other programs", Value: units.Seconds(w.seconds) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "syscalls"),
			}},
		}}
	}
	return nil
}
