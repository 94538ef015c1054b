package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// The page shows at most mostLines lines without a finding, each with at least leastLine
// of the CPU: enough to see where the rest goes, not a second report.
const (
	mostLines = 6
	leastLine = 0.02
)

// dearLines draws the lines that cost most and have no finding: the page names them
// even where no rule knows what is wrong with them, or nothing is.
func dearLines(w io.Writer, p FindingsPage, s Style) {
	if p.Table == nil || p.Table.Totals.TotalSeconds <= 0 {
		return
	}
	known := map[string]bool{}
	for _, f := range p.Report.Findings {
		for _, x := range f.Sites {
			known[fmt.Sprint(x.Function, x.Line)] = true
		}
	}
	var rows [][]string
	for _, x := range p.Table.Sites {
		if len(rows) == mostLines {
			break
		}
		owned := x.Owner.Kind == gocode.Main || x.Owner.Kind == gocode.Dependency
		if !owned || known[fmt.Sprint(x.Function, x.Line)] {
			continue
		}
		_, cost := p.Table.Price(x.CPU, x.Allocs)
		cost = cost.Scale(1 / p.Table.Totals.TotalSeconds)
		if cost.Value < leastLine {
			continue
		}
		rows = append(rows, []string{
			"    " + percent(cost.Value), s.paint(faint, "("+span(cost.Low, cost.High)+")"),
			ownedLine(x), s.paint(code, clip(p.source(x), 60)),
		})
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(w, s.paint(strong, "Other lines that cost")+s.paint(faint, "  CPU and the garbage they make; no known mistake"))
	for _, line := range table(rows, "  ", 0, 1) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

func ownedLine(x *site.Site) string {
	where := fmt.Sprintf("%s:%d", x.Owner.File, x.Line)
	if x.Owner.Kind == gocode.Dependency {
		return x.Owner.Module + "@" + x.Owner.Version + "/" + where
	}
	return where
}

// source is the text of a site's line, or its function where there is no source.
func (p FindingsPage) source(x *site.Site) string {
	if p.Lines != nil {
		if lines, err := p.Lines(x.File, x.Line, x.Line); err == nil && len(lines) == 1 {
			return strings.TrimSpace(lines[0])
		}
	}
	return x.Function
}
