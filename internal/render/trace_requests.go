package render

import (
	"fmt"
	"io"
	"slices"

	"github.com/hone-go/hone/exectrace/requests"
)

// TraceRequests draws the requests of a trace: quantiles and parts by route, why the slow ones are
// slow, and the slowest.
func TraceRequests(w io.Writer, r *requests.Result, p TracePage, s Style) {
	if r.All == nil {
		fmt.Fprintln(w, "No request started and finished in this trace.")
		p.Notes = append(slices.Clone(p.Notes), r.Notes...)
		p.foot(w, s, 0, 0, "")
		return
	}
	rows := [][]string{{"requests", "p50", "p90", "p99", "max", "handler p50", "cpu samples", "route"}}
	n := p.rows(len(r.Routes), 15)
	for _, rt := range r.Routes[:n] {
		rows = append(rows, []string{group(float64(rt.Count)), seconds(rt.Latency.P50), seconds(rt.Latency.P90), seconds(rt.Latency.P99),
			seconds(rt.Latency.Max), seconds(rt.Handler.P50), group(float64(rt.Samples)), rt.Title()})
	}
	columns(w, s, rows, 0, 1, 2, 3, 4, 5, 6)
	for _, rt := range r.Routes[:min(n, 3)] {
		fmt.Fprintln(w)
		line(w, "%s", s.paint(strong, rt.Title()))
		if rt.Why != nil {
			fmt.Fprintln(w, "  "+wrap(rt.Why.Sentence()+".", "  ", s.width()))
		}
		for _, line := range table(parts(&rt, s), "  ", 1, 2) {
			fmt.Fprintln(w, line)
		}
	}
	slow := p.rows(len(r.Slowest), 5)
	if slow > 0 {
		fmt.Fprintln(w)
		fmt.Fprintln(w, s.paint(strong, "Slowest")+s.paint(faint, "  hone trace critical -request ID shows the path of one"))
		rows := [][]string{{"id", "latency", "at", "mostly", "route"}}
		for _, q := range r.Slowest[:slow] {
			rows = append(rows, []string{fmt.Sprint(q.ID), requests.Duration(q.Latency), requests.Duration(q.Begin), most(&q), q.Title()})
		}
		columns(w, s, rows, 0, 1, 2)
	}
	p.Notes = append(slices.Clone(p.Notes), r.Notes...)
	p.foot(w, s, n, len(r.Routes), "routes")
}

// parts returns how the time of a route is divided, largest part first, with the line where most of
// each part waits.
func parts(rt *requests.Route, s Style) (rows [][]string) {
	sorted := slices.Clone(rt.Parts)
	slices.SortStableFunc(sorted, func(a, b requests.PartTime) int { return int(sign(b.Time - a.Time)) })
	sorted = slices.DeleteFunc(sorted, func(p requests.PartTime) bool { return shareOf(p.Time, rt.Time) < 0.001 })
	column := 0 // column at which the words after the figures start
	for _, part := range sorted {
		column = max(column, len(part.Part.String())+len("    5.3 %   163 µs  "))
	}
	for _, part := range sorted {
		a := "a request"
		if i := slices.IndexFunc(rt.Places, func(p requests.PlaceTime) bool { return p.Part == part.Part && p.Waiter != nil }); i >= 0 {
			p := &rt.Places[i]
			a += ": "
			if of := float64(p.Time) / float64(part.Time); of < 0.95 {
				a += percent(of) + " of it "
			}
			a += p.Text()
		}
		row := []string{"  " + part.Part.String(), percent(shareOf(part.Time, rt.Time)), seconds(float64(part.Time) / 1e9 / float64(max(1, rt.Count)))}
		for _, line := range wrapCell(a, column, s) {
			rows = append(rows, append(row, s.paint(faint, line)))
			row = []string{"", "", ""}
		}
	}
	return rows
}

func sign(x int64) int64 {
	switch {
	case x < 0:
		return -1
	case x > 0:
		return 1
	}
	return 0
}

// most describes the largest part of a request's time.
func most(q *requests.Request) string {
	var longest requests.PartTime
	for _, part := range q.Parts {
		if part.Time > longest.Time {
			longest = part
		}
	}
	text := longest.Part.String() + " " + requests.Duration(longest.Time)
	for _, wt := range q.Waits {
		if wt.Part == longest.Part {
			if wt.Waiter != nil {
				text += " at " + wt.Waiter.String()
			}
			if wt.Caller != nil {
				text += ", called at " + wt.Caller.String()
			}
			break
		}
	}
	return text
}

// sampled is the CPU time of one sample, in seconds: runtime/pprof takes 100 per second.
const sampled = 0.01

// TraceCPU draws CPU samples by route.
func TraceCPU(w io.Writer, r *requests.CPU, p TracePage, s Style) {
	if r.Samples == 0 {
		fmt.Fprintln(w, "No CPU samples in this trace: a trace contains them if a CPU profile is running, as in hone's recordings.")
		p.foot(w, s, 0, 0, "")
		return
	}
	rows := [][]string{{"samples", "share", "CPU per request", "route"}}
	n := p.rows(len(r.Routes), 20)
	for _, rt := range r.Routes[:n] {
		rows = append(rows, []string{group(float64(rt.Samples)), percent(rt.Share), seconds(sampled * rt.PerRequest), rt.Title()})
	}
	rows = append(rows, []string{group(float64(r.Outside)), percent(float64(r.Outside) / float64(r.Samples)), "-", "(outside requests)"})
	columns(w, s, rows, 0, 1, 2)
	p.foot(w, s, n, len(r.Routes), "routes")
}
