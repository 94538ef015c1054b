package render

import (
	"cmp"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/screen"
)

// Bench draws the results of benchmarks, with a verdict per metric if there are two sides.
func Bench(w io.Writer, r *bench.Result, s Style) {
	fmt.Fprintln(w, s.paint(faint, screen.Line(benchHead(r))))
	fmt.Fprintln(w)
	var rows [][]string
	if r.Against != "" || r.Files != nil {
		rows = append(rows, paintAll(s, "", "old", "new", "change", "95 %", "runs", ""))
	} else {
		rows = append(rows, paintAll(s, "", "median", "95 % of the mean", "runs"))
	}
	pkg, in := "", ""
	for _, b := range r.Benchmarks {
		if b.Table != in {
			in, pkg = b.Table, ""
			rows = append(rows, []string{""}, []string{s.paint(strong, screen.Line(in))})
		}
		if b.Package != pkg {
			pkg = b.Package
			rows = append(rows, []string{s.paint(faint, pkg)})
		}
		rows = append(rows, []string{s.paint(strong, strings.TrimPrefix(b.Name, "Benchmark"))})
		for _, row := range b.Rows {
			rows = append(rows, benchRow(row, s))
		}
	}
	for i, g := range r.Geomeans {
		if i == 0 || g.Table != r.Geomeans[i-1].Table {
			rows = append(rows, []string{""}, []string{s.paint(strong, strings.TrimSpace("geometric mean "+screen.Line(g.Table)))})
		}
		name, _ := benchUnit(g.Unit)
		rows = append(rows, []string{"  " + name, "", "", change(g.Ratio), s.paint(faint, fmt.Sprintf("of %d", g.Benchmarks))})
	}
	for _, line := range table(rows, "   ", 1, 2, 3, 4, 5) {
		fmt.Fprintln(w, line)
	}
	for _, b := range r.Benchmarks {
		for i, g := range b.Grown {
			if i == 0 {
				fmt.Fprintf(w, "\n%s costs more in these functions:\n", s.paint(strong, screen.Line(strings.TrimPrefix(b.Name, "Benchmark"))))
			}
			fmt.Fprintln(w, "  "+grownText(g))
		}
		benchFindings(w, b, s)
	}
	for _, n := range benchNotes(r) {
		fmt.Fprintln(w, s.paint(faint, "note: ")+wrap(n, "      ", s.width()))
	}
}

// benchGroup returns the heading of a benchmark: its table, if there are several, and its package.
func benchGroup(b bench.Benchmark) string { return strings.TrimSpace(b.Table + " " + b.Package) }

// benchFindings lists the findings of a benchmark: the new ones if it regressed, otherwise those of
// its recording.
func benchFindings(w io.Writer, b bench.Benchmark, s Style) {
	for i, f := range b.Findings {
		if i == 0 {
			head := " has findings"
			if f.New {
				head = " has findings that the old side does not have"
			}
			fmt.Fprintf(w, "\n%s%s\n", s.paint(strong, screen.Line(strings.TrimPrefix(b.Name, "Benchmark"))), head)
		}
		fmt.Fprintln(w, "  "+screen.Line(fmt.Sprintf("%s  %s:%d  %s", f.Rule, f.File, f.Line, f.Title)))
		fmt.Fprintln(w, "    "+wrap(f.Fix, "    ", s.width()))
	}
	if b.Recording != "" {
		fmt.Fprintln(w, s.paint(faint, "  hone findings "+screen.Line(b.Recording)))
	}
}

// benchHead describes the measurement or comparison.
func benchHead(r *bench.Result) string {
	if f := r.Files; f != nil {
		head := "old: " + strings.Join(f.Old, ", ") + " · new: " + strings.Join(f.New, ", ")
		if f.Column != "" {
			head = f.Column + " · " + head
		}
		return head
	}
	head := fmt.Sprintf("%s · %d processors · %s", r.Go, r.CPUs, seconds(r.Seconds))
	switch r.Against {
	case "":
	case bench.Self:
		head += " · old and new: the same tree"
	default:
		tree := "the working tree"
		if r.Tree != "" {
			tree = refText(r.Tree, r.TreeCommit)
		}
		head += fmt.Sprintf(" · old: %s, new: %s", refText(r.Against, r.Commit), tree)
	}
	return head
}

// refText returns a ref with its commit, unless it is the commit.
func refText(ref, commit string) string {
	if ref == commit {
		return fmt.Sprintf("%.12s", commit)
	}
	return fmt.Sprintf("%s (%.12s)", ref, commit)
}

func paintAll(s Style, words ...string) []string {
	for i, word := range words {
		if word != "" {
			words[i] = s.paint(faint, word)
		}
	}
	return words
}

