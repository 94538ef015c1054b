package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// condition is what else the machine does while programs are recorded and measured.
type condition struct {
	name    string // of files
	heading string // of its part of the page
	loops   int    // busy loops in the background
}

// conditions returns the conditions of docs/promises.md, in its order.
func conditions() []condition {
	return []condition{
		{"quiet", "On a quiet machine", 0},
		{"busy", "Beside two busy loops", 2},
	}
}

// pledgeTable holds the results under one condition.
type pledgeTable struct {
	condition condition
	machine   recording.Manifest // of one of the recordings
	duration  time.Duration
	processes [2]int  // fewest and most processes of a build
	others    float64 // cores that other processes kept busy in the clean phases, including the busy loops
	singles   []pledge
	together  []pledge
	failed    []string // programs without rows, and why
}

// section prints the part of the page for one condition.
func (t *pledgeTable) section(w io.Writer) {
	fmt.Fprintf(w, "## %s\n\n", t.condition.heading)
	m := t.machine
	fmt.Fprintf(w, "%s, %d cores (%s), %s per recording, %d to %d processes of each build measured. Other processes kept %.1f cores busy on average.\n\n",
		m.Runtime.Go, m.Machine.Cores, m.Machine.CPU, t.duration, t.processes[0], t.processes[1], t.others)
	fmt.Fprintf(w, "**%s**\n\n", tally(t.singles))
	fmt.Fprint(w, "| program | repair | found as | of | promised | measured | kept |\n|---|---|---|---|---|---|---|\n")
	for _, p := range t.singles {
		p.row(w)
	}
	if len(t.together) > 0 {
		fmt.Fprintf(w, "\nAll repairs of a program together. %s\n\n", tally(t.together))
		fmt.Fprint(w, "| program | repair | found as | of | promised | measured | kept |\n|---|---|---|---|---|---|---|\n")
		for _, p := range t.together {
			p.row(w)
		}
	}
	for _, why := range t.failed {
		fmt.Fprintf(w, "\nNot measured: %s\n", why)
	}
	fmt.Fprintln(w)
}

// row prints a row of the table.
func (p pledge) row(w io.Writer) {
	promised := "–"
	if p.promised != nil {
		promised = percent(*p.promised)
	}
	measured := percent(p.fact)
	if p.median != nil {
		measured += fmt.Sprintf("; median %.0f %%", 100**p.median)
	}
	as := "–"
	switch f := p.verdict.finding; {
	case p.repair == "all":
	case p.verdict.also != nil:
		as = fmt.Sprintf("`%s`, listed with `%s`", p.verdict.also.Rule, f.Rule)
	case f != nil:
		as = fmt.Sprintf("%d. `%s`", p.verdict.rank, f.Rule)
	default:
		as = "expected `" + strings.Join(p.verdict.culprit.rules, "` or `") + "`"
		if p.verdict.near != "" {
			as += "; the function has " + p.verdict.near
		}
	}
	of := p.metric
	if of == "wall" {
		of = "mean latency"
	}
	fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", p.program, p.repair, as, of, promised, measured, p.outcome())
}

// tally counts the outcomes, and summarizes the widths of predictions and measurements.
func tally(rows []pledge) string {
	counts := map[string]int{}
	var promises, facts []float64
	for _, p := range rows {
		counts[p.outcome()]++
		if p.promised != nil {
			promises = append(promises, p.promised.High-p.promised.Low)
		}
		if p.fact.Known() {
			facts = append(facts, p.fact.High-p.fact.Low)
		}
	}
	text := fmt.Sprintf("Kept: %d of %d", counts[kept], len(rows))
	if len(rows) > 0 {
		text += fmt.Sprintf(" (%.0f %%)", 100*float64(counts[kept])/float64(len(rows)))
	}
	for _, c := range []struct{ outcome, words string }{
		{tooHigh, "promised too much"}, {tooLow, "promised too little"}, {notFound, "not found"},
		{unpromised, "without a promise"}, {factUnknown, "measured too widely to say"},
	} {
		if n := counts[c.outcome]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, c.words)
		}
	}
	if len(promises) > 0 && len(facts) > 0 {
		text += fmt.Sprintf(". Half of the promises are at most %.0f points wide, half of the measurements %.0f",
			100*stats.Median(promises), 100*stats.Median(facts))
	}
	return text + "."
}

const pledgeIntro = `# Predicted and measured savings

Made by ` + "`go run ./tools/cases -promises -w`, and with `-busy`" + ` the second part; do not edit. The
programs are those below ` + "`examples/promises`" + `, written for this: each has one to four mistakes, and a
build tag repairs each of them separately.

*Promised* is the saving that the finding predicts in a recording of the unchanged program, in
percent of the program's CPU per request or run, or of the mean latency at eight connections
in a closed loop. *Measured* is how much less a build with only that repair spends, without profiles: processes
of all builds of a program run interleaved, each build with its functions in four random orders, and the scatter of their ratios gives the 95 % interval.
A promise is kept if its interval overlaps the measured one, and the measured interval is at most 10
points wide.

`

// saveSection writes the section of one condition into a page, and keeps the other one.
func saveSection(name string, c condition, section string) error {
	old, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(name, []byte(withSection(string(old), c, section)), 0o644)
}

// withSection returns the page with a new section for one condition.
func withSection(old string, c condition, section string) string {
	page := pledgeIntro
	for _, other := range conditions() {
		if other.name == c.name {
			page += strings.TrimRight(section, "\n") + "\n\n"
			continue
		}
		if _, rest, ok := strings.Cut(old, "## "+other.heading+"\n"); ok {
			rest, _, _ = strings.Cut(rest, "\n## ")
			page += "## " + other.heading + "\n" + strings.TrimRight(rest, "\n") + "\n\n"
		}
	}
	return strings.TrimRight(page, "\n") + "\n"
}

// conditionOf returns the condition that the flag -busy selects.
func conditionOf(busy bool) condition {
	all := conditions()
	return all[slices.IndexFunc(all, func(c condition) bool { return (c.loops > 0) == busy })]
}
