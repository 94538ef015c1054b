package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// write prints the tables. runs[i] are the runs of study i.
func write(w io.Writer, runs [][]*outcome, duration time.Duration) {
	fmt.Fprint(w, "# The case studies, measured\n\n"+
		"Made by `go run ./tools/cases -w`, a case of it again by `-only` with its letter; do not edit. The programs are those below `examples`;\n"+
		"what must be found in each is the data of `tools/cases/expect.go`.\n\n")
	if len(runs) == 0 || len(runs[0]) == 0 {
		return
	}
	m := runs[0][0].results[0].Manifest
	fmt.Fprintf(w, "%s, %d cores (%s), %s a program, %s. Other processes kept %.1f cores busy on average:\n"+
		"the more, the wider the intervals.\n\n",
		m.Runtime.Go, m.Machine.Cores, m.Machine.CPU, duration, count(len(runs[0]), "run"), others(runs))
	writeCulprits(w, runs)
	writeSilence(w, runs)
	writeBalances(w, runs)
}

// savePage writes the page; of some cases only, it puts their rows instead of those
// that the page has, so that it can be made again case by case.
func savePage(name, page string, chosen []study, whole bool) error {
	if !whole {
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		page = replaceRows(string(old), page, chosen)
	}
	return os.WriteFile(name, []byte(page), 0o644)
}

// again begins the line that tells which cases were measured by themselves.
const again = "Measured again later, alone: case "

// replaceRows returns the old page with the rows of some cases from the new one, in each table,
// and says so above the tables: they are of another time, number of runs and perhaps code.
func replaceRows(old, fresh string, chosen []study) string {
	starts := func(line string) bool {
		return slices.ContainsFunc(chosen, func(s study) bool { return strings.HasPrefix(line, "| "+s.id+" |") })
	}
	rows := map[string][]string{} // by the table's heading
	heading := ""
	for line := range strings.Lines(fresh) {
		if strings.HasPrefix(line, "## ") {
			heading = line
		}
		if starts(line) {
			rows[heading] = append(rows[heading], line)
		}
	}
	var b strings.Builder
	heading = ""
	for line := range strings.Lines(old) {
		if strings.HasPrefix(line, "## ") {
			if heading == "" {
				for _, s := range chosen {
					if note := again + s.id + ".\n\n"; !strings.Contains(old, note) {
						b.WriteString(note)
					}
				}
			}
			heading = line
		}
		if !starts(line) {
			b.WriteString(line)
			continue
		}
		b.WriteString(strings.Join(rows[heading], "")) // at the first of them
		rows[heading] = nil
	}
	return b.String()
}

// others is how many cores the rest of the machine kept busy while the studies ran.
func others(runs [][]*outcome) float64 {
	var manifests []recording.Manifest
	for _, outcomes := range runs {
		for _, o := range outcomes {
			for _, r := range o.results {
				manifests = append(manifests, r.Manifest)
			}
		}
	}
	return othersIn(manifests)
}

// othersIn is how many cores the rest of the machine kept busy in the clean phases of recordings.
func othersIn(manifests []recording.Manifest) float64 {
	var busy, seconds float64
	for _, m := range manifests {
		for _, p := range m.Phases {
			if p.Name == recording.PhaseClean && p.MachineCPUSeconds > 0 {
				busy += p.MachineCPUSeconds - p.CPUSeconds - p.GeneratorCPUSeconds
				seconds += p.Seconds
			}
		}
	}
	if seconds == 0 {
		return 0
	}
	return max(busy, 0) / seconds
}

// writeCulprits prints a row for each culprit. Found is a matter of every part of the
// expectation; ranks leave advice on configuration out.
func writeCulprits(w io.Writer, runs [][]*outcome) {
	fmt.Fprint(w, "## Culprits\n\n"+
		"Found means: rule, function, file, line, module and version are right. The rank is among findings in\n"+
		"code; advice on settings is ranked apart.\n\n"+
		"| case | program | culprit | found | rank | as |\n|---|---|---|---|---|---|\n")
	for _, outcomes := range runs {
		s := outcomes[0].study
		for i, p := range s.programs {
			for j, c := range p.culprits {
				var vs []verdict
				for _, o := range outcomes {
					vs = append(vs, o.verdicts[i][j])
				}
				fmt.Fprintf(w, "| %s | %s | %s | %s |\n", s.id, p.name, c.what, foundCells(vs))
			}
		}
	}
	fmt.Fprintln(w)
}