func benchRow(row bench.Row, s Style) []string {
	name, value := historyUnit(row.Unit)
	if row.Old == nil {
		return []string{"  " + name, value(row.New), s.paint(faint, benchBounds(row, value)), s.paint(faint, fmt.Sprint(row.N[1]))}
	}
	moved := ""
	if row.Ratio != nil {
		moved = change(*row.Ratio)
	}
	text := verdict(row.Verdict, s)
	if row.More > 0 {
		text += s.paint(faint, ", "+moreRuns(row.More))
	} else if row.Allowed != "" {
		text += s.paint(faint, ", allowed: "+screen.Line(row.Allowed))
	} else if row.Why != "" {
		text += s.paint(faint, ", "+screen.Line(row.Why))
	}
	return []string{"  " + name, value(*row.Old), value(row.New), s.paint(strong, moved), s.paint(faint, benchBounds(row, nil)),
		s.paint(faint, runsText(row.N)), text}
}

// moreRuns says how many more runs per side would decide a row; beyond a thousand, no budget is
// large enough.
func moreRuns(n int) string {
	if n > 1000 {
		return "more than 1,000 more runs"
	}
	return fmt.Sprintf("about %d more runs", n)
}

func runsText(n [2]int) string {
	if n[0] == n[1] {
		return fmt.Sprint(n[0])
	}
	return fmt.Sprintf("%d+%d", n[0], n[1])
}

// benchBounds returns the interval of the change or, if value is not nil, of the mean.
func benchBounds(row bench.Row, value func(float64) string) string {
	switch {
	case row.Exact:
		return "exact"
	case row.Low == nil || row.High == nil:
		return ""
	case value != nil:
		return value(*row.Low) + " to " + value(*row.High)
	}
	return change(*row.Low) + " to " + change(*row.High)
}

// benchUnit returns the name of a metric and the function that formats its values.
func benchUnit(unit string) (string, func(float64) string) {
	nanoseconds := func(x float64) string { return seconds(x / 1e9) }
	switch unit {
	case "ns/op":
		return "time", nanoseconds
	case "cpu-ns/op":
		return "CPU", nanoseconds
	case "instrs/op":
		return "instructions", func(x float64) string { return fmt.Sprintf("%.6g", x) }
	case "B/op":
		return "bytes", size
	case "allocs/op":
		return "allocations", func(x float64) string { return fmt.Sprintf("%.4g", x) }
	}
	return unit, plainNumber
}

