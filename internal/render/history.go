package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/history"
	"github.com/hone-go/hone/internal/screen"
)

// Schemas of the history's pages.
const (
	HistoryListSchema   = "hone/runs/v1"
	HistoryTracksSchema = "hone/tracks/v1"
)

// HistoryList is a list of runs, oldest first.
type HistoryList struct {
	Schema string           `json:"schema"`
	Runs   []history.Listed `json:"runs"`
}

// HistoryTracks is a list of series with their changes.
type HistoryTracks struct {
	Schema string          `json:"schema"`
	Tracks []history.Track `json:"tracks"`
}

// History lists runs.
func History(w io.Writer, p HistoryList, s Style) {
	if len(p.Runs) == 0 {
		fmt.Fprintln(w, "No runs yet. hone bench -history adds its results, hone history add FILE adds files.")
		return
	}
	rows := [][]string{paintAll(s, "run", "commit", "of", "series", "values", "go", "")}
	for _, r := range p.Runs {
		commit := fmt.Sprintf("%.10s", r.Commit)
		if r.Dirty {
			commit += "+"
		}
		rows = append(rows, []string{
			fmt.Sprintf("%.8s", r.ID), commit, r.CommitTime.Format("2006-01-02 15:04"), fmt.Sprint(r.Series), fmt.Sprint(r.Values), r.Go,
			s.paint(faint, firstColumns(strings.Join(nonEmpty(r.Kind, strings.Join(r.Files, " "), r.Subject), " · "), 60)),
		})
	}
	for _, line := range table(rows, "   ", 3, 4) {
		fmt.Fprintln(w, line)
	}
}

func nonEmpty(words ...string) (out []string) {
	for _, word := range words {
		if word != "" {
			out = append(out, word)
		}
	}
	return out
}

// firstColumns shortens a text to most columns.
func firstColumns(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:most-1]) + "…"
}

// Tracks draws series: the latest level of each, and where its level changed.
func Tracks(w io.Writer, p HistoryTracks, s Style) {
	machines := map[string]bool{}
	for _, t := range p.Tracks {
		machines[t.Machine] = true
	}
	pkg, name, machine := "", "", ""
	var rows [][]string
	flush := func() {
		for _, line := range table(rows, "   ", 1) {
			fmt.Fprintln(w, line)
		}
		rows = nil
	}
	for _, t := range p.Tracks {
		if t.Machine != machine && len(machines) > 1 {
			machine = t.Machine
			rows = append(rows, []string{s.paint(faint, "on "+machine)})
		}
		if t.Package != pkg {
			pkg = t.Package
			rows = append(rows, []string{s.paint(faint, pkg)})
		}
		if t.Name != name {
			name = t.Name
			rows = append(rows, []string{s.paint(strong, strings.TrimPrefix(name, "Benchmark"))})
		}
		unit, value := historyUnit(t.Unit)
		if len(t.Points) == 0 {
			continue
		}
		rows = append(rows, []string{"  " + unit, value(t.Points[len(t.Points)-1].Median), spark(t.Points, 24), s.paint(faint, plural(len(t.Points), "run"))})
		for _, step := range t.Steps {
			rows = append(rows, []string{"", "", s.paint(strong, stepChange(step)), stepText(t, step)})
		}
	}
	flush()
}

// historyUnit returns the name and format of a metric in the history: a benchmark's, or a
// recording's such as "cpu s/request".
func historyUnit(unit string) (string, func(float64) string) {
	name, per, ok := strings.Cut(unit, " ")
	if i := strings.LastIndexByte(unit, ' '); ok && i > 0 { // the metric's name may have two words
		name, per = unit[:i], unit[i+1:]
	}
	switch base, rest, _ := strings.Cut(per, "/"); {
	case ok && base == "s" && rest != "":
		return name + " per " + rest, seconds
	case ok && base == "s":
		return name, seconds
	case ok && base == "B":
		return name + " per " + rest, size
	}
	return benchUnit(unit)
}

