package render

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// mostLines is the number of costs without a known mistake that the page shows: enough to see where
// the rest goes. With -v it shows all.
const mostLines = 6

// split separates the findings of named rules from the costs without a known mistake, which come
// after them.
func split(fs []diagnose.Finding) (named, generic []diagnose.Finding) {
	for i := range fs {
		if fs[i].Generic {
			return fs[:i], fs[i:]
		}
	}
	return fs, nil
}

// otherLines draws the costs without a known mistake, in two or three lines each: lines that are
// expensive although no rule explains them.
func otherLines(w io.Writer, fs []diagnose.Finding, p FindingsPage, s Style) {
	var waiting, costly []diagnose.Finding
	for _, f := range fs {
		if share, _ := generalCost(&f); share == "" {
			waiting = append(waiting, f)
		} else {
			costly = append(costly, f)
		}
	}
	listLines(w, waiting, "Lines where requests wait", "by their part of the requests' time; no rule explains them", p, s)
	listLines(w, costly, "Other expensive lines", "by CPU and the garbage collection that they cause; no rule explains them", p, s)
}

// listLines draws lines under a heading.
func listLines(w io.Writer, fs []diagnose.Finding, heading, by string, p FindingsPage, s Style) {
	if len(fs) == 0 {
		return
	}
	fmt.Fprintln(w, s.paint(strong, heading)+s.paint(faint, "  "+by))
	if p.Verbose {
		fmt.Fprintln(w)
		for i := range fs {
			finding(w, &fs[i], p, s)
		}
		return
	}
	rest := max(0, len(fs)-mostLines)
	var rows [][]string
	for _, f := range fs[:len(fs)-rest] {
		share, bounds := generalCost(&f)
		if share == "" && len(f.Sites) > 0 && f.Sites[0].Share > 0 {
			share = percent(f.Sites[0].Share) // of the requests' time
		}
		rows = append(rows, []string{"    " + share, s.paint(faint, bounds), placeOf(&f) + "  " + s.paint(code, clip(cellSource(&f), 60))})
	}
	lines := table(rows, "  ", 0, 1)
	for i, line := range lines {
		fmt.Fprintln(w, line)
		if more := details(&fs[i], p.Manifest); more != "" {
			const indent = "            "
			for text := range strings.SplitSeq(indent+wrap(more, indent, s.width()), "\n") {
				fmt.Fprintln(w, s.paint(faint, text)) // line by line, because a block would be padded
			}
		}
	}
	if rest > 0 {
		fmt.Fprintln(w, s.paint(faint, "    "+plural(rest, "place")+" more with -v or -json."))
	}
	fmt.Fprintln(w)
}

// generalCost returns the share by which a finding without a known mistake is ranked, with its
// interval.
func generalCost(f *diagnose.Finding) (share, bounds string) {
	if r := f.Cost.WithGC; r != nil && r.Share > 0 {
		return percent(r.Share), "(" + span(r.Low, r.High) + ")"
	}
	for _, x := range []*float64{f.Cost.WaitShare, f.Cost.AllocBytesShare} {
		if x != nil && *x > 0 {
			return percent(*x), ""
		}
	}
	return "", ""
}

// details says in a sentence what else is known: executions, bytes, waits, the compiler's reason,
// the calling line.
func details(f *diagnose.Finding, m recording.Manifest) string {
	if share, _ := generalCost(f); share == "" {
		return f.Cause // of a line that costs time, not CPU or memory
	}
	var parts []string
	if words := lineShares(f); words != "" {
		parts = append(parts, words)
	}
	first := func(what string) { // one for each location in the line below
		for _, e := range f.Evidence {
			if e.What == what {
				parts = append(parts, e.Value)
				return
			}
		}
	}
	for _, what := range []string{evidence.ExecutionsCounted, evidence.CalleesMeasured, evidence.InputsCounted} {
		first(what)
	}
	if x := f.Cost.AllocBytesShare; x != nil && *x >= 0.001 {
		words := percent(*x) + " of allocated bytes"
		if b, n := f.Cost.BytesPerRequest, f.Cost.ObjectsPerRequest; b != nil && n != nil {
			least := ""
			if f.Cost.ObjectsAtLeast {
				least = "at least "
			}
			words += fmt.Sprintf(" (%s in %s%s per %s)", size(*b), least, units.Some(*n, "object"), m.Unit())
		}
		parts = append(parts, words)
	}
	if x := f.Cost.WaitShare; x != nil && *x >= 0.001 {
		parts = append(parts, percent(*x)+" of lock waiting")
	}
	for _, e := range f.Evidence {
		if e.What == evidence.CompilerSaid {
			parts = append(parts, clip(e.Value, 120))
			break
		}
	}
	if f.Entry != nil {
		parts = append(parts, fmt.Sprintf("called from %s:%d", filepath.Base(f.Entry.File), f.Entry.Line))
	}
	return strings.Join(parts, " · ")
}

// lineShares says how the cost is divided, if several lines of a function share it; otherwise it
// returns "".
func lineShares(f *diagnose.Finding) string {
	const most, least = 3, 0.001
	if len(f.Sites) < 2 || f.Sites[0].Share < least {
		return ""
	}
	words := []string{"this line " + percent(f.Sites[0].Share)}
	for _, s := range f.Sites[1:min(most, len(f.Sites))] {
		if s.Share >= least {
			words = append(words, fmt.Sprintf("line %d %s", s.Line, percent(s.Share)))
		}
	}
	if rest := len(f.Sites) - len(words); rest > 0 {
		words = append(words, plural(rest, "other line")+" of "+symbol.Short(funcname.Typed(f.Function))+" the rest")
	}
	return strings.Join(words, ", ")
}

// placeOf returns the location of a finding in one word.
func placeOf(f *diagnose.Finding) string {
	where := fmt.Sprintf("%s:%d", f.File, f.Line)
	if f.Version != "" {
		return f.Module + "@" + f.Version + "/" + where
	}
	return where
}

// cellSource returns the text of a finding's line, or its function if there is no source.
func cellSource(f *diagnose.Finding) string {
	if f.Source != "" {
		return f.Source
	}
	return f.Function
}
