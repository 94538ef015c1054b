package compare

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

// doubt says why figures get no verdict, whatever their intervals; "" if they get one.
type doubt struct {
	all   string // every figure
	times string // CPU time, wall time, latency, throughput
	load  string // those of times that the load generator measures
}

func (d doubt) why(k kind) string {
	switch k {
	case allocated, memory:
		return d.all
	case cpuTime, collector, lockWait:
		return cmp.Or(d.all, d.times)
	}
	return cmp.Or(d.all, d.times, d.load)
}

const (
	// keptUp is the largest relative difference between requested and answered rate; beyond it, the
	// backlog is measured instead of the service.
	keptUp = 0.05
	// alike is the largest difference between the shares of failed requests: a failed request has a
	// different cost.
	alike = 0.01
)

// doubts collects the doubts about all recordings.
func doubts(sides [2]side, found []Difference, force bool) doubt {
	var d doubt
	least, most := 1.0, 0.0
	for _, s := range sides {
		for _, r := range s.runs {
			p, m := r.clean, r.Manifest
			if rate, answered := asked(m, p); rate > 0 && math.Abs(answered/rate-1) > keptUp {
				d.all = fmt.Sprintf("%s answered %.0f of %.0f requests/s: the backlog was measured, not the service", r.Name, answered, rate)
			}
			if m.Load == nil && len(p.Benchmarks) == 0 && p.Runs == 0 {
				d.all = "without -load the requests to the service are unknown"
				if m.Target.LoadCommand != "" {
					d.all = "hone does not see the requests of a load command: only -load counts them"
				}
			}
			if p.Verdict == load.VerdictLimited {
				d.load = fmt.Sprintf("the load generator was the limit in %s: throughput and latency are its own", r.Name)
			}
			failed := 0.0
			if p.Requests > 0 {
				failed = float64(p.Failed) / float64(p.Requests)
			}
			least, most = math.Min(least, failed), math.Max(most, failed)
		}
	}
	if most-least > alike {
		d.all = fmt.Sprintf("between %.0f %% and %.0f %% of the requests failed: answers and errors cost differently", 100*least, 100*most)
	}
	for _, f := range found {
		if f.Effect == effectTimes && !force {
			d.times = fmt.Sprintf("they ran on different machines (%s)", f)
		}
	}
	return d
}

// asked returns the request rate of a load, 0 for a closed loop, and the rate of responses.
func asked(m recording.Manifest, p recording.Phase) (rate, answered float64) {
	if m.Load == nil || m.Load.Rate <= 0 || p.Seconds <= 0 {
		return 0, 0
	}
	return m.Load.Rate, float64(p.Requests) / p.Seconds
}

// notes returns what a reader of the table needs to know.
func (c *Comparison) notes(sides [2]side, inTurns bool) []string {
	var notes []string
	say := func(text string) {
		for _, n := range notes {
			if n == text {
				return
			}
		}
		if text != "" {
			notes = append(notes, text)
		}
	}
	for _, d := range c.Differences {
		switch d.Effect {
		case effectRefused:
			say("compared because of -force, although they do not measure the same: " + d.String())
		default:
			say("they differ in " + d.String())
		}
	}
	if len(c.OnlyOld) > 0 {
		say("only on the old side, not compared: " + some(c.OnlyOld))
	}
	if len(c.OnlyNew) > 0 {
		say("only on the new side, not compared: " + some(c.OnlyNew))
	}
	for _, r := range c.Rows {
		if r.Why != "" {
			say("no verdict on " + c.withWhy(r.Why) + ": " + r.Why)
		}
	}
	say(c.floorNote(sides, inTurns))
	for _, note := range disturbances(sides) {
		say(note)
	}
	if n := len(sides[0].runs) + len(sides[1].runs); n > 2 && !interleaved(sides) {
		say("all recordings of one side are older than those of the other: a change in the machine's speed would look like a change of the program; record them alternately")
	}
	return notes
}

// withWhy names the metrics that have no verdict for a reason.
func (c *Comparison) withWhy(why string) string {
	var names []string
	seen := map[string]bool{}
	for _, r := range c.Rows {
		if r.Why == why && !seen[r.Metric] {
			seen[r.Metric] = true
			names = append(names, r.Metric)
		}
	}
	return strings.Join(names, ", ")
}

// floorNote says how much recordings are expected to differ, how that is known, and what narrows
// it.
func (c *Comparison) floorNote(sides [2]side, inTurns bool) string {
	n, m := len(sides[0].runs), len(sides[1].runs)
	if inTurns && min(n, m) >= fewInTurns {
		return ""
	}
	if n > 1 && m > 1 {
		return fmt.Sprintf("±: the smallest change that gets a verdict, from the differences between the %d recordings and hone's measurements on other machines", n+m)
	}
	if c.allExact() {
		return ""
	}
	return "±: the smallest change that gets a verdict. One recording per side does not show how much runs differ, so hone assumes what it measured on a virtual machine with 2 cores, " +
		"and more where other processes were busy. To detect smaller changes, record three per side, alternating: hone compare -old a1.hone -old a2.hone -old a3.hone -new b1.hone -new b2.hone -new b3.hone"
}

func (c *Comparison) allExact() bool {
	for _, r := range c.Rows {
		if !r.Exact {
			return false
		}
	}
	return true
}

// worthSaying is the share of the machine's cores above which other processes are mentioned.
const worthSaying = 0.10

// mostDisturbed is the largest number of disturbed recordings that are described one by one.
const mostDisturbed = 2

// disturbances describes what other processes did to the recordings: one sentence for each or, if
// there are many, one for all.
func disturbances(sides [2]side) []string {
	var notes []string
	least, most, all := math.Inf(1), 0.0, 0
	for _, s := range sides {
		for _, r := range s.runs {
			all++
			if text := r.disturbed(); text != "" {
				notes = append(notes, text)
				least, most = math.Min(least, r.shared.others), math.Max(most, r.shared.others)
			}
		}
	}
	if len(notes) <= mostDisturbed {
		return notes
	}
	return []string{fmt.Sprintf("%d of the %d recordings were disturbed: other processes kept %.1f to %.1f of %.0f cores busy, or a CPU quota held them back; their times are less precise",
		len(notes), all, least, most, sides[0].runs[0].shared.cores)}
}

// disturbed describes what other processes did to a recording, or returns "" if it was little.
func (r run) disturbed() string {
	s := r.shared
	switch {
	case !s.known:
		return "this machine does not report how busy other processes kept it"
	case s.taken() < worthSaying && s.held < worthSaying:
		return ""
	case s.held >= worthSaying:
		return fmt.Sprintf("a CPU quota held %s back for %.0f %% of the time", r.Name, 100*s.held)
	}
	text := fmt.Sprintf("other processes kept %.1f of %.0f cores busy during %s", s.others, s.cores, r.Name)
	if s.stolen >= worthSaying*s.cores {
		text += fmt.Sprintf(" (%.1f of them by the hypervisor)", s.stolen)
	}
	return text + ": its times are less precise"
}