func stepChange(s history.Step) string {
	if s.Before > 0 {
		return change(s.After / s.Before)
	}
	return "from 0"
}

// stepText returns a text such as "9.8 µs → 11.2 µs  in 3f2a1b4 "message" (2026-11-20)", or names
// the two commits.
func stepText(t history.Track, s history.Step) string {
	_, value := historyUnit(t.Unit)
	text := fmt.Sprintf("%s → %s", value(s.Before), value(s.After))
	switch {
	case s.By == history.ByToolchain:
		text += fmt.Sprintf(" with %s after %s", s.Bad.Go, s.Good.Go)
	case s.Good.Commit == s.Bad.Commit:
		text += fmt.Sprintf(" between two runs of %.10s: not caused by a commit", s.Bad.Commit)
	default:
		text += fmt.Sprintf(" after %.10s, at %.10s", s.Good.Commit, s.Bad.Commit)
		if s.Bad.Subject != "" {
			text += " “" + firstColumns(s.Bad.Subject, 40) + "”"
		}
	}
	text += s.Bad.CommitTime.Format(", 2006-01-02")
	if s.Provisional {
		text += ", provisional"
	}
	return text
}

// spark draws the last points as a sparkline.
func spark(points []history.Point, width int) string {
	points = points[max(0, len(points)-width):]
	low, high := points[0].Median, points[0].Median
	for _, p := range points {
		low, high = min(low, p.Median), max(high, p.Median)
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, p := range points {
		i := 0
		// Values that differ by less than the smallest reported change are drawn at one height.
		if span := max(high-low, 0.05*high); span > 0 {
			i = int((p.Median - low) / span * float64(len(bars)-1))
		}
		b.WriteRune(bars[i])
	}
	return b.String()
}

// Bisection draws the commit that changed a benchmark, and the steps of the search.
func Bisection(w io.Writer, b *bench.Bisection, s Style) {
	unit, _ := benchUnit(b.Unit)
	fmt.Fprintln(w, s.paint(faint, screen.Line(fmt.Sprintf("%s %s · %.12s to %.12s, %s · %s", strings.TrimPrefix(b.Name, "Benchmark"), unit, b.Good, b.Bad,
		plural(b.Commits, "commit"), change(b.Ratio)))))
	fmt.Fprintln(w)
	var rows [][]string
	for _, t := range b.Steps {
		cells := []string{fmt.Sprintf("%.12s", t.Commit), "", "", firstColumns(t.Subject, 50)}
		switch {
		case t.Why != "":
			cells[2] = "not measured: " + firstColumns(t.Why, 60)
		case t.Changed:
			cells[2] = s.paint(strong, "changed")
		default:
			cells[2] = "unchanged"
		}
		if t.Ratio != nil {
			cells[1] = change(*t.Ratio)
		}
		if t.Unsure {
			cells[2] += s.paint(faint, ", uncertain")
		}
		rows = append(rows, cells)
	}
	for _, line := range table(rows, "   ", 1) {
		fmt.Fprintln(w, line)
	}
	if len(rows) > 0 {
		fmt.Fprintln(w)
	}
	switch len(b.Culprits) {
	case 1:
		c := b.Culprits[0]
		fmt.Fprintln(w, s.paint(strong, screen.Line(fmt.Sprintf("%.12s  %s  %s", c.Commit, c.Time.Format("2006-01-02"), c.Subject))))
		if !b.Confirmed {
			fmt.Fprintln(w, wrap("A comparison with the commit before it does not show the change; try a larger -budget.", "", s.width()))
		}
	default:
		fmt.Fprintln(w, wrap(fmt.Sprintf("It is one of %d commits; the others between them could not be measured.", len(b.Culprits)), "", s.width()))
		for _, c := range b.Culprits {
			fmt.Fprintln(w, screen.Line(fmt.Sprintf("  %.12s  %s", c.Commit, c.Subject)))
		}
	}
	if b.Comparison != nil {
		fmt.Fprintln(w)
		Bench(w, b.Comparison, s)
	}
}
