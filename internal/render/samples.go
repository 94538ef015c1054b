package render

import (
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hone-go/hone/profile"
)

// SamplesPage is what the reports on single samples are made from: traces, tags, comments, raw.
type SamplesPage struct {
	Source  string
	Profile *profile.Profile
	Index   int // the value that is shown
}

func (p SamplesPage) sampleType() profile.ValueType { return p.Profile.SampleTypes[p.Index] }

func (p SamplesPage) value(v int64) string {
	return profile.FormatValue(v, p.sampleType().Unit, "auto")
}

// head prints what pprof prints above a report: binary, comments, time, duration.
func (p SamplesPage) head(w io.Writer) {
	if ms := p.Profile.Mappings; len(ms) > 0 {
		if ms[0].File != "" {
			fmt.Fprintf(w, "File: %s\n", path.Base(ms[0].File))
		}
		if ms[0].BuildID != "" {
			fmt.Fprintf(w, "Build ID: %s\n", ms[0].BuildID)
		}
	}
	for _, c := range p.Profile.Comments {
		if !strings.HasPrefix(c, "#") {
			fmt.Fprintln(w, c)
		}
	}
	if p.sampleType().Type != "" {
		fmt.Fprintf(w, "Type: %s\n", p.sampleType().Type)
	}
	if p.Profile.DocURL != "" {
		fmt.Fprintf(w, "Doc: %s\n", p.Profile.DocURL)
	}
	if t := p.Profile.TimeNanos; t != 0 {
		fmt.Fprintf(w, "Time: %s\n", time.Unix(0, t).Format("2006-01-02 15:04:05 MST"))
	}
	if d := p.Profile.DurationNanos; d != 0 {
		total, ratio := p.Profile.Total(p.Index), ""
		if ns, unit := profile.ScaleValue(total, p.sampleType().Unit, "nanoseconds"); unit == "ns" && ns != 0 {
			ratio = "(" + profile.FormatPercent(int64(ns), d) + ")"
		}
		fmt.Fprintf(w, "Duration: %s, Total samples = %s %s\n", profile.FormatValue(d, "nanoseconds", "auto"), p.value(total), ratio)
	}
}

// Traces prints every sample with its labels and its stack, leaf first. view is
// the profile that the traces' labels are in.
func Traces(w io.Writer, p SamplesPage, view *profile.Profile, traces iter.Seq[profile.Trace], s Style) {
	const separator = "-----------+-------------------------------------------------------"
	p.head(w)
	units := view.LabelUnits()
	for t := range traces {
		fmt.Fprintln(w, s.paint(faint, separator))
		for _, l := range groupLabels(view.Labels(t.Sample)) {
			fmt.Fprintf(w, "%10s:  %s\n", l.key, strings.Join(l.texts(units[l.key]), " "))
		}
		for i, f := range t.Frames {
			value, inline := "", ""
			if i == 0 {
				value = p.value(t.Value)
			}
			if f.Inlined {
				inline = s.paint(faint, " (inline)")
			}
			fmt.Fprintf(w, "%10s   %s%s\n", value, frameName(f.Frame), inline)
		}
	}
	fmt.Fprintln(w, s.paint(faint, separator))
}

// frameName is a frame with as much of its place as the granularity has.
func frameName(f profile.Frame) string {
	switch {
	case f.Line != 0:
		return strings.TrimSpace(fmt.Sprintf("%s %s:%d", f.Name, f.File, f.Line))
	case f.File != "":
		return strings.TrimSpace(f.Name + " " + f.File)
	}
	return f.Name
}

// keyLabels are the labels of one sample with the same key, all text or all numbers.
type keyLabels struct {
	key    string
	labels []profile.Label
}

// groupLabels puts together what has the same key: texts by key, then numbers by key.
func groupLabels(labels []profile.Label) []keyLabels {
	var out []keyLabels
	for i, l := range labels {
		if i > 0 && labels[i-1].Key == l.Key && (labels[i-1].Str == "") == (l.Str == "") {
			out[len(out)-1].labels = append(out[len(out)-1].labels, l)
			continue
		}
		out = append(out, keyLabels{l.Key, []profile.Label{l}})
	}
	return out
}

func (k keyLabels) isNumber() bool { return k.labels[0].Str == "" }

// texts prints the labels' values; a number in the unit that fits.
func (k keyLabels) texts(unit string) []string {
	var out []string
	for _, l := range k.labels {
		if l.Str != "" {
			out = append(out, l.Str)
			continue
		}
		out = append(out, profile.FormatValue(l.Num, unit, "auto"))
	}
	return out
}

// Tags prints what the samples with each label cost.
func Tags(w io.Writer, p SamplesPage, tags []profile.Tag) {
	total := p.Profile.Total(p.Index)
	share := func(v int64) string {
		if total <= 0 {
			return ""
		}
		return " (" + profile.FormatPercent(v, total) + ")"
	}
	tab := tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.AlignRight)
	for _, t := range tags {
		fmt.Fprintf(tab, "%s:\t Total %s of %s%s\n", t.Key, p.value(t.Total), p.value(total), share(t.Total))
		for _, v := range t.Values {
			fmt.Fprintf(tab, " \t%s%s:\t %s\n", p.value(v.Value), share(v.Value), v.Text)
		}
		fmt.Fprintln(tab)
	}
	tab.Flush()
}

// Raw prints everything that a profile holds, as `pprof -raw` does.
func Raw(w io.Writer, p *profile.Profile) {
	for _, c := range p.Comments {
		fmt.Fprintf(w, "Comment: %s\n", c)
	}
	if p.DocURL != "" {
		fmt.Fprintf(w, "Doc: %s\n", p.DocURL)
	}
	fmt.Fprintf(w, "PeriodType: %s %s\nPeriod: %d\n", p.PeriodType.Type, p.PeriodType.Unit, p.Period)
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
	fmt.Fprintln(w, strings.TrimSpace(strings.Join(types, " ")))
	var stack []int32
	for row := range p.NumSamples() {
		stack = p.Stack(row, stack)
		rawSample(w, p, row, stack)
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
	for _, line := range [][]string{texts, numbers} {
		if len(line) > 0 {
			slices.Sort(line)
			fmt.Fprintf(w, "%16s%s\n", "", strings.Join(line, " "))
		}
	}
}

// rawNumbers prints the units as soon as one of the labels has one.
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
		fmt.Fprintf(w, "%s%s %s:%d:%d s=%d", head, fn.Name, fn.Filename, ln.Line, ln.Column, fn.StartLine)
		if fn.SystemName != fn.Name {
			fmt.Fprintf(w, "(%s)", fn.SystemName)
		}
		fmt.Fprintln(w)
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
	fmt.Fprintf(w, "%d: %#x/%#x/%#x %s %s %s\n", i+1, m.Start, m.Limit, m.Offset, m.File, m.BuildID, bits)
}