// plainNumber formats a number with at least four digits, without an exponent below 10^15.
func plainNumber(x float64) string {
	if abs := math.Abs(x); abs >= 1e4 && abs < 1e15 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

// grownText returns a text such as "main.Join  lib.go:12  CPU 1.2 µs → 1.4 µs; changed: lib.go:9 in
// main.List".
func grownText(g bench.Grown) string {
	name, value := benchUnit(g.Unit)
	text := fmt.Sprintf("%s  %s:%d  ", g.Function, g.File, g.Line)
	if g.Unsure {
		text += fmt.Sprintf("has the most %s: %s; the profiles do not show which function grew", name, value(g.New))
	} else {
		text += fmt.Sprintf("%s %s → %s", name, value(g.Old), value(g.New))
	}
	if c := g.Changed; c != nil {
		text += fmt.Sprintf("; changed: %s:%d", c.File, c.Line)
		if c.Function != g.Function {
			text += " in " + c.Function
		}
	}
	return screen.Line(text)
}

// benchNotes returns the result's notes, and which benchmarks only one side has.
func benchNotes(r *bench.Result) []string {
	notes := r.Notes
	for _, side := range []struct {
		names []string
		what  string
	}{{r.OnlyOld, "only the old side has "}, {r.OnlyNew, "only the new side has "}} {
		if len(side.names) > 0 {
			notes = append(notes, side.what+strings.Join(side.names, ", "))
		}
	}
	return notes
}

// BenchLines writes the samples in the format of package testing, one line per process, for other
// tools. The configuration key "side" is old or new: benchstat -col side.
func BenchLines(w io.Writer, r *bench.Result) {
	for i, side := range []string{"old", "new"} {
		for _, b := range r.Benchmarks {
			samples := b.New
			if i == 0 {
				samples = b.Old
			}
			if len(samples) == 0 {
				continue
			}
			fmt.Fprintf(w, "pkg: %s\nside: %s\nprocess: line\n", screen.Line(b.Package), side)
			for _, sample := range samples {
				fmt.Fprintf(w, "%s %d", screen.Line(b.Name), b.Iterations)
				for _, row := range b.Rows {
					if v, ok := sample.Values[row.Unit]; ok {
						fmt.Fprintf(w, " %.10g %s", v, screen.Line(row.Unit))
					}
				}
				fmt.Fprintln(w)
			}
		}
	}
}

// BenchMarkdown writes a comparison for a pull request: the changes in a table, everything else in
// a sentence.
func BenchMarkdown(w io.Writer, r *bench.Result) {
	count := map[compare.Verdict]int{}
	allowed := 0
	var changed [][]string
	for _, b := range r.Benchmarks {
		for _, row := range b.Rows {
			count[row.Verdict]++
			if row.Allowed != "" {
				allowed++
			}
			if row.Verdict != compare.Better && row.Verdict != compare.Worse || row.Old == nil {
				continue
			}
			name, value := historyUnit(row.Unit)
			moved := ""
			if row.Ratio != nil {
				moved = change(*row.Ratio)
			}
			changed = append(changed, []string{markdownCell(benchGroup(b)), markdownCell(strings.TrimPrefix(b.Name, "Benchmark")), name,
				value(*row.Old), value(row.New), moved, benchBounds(row, nil), gateVerdict(row)})
		}
	}
	against := r.Against
	if r.Files != nil {
		against = strings.Join(r.Files.Old, ", ")
	}
	worse := fmt.Sprintf("%d worse", count[compare.Worse])
	if allowed > 0 {
		worse += fmt.Sprintf(" (%d allowed)", allowed)
	}
	fmt.Fprintf(w, "**Benchmarks against %s**: %s, %d better, %d the same, %d unknown.\n", markdownCell(against),
		worse, count[compare.Better], count[compare.Same], count[compare.Unknown])
	if len(changed) > 0 {
		fmt.Fprint(w, "\n| package | benchmark | metric | old | new | change | 95 % | |\n|---|---|---|--:|--:|--:|--:|---|\n")
		for _, cells := range changed {
			fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	for _, b := range r.Benchmarks {
		for _, g := range b.Grown {
			fmt.Fprintf(w, "\n- %s: %s\n", markdownCell(strings.TrimPrefix(b.Name, "Benchmark")), markdownCell(grownText(g)))
		}
		for _, f := range b.Findings {
			if f.New {
				fmt.Fprintf(w, "\n- %s, a new finding: %s: %s\n", markdownCell(strings.TrimPrefix(b.Name, "Benchmark")),
					markdownCell(fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Rule)), markdownText(f.Title+". "+f.Fix))
			}
		}
	}
	if r.Files == nil {
		fmt.Fprintf(w, "\n%s, %d processors; one process per run, interleaved; a change was found in two sets of runs.\n", screen.Line(r.Go), r.CPUs)
	}
	for _, n := range benchNotes(r) {
		fmt.Fprintf(w, "\nNote: %s\n", screen.Line(n))
	}
}

// gateVerdict returns the verdict on a row as Markdown, with the reason why a regression is
// allowed.
func gateVerdict(row bench.Row) string {
	if row.Allowed != "" {
		return fmt.Sprintf("%s, allowed: %s", row.Verdict, markdownText(row.Allowed))
	}
	return string(row.Verdict)
}

// markdownText escapes text from outside, so that it contains no markup or links.
func markdownText(text string) string {
	return strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "<", "&lt;", "|", "\\|", "#", "\\#", "!", "\\!").Replace(screen.Line(text))
}

func markdownCell(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.NewReplacer("|", "\\|", "`", "'").Replace(screen.Line(text)) + "`"
}

// BenchCSV writes a comparison as CSV: one line per metric of each benchmark, with values in its
// unit.
func BenchCSV(w io.Writer, r *bench.Result) error {
	c := csv.NewWriter(w)
	c.Write([]string{"package", "benchmark", "unit", "old", "new", "ratio", "low", "high", "old_runs", "new_runs", "verdict"})
	number := func(x *float64) string {
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'g', -1, 64)
	}
	for _, b := range r.Benchmarks {
		for _, row := range b.Rows {
			c.Write([]string{benchGroup(b), b.Name, row.Unit, number(row.Old), number(&row.New), number(row.Ratio), number(row.Low), number(row.High),
				strconv.Itoa(row.N[0]), strconv.Itoa(row.N[1]), string(row.Verdict)})
		}
	}
	c.Flush()
	return c.Error()
}

// BenchJUnit writes a comparison as a JUnit test report: one case per benchmark, which fails if a
// metric regressed and that is not allowed. The output of the case has all metrics.
func BenchJUnit(w io.Writer, r *bench.Result) error {
	type failure struct {
		Message string `xml:"message,attr"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure,omitempty"`
		Out     string   `xml:"system-out,omitempty"`
	}
	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []testcase `xml:"testcase"`
	}{Name: "hone gate", Tests: len(r.Benchmarks)}
	if r.Files != nil {
		suite.Name = "hone compare"
	}
	for _, b := range r.Benchmarks {
		c := testcase{Class: cmp.Or(benchGroup(b), suite.Name), Name: b.Name}
		var worse, all []string
		for _, row := range b.Rows {
			if row.Old == nil {
				continue
			}
			name, value := historyUnit(row.Unit)
			text := fmt.Sprintf("%s %s → %s (%s)", name, value(*row.Old), value(row.New), benchBounds(row, nil))
			if row.Verdict == compare.Worse && row.Allowed == "" {
				worse = append(worse, text)
			}
			text += ": " + string(row.Verdict)
			switch {
			case row.More > 0:
				text += ", " + moreRuns(row.More)
			case row.Allowed != "":
				text += ", allowed: " + row.Allowed
			case row.Why != "":
				text += ", " + row.Why
			}
			all = append(all, text)
		}
		for _, g := range b.Grown {
			all = append(all, "costs more in "+grownText(g))
		}
		c.Out = strings.Join(all, "\n")
		if len(worse) > 0 {
			c.Failure = &failure{strings.Join(worse, "; ")}
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "\t")
	if err := enc.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