// foundCells are the cells found, rank and as.
func foundCells(vs []verdict) string {
	var ranks []string
	found, as := 0, ""
	for _, v := range vs {
		if v.finding == nil {
			ranks = append(ranks, "–")
			continue
		}
		found++
		ranks = append(ranks, strconv.Itoa(v.rank))
		as = describe(v)
	}
	if found == 0 {
		as = "expected " + strings.Join(vs[0].culprit.rules, " or ")
		if near := vs[0].near; near != "" {
			as += "; the function has " + near
		}
	}
	return fmt.Sprintf("%d of %d | %s | %s", found, len(vs), strings.Join(ranks, ", "), as)
}

// describe names a finding: rule, function, line, and the version of a dependency.
func describe(v verdict) string {
	f := v.finding
	if v.also != nil {
		f = v.also
	}
	if f.Function == "" {
		return "`" + f.Rule + "`"
	}
	line := f.Line
	for _, s := range f.Sites {
		if v.culprit.source != "" && strings.Contains(s.Source, v.culprit.source) {
			line = s.Line
			break
		}
	}
	text := fmt.Sprintf("`%s` in `%s`, %s:%d", f.Rule, f.Function, f.File, line)
	if v.also != nil {
		text += ", listed with `" + v.finding.Rule + "`"
	}
	if f.Version != "" {
		text += fmt.Sprintf(", %s@%s", f.Module, f.Version)
	}
	return text
}

// writeSilence prints what is said of programs in which there is nothing to find.
func writeSilence(w io.Writer, runs [][]*outcome) {
	fmt.Fprint(w, "## Silence\n\n"+
		"Findings of the same rules that are no culprit of the program; there should be none.\n\n"+
		"| case | program | silent | else |\n|---|---|---|---|\n")
	for _, outcomes := range runs {
		s := outcomes[0].study
		for i, p := range s.programs {
			silent := 0
			var said []string
			for _, o := range outcomes {
				if len(o.accused[i]) == 0 {
					silent++
				}
				said = append(said, o.accused[i]...)
			}
			fmt.Fprintf(w, "| %s | %s | %d of %d | %s |\n", s.id, p.name, silent, len(outcomes), strings.Join(said, "; "))
		}
	}
	fmt.Fprintln(w)
}

// writeBalances prints promises beside facts.
func writeBalances(w io.Writer, runs [][]*outcome) {
	fmt.Fprintf(w, "## Promised and measured\n\n"+
		"Promised: what the culprits that were found save together; of a setting of the collector, what was\n"+
		"foreseen and what the recording tried, weighed by their intervals. Measured: what the repaired program\n"+
		"spends less, per request or run, of CPU or of wall time, in pairs of processes (services are loaded\n"+
		"alternately, for %.0f s) whose scatter gives the interval; and of it what the culprits' own lines spend less, with\n"+
		"what they call in other modules.\n"+
		"Covered: promise and fact have a value in common, and neither is wider than %.0f points.\n\n"+
		"| case | repair | of | promised | measured, program | measured, lines | covered |\n|---|---|---|---|---|---|---|\n", turn.Seconds(), 100*widest)
	for _, outcomes := range runs {
		for _, o := range outcomes {
			for i, r := range o.study.repairs {
				b := o.balances[i]
				fmt.Fprintf(w, "| %s | %s → %s | %s | %s | %s | %s | %s |\n",
					o.study.id, r.before, r.after, b.metric, percent(b.promised), percent(b.measured), b.linesCell(), b.coveredCell())
			}
		}
	}
}

func (b balance) linesCell() string {
	if b.lines == (stats.Interval{}) {
		return "–"
	}
	return percent(b.lines)
}

// coveredCell answers for the whole program, and where that fails for the lines.
func (b balance) coveredCell() string {
	switch {
	case b.promised == (stats.Interval{}):
		return "nothing promised"
	case !covers(b.promised, b.measured) && b.lines != (stats.Interval{}) && covers(b.promised, b.lines):
		return "the lines, not the program"
	case !covers(b.promised, b.measured):
		return "no"
	case wide(b.measured):
		return "cannot tell: measured too widely"
	case wide(b.promised):
		return "yes, but promised too widely"
	}
	return "yes"
}

// percent writes an interval of shares.
func percent(i stats.Interval) string {
	if i == (stats.Interval{}) {
		return "–"
	}
	text := fmt.Sprintf("%.0f %%", 100*i.Value)
	switch {
	case !(math.Abs(i.Low) < 10 && math.Abs(i.High) < 10):
		return text + " (no bounds)"
	case i.Low == i.High:
		return text
	}
	return fmt.Sprintf("%s (%.0f to %.0f)", text, 100*i.Low, 100*i.High)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
