package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/load"
)

const (
	// observerLoss and observerGrowth are the largest overheads of a phase without a note.
	observerLoss   = 0.10
	observerGrowth = 0.10
	// leastSampled is the minimum part of the program's CPU time in the profile for which the
	// intervals of shares hold. Busy programs have 0.95 and more.
	leastSampled = 0.8
	// throttledShare is the share of a phase above which throttling distorts its timings.
	throttledShare = 0.01
)

// notes returns what limits the findings.
func (e *engine) notes(code, settings []*draft) []string {
	notes := []string{}
	if trouble := e.manifest.Trouble(); trouble != "" {
		notes = append(notes, trouble)
	}
	notes = append(notes, e.precisionNotes(code)...)
	notes = append(notes, e.adviceNotes(code, settings)...)
	notes = append(notes, e.phaseNotes()...)
	notes = append(notes, e.faultNotes()...)
	notes = append(notes, e.childNotes()...)
	notes = append(notes, e.settingNotes()...)
	notes = append(notes, e.missingNotes()...)
	if e.pass.Table != nil {
		for _, n := range e.pass.Table.Notes {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	return notes
}

// precisionNotes report how precise shares are and what a longer recording would gain.
func (e *engine) precisionNotes(shown []*draft) []string {
	var notes []string
	have := e.totals.TotalSeconds
	best := 0.0
	var pair [2]int
	var stuck []int // ranks whose order relative to the next is open
	for i := 1; i < len(shown); i++ {
		a, b := shown[i-1], shown[i]
		if !e.tied(a, b) || a.saving.resource != limitCPU {
			continue
		}
		t := separated(a, b, have)
		if t == 0 {
			stuck = append(stuck, i)
		} else if best == 0 || t < best {
			best, pair = t, [2]int{i, i + 1}
		}
	}
	switch {
	case best > 0:
		notes = append(notes, fmt.Sprintf("%s CPU-seconds would separate %d from %d (this profile has %s)",
			units.Number(best), pair[0], pair[1], units.Number(have)))
	case len(stuck) > 0:
		notes = append(notes, "the order of "+runs(stuck)+" is not significant: a longer profile would not decide it; try the fixes")
	}
	return notes
}

// runs formats ranks that are each tied with the next: "1 to 3 and 5 to 6".
func runs(ranks []int) string {
	var words []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		words = append(words, fmt.Sprintf("%d to %d", ranks[i], ranks[j]+1))
		i = j + 1
	}
	return funcname.List(words)
}

// adviceNotes report which savings do not add up.
func (e *engine) adviceNotes(code, settings []*draft) []string {
	collecting := []string{"the allocating lines"}
	allocs := false
	for i, d := range slices.Concat(code, settings) {
		switch {
		case directSaving(d.claims) == nil:
			allocs = allocs || d.cost.GCSeconds > 0 && !d.rule.Generic
		case d.saving == nil || d.saving.collector == 0:
		case i < len(code):
			collecting = append(collecting, label(i+1, false))
		default:
			collecting = append(collecting, label(i+1-len(code), true))
		}
	}
	if len(collecting) == 1 || !allocs {
		return nil
	}
	return []string{fmt.Sprintf("%s save parts of the same garbage collection work: their savings do not add up", funcname.List(collecting))}
}

// childNotes report CPU time of child processes, which no profile of the program contains.
func (e *engine) childNotes() []string {
	r := e.resources()
	if r.ChildCores < manyChildren || r.ChildCores < r.Cores/10 {
		return nil
	}
	return []string{fmt.Sprintf("child processes took %s of the total CPU time. They are not in the profile: shares are of the program's own CPU. Record the child processes separately",
		units.Percent(r.ChildCores/(r.Cores+r.ChildCores)))}
}

// generatorNote names the phases in which the load generator was the bottleneck.
func (e *engine) generatorNote() string {
	var phases []string
	for _, ph := range e.manifest.Phases {
		if ph.Verdict == load.VerdictLimited {
			phases = append(phases, ph.Name)
		}
	}
	if len(phases) == 0 {
		return ""
	}
	word := "phase"
	if len(phases) > 1 {
		word = "phases"
	}
	return fmt.Sprintf("%s %s: the load generator was the bottleneck; the program could have served more", word, funcname.List(phases))
}

// phaseNotes report what disturbed the measurement.
func (e *engine) phaseNotes() []string {
	var notes []string
	if _, others, ok := e.machineBusy(); ok && others >= othersShare*float64(e.manifest.Machine.Cores) {
		notes = append(notes, fmt.Sprintf("other processes kept %s of %d cores busy: figures per second and latencies include their interference, shares of CPU still hold",
			units.Number(others), e.manifest.Machine.Cores))
	}
	if note := e.generatorNote(); note != "" {
		notes = append(notes, note)
	}
	for _, ph := range e.manifest.Phases {
		if ph.Requests > 0 && ph.Failed*100 >= ph.Requests && (ph.Outcome == nil || ph.Outcome.Trouble() == "") {
			notes = append(notes, fmt.Sprintf("phase %s: %s of the requests failed", ph.Name, units.Percent(float64(ph.Failed)/float64(ph.Requests))))
		}
		if ph.Seconds > 0 && ph.Throttled >= throttledShare*ph.Seconds {
			notes = append(notes, fmt.Sprintf("phase %s: the CPU quota throttled the program for %s of %s; latencies reflect CPU throttling, CPU shares still hold",
				ph.Name, units.Seconds(ph.Throttled), units.Seconds(ph.Seconds)))
		}
		if ph.Name == recording.PhaseCPU && e.totals.TotalSeconds < leastSampled*ph.CPUSeconds {
			notes = append(notes, fmt.Sprintf("phase %s: the profile holds %s of the %s of CPU time that the program took. %s",
				ph.Name, units.Seconds(e.totals.TotalSeconds), units.Seconds(ph.CPUSeconds), unsampled(ph)))
		}
		if o := ph.Observer; o != nil && ph.Name != recording.PhaseClean {
			if o.ThroughputLoss >= observerLoss && o.ThroughputLow > 0 || o.CPUGrowth >= observerGrowth && o.CPUGrowthLow > 0 {
				notes = append(notes, fmt.Sprintf("phase %s: high overhead of the phase (throughput %s, %s %s)",
					ph.Name, signed(-o.ThroughputLoss), strings.TrimSpace("CPU "+e.manifest.PerUnit()), signed(o.CPUGrowth)))
			}
			if o.ThroughputLoss <= -observerLoss && o.ThroughputHigh < 0 {
				notes = append(notes, fmt.Sprintf("phase %s: throughput was %s higher than in the clean phase: the machine was not idle, so figures per second and latencies are uncertain",
					ph.Name, units.Percent(-o.ThroughputLoss)))
			}
		}
	}
	return notes
}

// signed formats a change with its sign.
func signed(change float64) string {
	if change < 0 {
		return "−" + units.Percent(-change)
	}
	return "+" + units.Percent(change)
}

// shortRun is the CPU time of a run, in seconds, below which its start is a visible part.
const shortRun = 0.5

// unsampled returns why a profile contains less CPU than the program took.
func unsampled(ph recording.Phase) string {
	if ph.Runs > 0 && ph.CPUSeconds < shortRun*float64(ph.Runs) {
		return fmt.Sprintf("A run takes %s. The profile misses the runtime's startup, and the kernel samples at its ticks, which short-lived threads often miss. Shares may be less accurate than their intervals say. Longer runs reduce the error",
			units.Seconds(ph.CPUSeconds/float64(ph.Runs)))
	}
	return "The kernel samples at its ticks, and undercounts work in bursts shorter than a tick, such as requests at a steady rate. Shares may be less accurate than their intervals say. A load without a rate, or a higher rate, reduces the error"
}

// missingNotes report which evidence was missing, so that no finding does not mean that there is no
// mistake.
func (e *engine) missingNotes() []string {
	blind := map[string]string{
		recording.PartCPU:    "nothing is known about CPU",
		recording.PartAllocs: "nothing is known about allocations",
		recording.PartMutex:  "nothing is known about lock waits",
		recording.PartBlock:  "nothing is known about blocking",
	}
	var notes []string
	for _, m := range e.manifest.Missing {
		if effect := blind[m.Part]; effect != "" {
			notes = append(notes, sentence(fmt.Sprintf("%s: no %s (%s)", effect, m.Part, m.Why), m.How))
		}
	}
	return append(notes, e.codeNotes()...)
}

// codeNotes report for which packages the compiler's decisions are unknown, and which packages
// rules could not read.
func (e *engine) codeNotes() []string {
	var notes []string
	unread := map[string]string{} // the reason, by package
	if e.pass.Syntax == nil {
		notes = append(notes, "the syntax of the program is not available: rules that read it were skipped")
	} else {
		read, lacking := e.pass.Syntax.Packages()
		for pkg, why := range lacking {
			if !slices.Contains(read, pkg) { // else it has type errors
				unread[pkg] = why
			}
		}
	}
	if e.pass.Facts == nil {
		notes = append(notes, "the compiler's decisions are not available")
	} else {
		_, lacking := e.pass.Facts.Packages()
		for _, pkg := range sortedKeys(lacking) {
			note := fmt.Sprintf("no compiler facts about %s", pkg)
			if why, ok := unread[pkg]; ok && why == lacking[pkg] {
				note += ", and rules that read its syntax were skipped"
				delete(unread, pkg)
			}
			notes = append(notes, note+": "+lacking[pkg])
		}
	}
	for _, pkg := range sortedKeys(unread) {
		notes = append(notes, fmt.Sprintf("rules that read the syntax of %s were skipped: %s", pkg, unread[pkg]))
	}
	return notes
}

func sentence(what, how string) string {
	if how == "" {
		return what
	}
	return what + "; " + strings.TrimSuffix(how, ".")
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
