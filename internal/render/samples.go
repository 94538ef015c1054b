package render

import (
	"fmt"
	"io"
	"path"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hone-go/hone/internal/screen"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
)

// SamplesPage is the input of reports on single samples: traces, tags, comments, raw.
type SamplesPage struct {
	Source string
	View   *report.View
}

// head prints pprof's lines above a report: binary, comments, time, duration.
func (p SamplesPage) head(w io.Writer) {
	v := p.View
	if ms := v.Profile.Mappings; len(ms) > 0 {
		if ms[0].File != "" {
			line(w, "File: %s", path.Base(ms[0].File))
		}
		if ms[0].BuildID != "" {
			line(w, "Build ID: %s", ms[0].BuildID)
		}
	}
	for _, c := range v.Profile.Comments {
		if !strings.HasPrefix(c, "#") {
			line(w, "%s", c)
		}
	}
	if v.SampleType.Type != "" {
		line(w, "Type: %s", v.SampleType.Type)
	}
	if v.Profile.DocURL != "" {
		line(w, "Doc: %s", v.Profile.DocURL)
	}
	if t := v.Profile.TimeNanos; t != 0 {
		fmt.Fprintf(w, "Time: %s\n", time.Unix(0, t).Format("2006-01-02 15:04:05 MST"))
	}
	if d := v.Profile.DurationNanos; d != 0 {
		total, ratio := v.Total, ""
		if ns, unit := measure.Scale(total, v.SampleType.Unit, "nanoseconds"); unit == "ns" && ns != 0 {
			ratio = "(" + measure.Percent(int64(ns), d) + ")"
		}
		line(w, "Duration: %s, Total samples = %s %s", measure.Format(d, "nanoseconds", "auto"), v.FormatEach(total), ratio)
	}
}

// Traces prints every sample with its labels and its stack, leaf first.
func Traces(w io.Writer, p SamplesPage, s Style) {
	const separator = "-----------+-------------------------------------------------------"
	v := p.View
	p.head(w)
	units := v.Profile.LabelUnits()
	rows, traces := v.Traces()
	names := newNaming(v.Names != report.ReadableNames, rows, func(r *report.Row) string { return r.Name })
	plainly, inlined := make([]string, len(rows)), make([]string, len(rows))
	for i := range rows {
		plainly[i] = names.row(rows[i]) + "\n"
		inlined[i] = names.row(rows[i]) + s.paint(faint, " (inline)") + "\n"
	}
	for t := range traces {
		fmt.Fprintln(w, s.paint(faint, separator))
		for _, l := range groupLabels(v.Profile.Labels(t.Sample)) {
			line(w, "%10s:  %s", l.key, strings.Join(l.texts(units[l.key]), " "))
		}
		for i, f := range t.Frames {
			if i == 0 {
				fmt.Fprintf(w, "%10s   ", screen.Line(v.FormatEach(t.Value)))
			} else {
				io.WriteString(w, "             ")
			}
			if f.Inlined {
				io.WriteString(w, inlined[f.Row])
			} else {
				io.WriteString(w, plainly[f.Row])
			}
		}
	}
	fmt.Fprintln(w, s.paint(faint, separator))
}

// keyLabels are the labels of one sample with the same key, all text or all numbers.
type keyLabels struct {
	key    string
	labels []profile.Label
}

// groupLabels groups labels by key: first texts by key, then numbers by key.
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

// texts formats the labels' values; numbers in the unit that fits.
func (k keyLabels) texts(unit string) []string {
	var out []string
	for _, l := range k.labels {
		if l.Str != "" {
			out = append(out, l.Str)
			continue
		}
		out = append(out, measure.Format(l.Num, unit, "auto"))
	}
	return out
}

// Tags prints the cost of the samples with each label.
func Tags(w io.Writer, p SamplesPage, tags []report.Tag) {
	v := p.View
	total := v.Total
	share := func(x int64) string {
		if total <= 0 {
			return ""
		}
		return " (" + measure.Percent(x, total) + ")"
	}
	value := func(x int64) string { return screen.Line(v.FormatEach(x)) }
	tab := tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.AlignRight)
	for _, t := range tags {
		fmt.Fprintf(tab, "%s:\t Total %s of %s%s\n", screen.Line(t.Key), value(t.Total), value(total), share(t.Total))
		for _, x := range t.Values {
			fmt.Fprintf(tab, " \t%s%s:\t %s\n", value(x.Value), share(x.Value), screen.Line(x.Text))
		}
		fmt.Fprintln(tab)
	}
	tab.Flush()
}
