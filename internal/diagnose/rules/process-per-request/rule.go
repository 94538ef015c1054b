// Package processperrequest finds requests, and loops of programs that exit, that start another
// program each time and wait for it.
package processperrequest

import (
	"cmp"
	"fmt"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastShare of the requests' time that they must wait for other programs.
const leastShare = 0.2

// Rule is process-per-request.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "process-per-request",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Another program started for each request or item",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A request that runs another program (git, convert, a shell), or a loop that
does so for each file, waits until the kernel has created the process, loaded
the program, and the program has started, done its work and exited. That takes
from one to a few tens of milliseconds, and the work is often the smallest part
of it. Its CPU is in no profile of the service.

Do the work in the process with a library, keep the program running and talk to
it through its pipes (git cat-file --batch), run it once for many requests or
files, as most tools take a list of them, or cache what it answers.

It is fine for work that takes much longer than the start of a process. The
rule reports programs that requests wait for a fifth of their time and more, and
loops that start at least twenty in a run, which is a fifth of its time, if each
takes less than 50 ms.

Seen in the field: go-gitea/gitea#15707 (300 git processes in one request),
mathomhaus/guild#58, dash0hq/dash0-cli#253 (88 s became 7.8 with one git
cat-file for 2,000 files), gnoverse/tlin#196, ossf/package-analysis#640.`

// saved is the share of the wait that is saved without the process: the program's computation is
// still needed.
func saved() rule.Fraction { return rule.Fraction{Expect: 0.7, Low: 0.2, High: 1} }

func find(p *rule.Pass) []rule.Match {
	if !traced.Long(p) {
		return nil
	}
	if !traced.Serves(p) {
		return items(p)
	}
	total := traced.LatencyTotal(p)
	if total <= 0 {
		return nil // too few requests
	}
	waits := map[exectrace.Line]float64{} // by the line that starts a program
	var waited float64
	for _, place := range p.Trace.Requests.All.Places {
		line := cmp.Or(place.Caller, place.Waiter)
		if line == nil || place.Object != requests.Subprocess && (place.Part != requests.InSyscall || !starts(p, line)) {
			continue
		}
		waits[*line] += float64(place.Time) / 1e9
		waited += float64(place.Time) / 1e9
	}
	var most float64
	var at *site.Site
	for _, place := range p.Trace.Requests.All.Places { // in their order: the result does not depend on that of the map
		line := cmp.Or(place.Caller, place.Waiter)
		if line == nil || waits[*line] <= most {
			continue
		}
		if found := traced.SiteAt(p, *line); found != nil {
			at, most = found, waits[*line]
		}
	}
	if at == nil || waited < leastShare*total {
		return nil
	}
	f := saved()
	return []rule.Match{{
		Site:       at,
		Confidence: rule.Likely, // the wait is measured; how much of it the program needs is not
		Saving: &rule.Saving{
			Latency: total, Cost: most,
			Seconds: f.Expect * waited, Low: f.Low * waited, High: min(f.High*waited, total),
		},
		Cause: fmt.Sprintf("Requests wait %s of their time for a program that this line starts: each of them creates, loads and ends a process. Its CPU is not in the profile.", units.Percent(waited/total)),
		Fix:   "Do the work in the process with a library, keep the program running and talk to it through pipes, or cache its answers.",
		Evidence: []rule.Evidence{{
			What: "time of requests waiting for " + requests.Subprocess, Value: units.Seconds(waited) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "requests"),
		}},
	}}
}

// starts reports whether a line runs a program, whose end it waits for in a system call.
func starts(p *rule.Pass, line *exectrace.Line) bool {
	if p.Syntax == nil {
		return false
	}
	place, ok := p.Syntax.At(line.File, line.Line)
	return ok && len(syntax.CallsOf(place, "(*os/exec.Cmd).Run", "(*os/exec.Cmd).Output", "(*os/exec.Cmd).CombinedOutput", "(*os/exec.Cmd).Start", "(*os/exec.Cmd).Wait", "os.StartProcess")) > 0
}
