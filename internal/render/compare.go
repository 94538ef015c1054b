package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/stats"
)

// Comparison draws the page of `hone compare`: one row per metric, verdict last.
func Comparison(w io.Writer, c *compare.Comparison, s Style) {
	rows := [][]string{{"", s.paint(faint, sideName(c.Old, "old")), s.paint(faint, sideName(c.New, "new")), s.paint(faint, "change"),
		s.paint(faint, "95 %"), s.paint(faint, "±"), ""}}
	bench := ""
	for _, r := range c.Rows {
		unit, per := unitOf(r.Unit)
		name := r.Metric
		switch {
		case per == "operation":
			if r.Name != bench {
				bench = r.Name
				rows = append(rows, []string{s.paint(strong, bench)})
			}
			name = "  " + name
		case per != "":
			name += " / " + per
		}
		moved := "new"
		switch {
		case r.Ratio != nil:
			moved = change(*r.Ratio)
		case r.New == r.Old:
			moved = change(1)
		}
		rows = append(rows, []string{name, unit(r.Old), unit(r.New), s.paint(strong, moved), s.paint(faint, bounds(r)), s.paint(faint, floor(r)), verdict(r.Verdict, s)})
	}
	for _, line := range table(rows, "   ", 1, 2, 3, 4, 5) {
		fmt.Fprintln(w, line)
	}
	for _, n := range c.Notes {
		fmt.Fprintln(w, s.paint(faint, "note: ")+wrap(n, "      ", s.width()))
	}
}

// sideName returns the name of a side's only recording; several names would be too wide for a
// column.
func sideName(names, side string) string {
	if strings.Contains(names, ", ") {
		return side
	}
	return names
}

// bounds returns the interval of the change.
func bounds(r compare.Row) string {
	switch {
	case r.Exact:
		return "exact"
	case r.Low == nil || r.High == nil:
		return ""
	}
	return change(*r.Low) + " to " + change(*r.High)
}

// floor returns the smallest change that gets a verdict, if the row can have one.
func floor(r compare.Row) string {
	if r.Floor <= 0 || r.Why != "" {
		return ""
	}
	if r.Floor+1 >= manyTimes {
		return change(r.Floor + 1)
	}
	return percent(r.Floor)
}

// unitOf returns how to format values of a metric's unit, and what they are divided by.
func unitOf(unit string) (func(float64) string, string) {
	base, per, _ := strings.Cut(unit, "/")
	if strings.HasSuffix(unit, "s/s") { // requests/s
		return func(x float64) string { return group(x) + "/s" }, ""
	}
	switch base {
	case "s":
		return seconds, per
	case "B":
		return size, per
	case "share":
		return percent, per
	case "objects":
		if per == "operation" {
			return func(x float64) string { return fmt.Sprintf("%.4g", x) }, per // mostly whole numbers
		}
	}
	return significant, per
}

// change formats a ratio as a change: −45 %, +12 %, ×7.2.
func change(ratio float64) string {
	if ratio >= manyTimes {
		return "×" + significant(ratio)
	}
	return signedPercent(ratio - 1)
}

// manyTimes is the ratio above which a factor is easier to read than a percentage.
const manyTimes = 4

func verdict(v compare.Verdict, s Style) string {
	switch v {
	case compare.Better:
		return s.paint(good, "better")
	case compare.Worse:
		return s.paint(bad, "worse")
	case compare.Same:
		return "same"
	}
	return s.paint(faint, "unknown")
}

// Proof draws predicted savings beside the measured ones.
func Proof(w io.Writer, p compare.Proof, c *compare.Comparison, s Style) {
	rows := [][]string{{s.paint(faint, "CPU saved, share of old CPU"), s.paint(faint, "predicted"), s.paint(faint, "measured"), ""}}
	for _, f := range p.Functions {
		rows = append(rows, []string{f.Function, interval(f.Predicted), interval(f.Measured), s.paint(faint, strings.Join(f.Rules, ", "))})
	}
	rows = append(rows, []string{"everything else", "", percent(p.Rest), s.paint(faint, "connections, scheduler, garbage collector, other changes")})
	for _, r := range c.Rows {
		if r.Metric != "cpu" || r.Ratio == nil {
			continue
		}
		measured := stats.Interval{Value: 1 - *r.Ratio, Low: 1 - *r.Ratio, High: 1 - *r.Ratio}
		if r.Low != nil && r.High != nil {
			measured.Low, measured.High = 1-*r.High, 1-*r.Low
		}
		rows = append(rows, []string{s.paint(strong, "all together"), interval(p.Predicted), interval(measured), s.paint(faint, "CPU per request, whole program")})
	}
	for _, line := range table(rows, "   ", 1, 2) {
		fmt.Fprintln(w, line)
	}
}

func interval(i stats.Interval) string {
	if i.Low == i.High {
		return percent(i.Value)
	}
	return fmt.Sprintf("%s (%s)", percent(i.Value), span(i.Low, i.High))
}
