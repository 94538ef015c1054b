package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/profile"
)

// Raw prints everything that a profile holds, as `pprof -raw` does.
func Raw(w io.Writer, p *profile.Profile) {
	for _, c := range p.Comments {
		line(w, "Comment: %s", c)
	}
	if p.DocURL != "" {
		line(w, "Doc: %s", p.DocURL)
	}
	line(w, "PeriodType: %s %s", p.PeriodType.Type, p.PeriodType.Unit)
	line(w, "Period: %d", p.Period)
	if p.TimeNanos != 0 {
		fmt.Fprintf(w, "Time: %v\n", time.Unix(0, p.TimeNanos))
	}
	if p.DurationNanos != 0 {
		fmt.Fprintf(w, "Duration: %.4v\n", time.Duration(p.DurationNanos))
	}
	fmt.Fprintln(w, "Samples:")
	var types []string
	for _, t := range p.SampleTypes {
		text := t.Type + "/" + t.Unit
		if t.Type == p.DefaultSampleType {
			text += "[dflt]"
		}
		types = append(types, text)
	}
	line(w, "%s", strings.TrimSpace(strings.Join(types, " ")))
	for row := range p.NumSamples() {
		rawSample(w, p, row, p.Stack(row))
	}
	fmt.Fprintln(w, "Locations")
	for i := range p.Locations {
		rawLocation(w, p, i)
	}
	fmt.Fprintln(w, "Mappings")
	for i := range p.Mappings {
		rawMapping(w, i, &p.Mappings[i])
	}
}

func rawSample(w io.Writer, p *profile.Profile, row int, stack []int32) {
	for i := range p.SampleTypes {
		fmt.Fprintf(w, " %10d", p.Values(i)[row])
	}
	fmt.Fprint(w, ": ")
	for _, l := range stack {
		fmt.Fprintf(w, "%d ", l+1)
	}
	fmt.Fprintln(w)
	var texts, numbers []string
	for _, l := range groupLabels(p.Labels(row)) {
		if !l.isNumber() {
			texts = append(texts, fmt.Sprintf("%s:%v", l.key, l.texts("")))
			continue
		}
		numbers = append(numbers, fmt.Sprintf("%s:%v", l.key, rawNumbers(l.labels)))
	}
	for _, labels := range [][]string{texts, numbers} {
		if len(labels) > 0 {
			slices.Sort(labels)
			line(w, "%16s%s", "", strings.Join(labels, " "))
		}
	}
}

// rawNumbers prints the units if at least one of the labels has one.
func rawNumbers(labels []profile.Label) []string {
	var out []string
	withUnit := slices.ContainsFunc(labels, func(l profile.Label) bool { return l.Unit != "" })
	for _, l := range labels {
		text := fmt.Sprint(l.Num)
		if withUnit {
			text += " " + l.Unit
		}
		out = append(out, text)
	}
	return out
}

func rawLocation(w io.Writer, p *profile.Profile, i int) {
	l := &p.Locations[i]
	head := fmt.Sprintf("%6d: %#x ", i+1, l.Address)
	if l.Mapping >= 0 {
		head += fmt.Sprintf("M=%d ", l.Mapping+1)
	}
	if l.IsFolded {
		head += "[F] "
	}
	if len(l.Lines) == 0 {
		fmt.Fprintln(w, head)
	}
	for _, ln := range l.Lines {
		fn := &p.Functions[ln.Func]
		system := ""
		if fn.SystemName != fn.Name {
			system = "(" + fn.SystemName + ")"
		}
		line(w, "%s%s %s:%d:%d s=%d%s", head, fn.Name, fn.Filename, ln.Line, ln.Column, fn.StartLine, system)
		head = strings.Repeat(" ", 13)
	}
}

func rawMapping(w io.Writer, i int, m *profile.Mapping) {
	bits := ""
	for _, b := range []struct {
		has  bool
		text string
	}{{m.HasFunctions, "[FN]"}, {m.HasFilenames, "[FL]"}, {m.HasLineNumbers, "[LN]"}, {m.HasInline, "[IN]"}} {
		if b.has {
			bits += b.text
		}
	}
	line(w, "%d: %#x/%#x/%#x %s %s %s", i+1, m.Start, m.Limit, m.Offset, m.File, m.BuildID, bits)
}
