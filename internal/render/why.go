package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/internal/screen"
	"github.com/hone-go/hone/internal/site"
)

const (
	// mostNeighbours is the largest number of callers and callees that are shown; JSON has all.
	mostNeighbours = 8
	// leastNeighbour is the smallest share that is shown.
	leastNeighbour = 0.005
	// mostDecisions is the largest number of the compiler's decisions that are shown; JSON has all.
	mostDecisions = 12
	// mostMatches is the largest number of functions at a location that are named.
	mostMatches = 5
)

// Why draws everything that is known about a location.
func Why(w io.Writer, y *inspect.Why, s Style) {
	for i, f := range y.Functions {
		if i == mostMatches {
			fmt.Fprintln(w, s.paint(faint, fmt.Sprintf("and %d more functions that match", len(y.Functions)-i)))
			break
		}
		line(w, "%s", s.paint(strong, f.Function)+"  "+f.File+s.paint(faint, "  "+ownerWords(f)))
	}
	whyCosts(w, y, s)
	neighbours(w, "Called from", y.Callers, y.Unit, s)
	neighbours(w, "Calls", y.Callees, y.Unit, s)
	whySource(w, y, s)
	decisions(w, y, s)
	if len(y.Findings) > 0 {
		fmt.Fprintf(w, "\n%s\n\n", s.paint(strong, "Findings about it"))
		for i := range y.Findings {
			finding(w, &y.Findings[i], FindingsPage{}, s)
		}
	} else {
		fmt.Fprintf(w, "\n%s\n", s.paint(faint, "No finding is about it."))
	}
	for _, note := range y.Notes {
		fmt.Fprintln(w, s.paint(faint, "note: ")+wrap(note, "      ", s.width()))
	}
}

func ownerWords(f inspect.WhyFunction) string {
	switch f.Owner {
	case "main":
		return "yours"
	case "std":
		return "standard library"
	case "dependency":
		return strings.TrimSpace("of " + f.Module + " " + f.Version)
	}
	return "owner unknown"
}

// unitWords are the names of units on the page, and the formats of their values.
var unitWords = map[string]struct {
	name   string
	format func(float64) string
}{
	site.UnitCPU:     {"CPU", seconds},
	site.UnitGC:      {"its garbage collection", seconds},
	site.UnitBusy:    {"both", seconds},
	site.UnitBytes:   {"allocated", size},
	site.UnitObjects: {"objects", significant},
	site.UnitLive:    {"live", size},
	site.UnitBlock:   {"blocked", seconds},
	site.UnitMutex:   {"kept others waiting", seconds},
}

func whyCosts(w io.Writer, y *inspect.Why, s Style) {
	fmt.Fprintln(w)
	rows := [][]string{{"", s.paint(faint, "itself and standard library below"), "", "", s.paint(faint, "with everything it calls"), "", ""}}
	cells := func(a inspect.WhyAmount, format func(float64) string) []string {
		if a.Value == 0 && a.Share == nil {
			return []string{".", "", ""}
		}
		share, bounds := "", ""
		if a.Share != nil {
			share = percent(*a.Share)
			if a.Value > 0 {
				bounds = s.paint(faint, "("+span(*a.Share*a.Low/a.Value, *a.Share*a.High/a.Value)+")")
			}
		}
		return []string{format(a.Value), share, bounds}
	}
	for _, c := range y.Costs {
		u := unitWords[c.Unit]
		if c.Own.Value == 0 && c.Total.Value == 0 {
			continue
		}
		row := append([]string{"  " + u.name}, cells(c.Own, u.format)...)
		rows = append(rows, append(row, cells(c.Total, u.format)...))
	}
	for _, line := range table(rows, "  ") {
		fmt.Fprintln(w, line)
	}
}

func neighbours(w io.Writer, title string, ns []inspect.WhyNeighbour, unit string, s Style) {
	var rows [][]string
	rest := 0
	for _, n := range ns {
		if len(rows) == mostNeighbours || n.Share < leastNeighbour {
			rest++
			continue
		}
		name, where := n.Function, n.File
		if name == "" {
			name, where = "(the lines themselves)", ""
		}
		if n.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, n.Line)
		}
		rows = append(rows, []string{"  " + percent(n.Share), name, s.paint(faint, where)})
	}
	if len(rows) == 0 {
		return
	}
	of := map[string]string{"cpu": "of its CPU", "bytes": "of its bytes", "waiting": "of its waiting"}[unit]
	fmt.Fprintln(w)
	line(w, "%s", s.paint(strong, title)+s.paint(faint, "  "+of))
	for _, line := range table(rows, "  ", 0) {
		fmt.Fprintln(w, line)
	}
	if rest > 0 {
		fmt.Fprintln(w, s.paint(faint, fmt.Sprintf("  and %d smaller; -json has all", rest)))
	}
}

func whySource(w io.Writer, y *inspect.Why, s Style) {
	fmt.Fprintf(w, "\n%s\n", s.paint(strong, "Source"))
	if y.Source == nil {
		fmt.Fprintln(w, s.paint(faint, wrap("none: "+y.Problem, "", s.width())))
		return
	}
	List(w, y.Source, s)
}

// decisions draws the compiler's decisions, with the path of an escape.
func decisions(w io.Writer, y *inspect.Why, s Style) {
	if len(y.Compiler) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s%s\n", s.paint(strong, "What the compiler decided"), s.paint(faint, "  its remarks on the code, not costs"))
	for i, r := range y.Compiler {
		if i == mostDecisions {
			fmt.Fprintln(w, s.paint(faint, fmt.Sprintf("  and %d more; -json has all", len(y.Compiler)-i)))
			return
		}
		head := fmt.Sprintf("  %s:%d  ", screen.Line(r.File), r.Line)
		fmt.Fprintln(w, s.paint(faint, head)+wrap(r.Text, strings.Repeat(" ", len(head)), s.width()))
		if r.Kind != "escape" {
			continue
		}
		for _, step := range r.Path {
			line(w, "%s", s.paint(faint, "      → "+clip(step, s.width()-8)))
		}
	}
}

// WhyJSON is the form of `hone why -json`.
func WhyJSON(y *inspect.Why) any {
	var source any
	if y.Source != nil {
		source = ListJSON(y.Source)
	}
	return struct {
		*inspect.Why
		Source any `json:"source,omitempty"`
	}{y, source}
}
