package render

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/runtimework"
	"github.com/hone-go/hone/profile/symbol"
	"github.com/hone-go/hone/stats"
)

// WorkPage is the page of `hone top -groups`.
type WorkPage struct {
	Source string
	Work   *runtimework.Table
	Top    int                        // lines per group; 0 for the default, negative for all
	Names  report.Names               // of functions
	Short  func(profile.Frame) string // how a frame's file is named; nil: as in the profile
}

// workRows is the number of lines per group by default.
const workRows = 5

// Work draws what the runtime does, and for which lines: first in words, then as a table for each
// group.
func Work(w io.Writer, p WorkPage, s Style) {
	value := func(v int64) string {
		return measure.Format(v, p.Work.SampleType.Unit, "auto")
	}
	line(w, "%s", s.paint(faint, fmt.Sprintf("%s · %s · %s in all", p.Source, p.Work.SampleType.Type, value(p.Work.Total))))
	fmt.Fprintln(w)
	fmt.Fprintln(w, wrap(p.words(), "", s.width()))
	limit := workRows
	switch {
	case p.Top > 0:
		limit = p.Top
	case p.Top < 0:
		limit = math.MaxInt
	}
	for _, g := range p.Work.Groups {
		if g.Work == runtimework.None {
			continue
		}
		fmt.Fprintln(w)
		line(w, "%s", s.paint(strong, fmt.Sprintf("%s  %s, %s", capital(g.Work.String()), value(g.Value), p.share(g.Value))))
		var rows [][]string
		for _, r := range g.Rows[:min(limit, len(g.Rows))] {
			rows = append(rows, []string{value(r.Value), p.share(r.Value), p.line(r)})
		}
		for _, line := range table(rows, "  ", 0, 1) {
			fmt.Fprintln(w, line)
		}
		if more := len(g.Rows) - limit; more > 0 {
			fmt.Fprintln(w, s.paint(faint, plural(more, "line")+" more with a larger -top"))
		}
	}
	if p.collectsInBackground() {
		fmt.Fprintln(w)
		drawNotes(w, []string{"background garbage collection is caused by all allocations: `hone top -sample_index=alloc_space` of a recording shows where they are, and `hone findings` charges the collection to these lines"}, s)
	}
}

// collectsInBackground reports whether the garbage collector worked in the background, for no
// particular line.
func (p WorkPage) collectsInBackground() bool {
	for _, g := range p.Work.Groups {
		if g.Work == runtimework.Collection {
			return slices.ContainsFunc(g.Rows, func(r runtimework.Row) bool { return r.Name == "" && r.Value > 0 })
		}
	}
	return false
}

// share formats a part of the total with its 95 % interval: "16 % (12–21 %)".
func (p WorkPage) share(v int64) string {
	part := float64(v) / float64(p.Work.Total)
	if p.Work.Samples < 1 {
		return percent(part)
	}
	i := stats.Share(int64(math.Round(part*p.Work.Samples)), int64(math.Round(p.Work.Samples)))
	return fmt.Sprintf("%s (%s)", percent(part), span(i.Low, i.High))
}

// words sums up the groups in a sentence.
func (p WorkPage) words() string {
	if p.Work.Total <= 0 {
		return "Nothing was sampled."
	}
	var runtime int64
	text := ""
	for _, g := range p.Work.Groups {
		if g.Work == runtimework.None {
			continue
		}
		runtime += g.Value
		if text != "" {
			text += ", "
		}
		text += g.Work.String() + " " + percent(float64(g.Value)/float64(p.Work.Total))
	}
	if text == "" {
		return "No sample is in the runtime."
	}
	return fmt.Sprintf("The runtime's work is %s of %s: %s. The rest is the program and the libraries that it calls.",
		percent(float64(runtime)/float64(p.Work.Total)), p.Work.SampleType.Type, text)
}

// line names the line that causes the work.
func (p WorkPage) line(r runtimework.Row) string {
	if r.Name == "" {
		return "(in the background, for no line)"
	}
	file := r.File
	if p.Short != nil {
		file = p.Short(r.Frame)
	}
	name := r.Name
	if p.Names != report.ExactNames {
		name = symbol.Readable(name) // the file and line beside it distinguish equal names
	}
	if file == "" {
		return name
	}
	return fmt.Sprintf("%s %s:%d", name, file, r.Line)
}

// capital makes the first letter upper case; it is ASCII in every group's name.
func capital(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}

// WorkJSON is the form of `hone top -groups -json`.
func WorkJSON(p WorkPage) any {
	type row struct {
		Function string `json:"function,omitempty"` // absent: in the background
		Readable string `json:"readable,omitempty"` // readable name of the function, if it differs
		File     string `json:"file,omitempty"`
		Line     int64  `json:"line,omitempty"`
		Value    int64  `json:"value"`
	}
	type group struct {
		Name  string `json:"name"`
		Value int64  `json:"value"`
		Rows  []row  `json:"rows"`
	}
	groups := []group{}
	for _, g := range p.Work.Groups {
		rows := []row{}
		for _, r := range g.Rows {
			rows = append(rows, row{r.Name, readableIfOther(r.Name), r.File, r.Line, r.Value})
		}
		groups = append(groups, group{g.Work.String(), g.Value, rows})
	}
	return struct {
		Schema     string  `json:"schema"`
		Source     string  `json:"source"`
		SampleType string  `json:"sample_type"`
		Unit       string  `json:"unit"`
		Total      int64   `json:"total"`
		Samples    float64 `json:"samples,omitempty"` // absent if the profile does not give it
		Groups     []group `json:"groups"`
	}{"hone/groups/v1", p.Source, p.Work.SampleType.Type, p.Work.SampleType.Unit, p.Work.Total, p.Work.Samples, groups}
}
