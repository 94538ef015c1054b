package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/annotations"
	"github.com/hone-go/hone/exectrace/gc"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/profile/symbol"
)

// TracePage holds what all pages of an execution trace need.
type TracePage struct {
	Source string
	Top    int // rows of a table; 0 = a readable default, below 0 = all
	Notes  []string
}

// rows returns how many of n rows to show: def if the user did not say.
func (p TracePage) rows(n, def int) int {
	switch {
	case p.Top < 0:
		return n
	case p.Top > 0:
		def = p.Top
	}
	return min(n, def)
}

func (p TracePage) foot(w io.Writer, s Style, shown, of int, what string) {
	if shown < of {
		fmt.Fprintln(w, s.paint(faint, fmt.Sprintf("%s of %s %s; -top N shows more, -top -1 all.", group(float64(shown)), group(float64(of)), what)))
	}
	for _, n := range p.Notes {
		fmt.Fprintln(w, s.paint(faint, "note: ")+wrap(n, "      ", s.width()))
	}
}

// columns writes the lines of a table; the first is its head.
func columns(w io.Writer, s Style, rows [][]string, right ...int) {
	for i, line := range table(rows, "  ", right...) {
		if i == 0 {
			line = s.paint(faint, line)
		}
		fmt.Fprintln(w, line)
	}
}

// TraceSummary draws the summary of a trace on one page.
func TraceSummary(w io.Writer, r *analysis.Summary, p TracePage, s Style) {
	line(w, "%s: %s of Go %s on GOMAXPROCS %d · %s events (%s/s) in %s, %s · %s", s.paint(strong, p.Source), seconds(r.Length), r.Go, r.Procs,
		group(float64(r.Events)), group(r.EventRate), size(float64(r.Bytes)), plural(r.Generations, "generation"), plural(int(r.Goroutines), "goroutine"))
	var rows [][]string
	row := func(name string, cells ...string) {
		rows = append(rows, []string{"  " + s.paint(faint, name), strings.Join(cells, " · ")})
	}
	row("processors", fmt.Sprintf("%s of %d busy", significant(r.MeanBusy), r.Procs), significant(r.MeanRunning)+" goroutines of the program running")
	row("goroutines", totals(r.Total)...)
	gc := []string{"no collection"}
	if r.GCs > 0 {
		gc = []string{plural(int(r.GCs), "collection"), "in progress for " + percent(r.GCShare) + " of the time"}
	}
	if r.Assist > 0 {
		gc = append(gc, "assists "+seconds(r.Assist)+", "+seconds(r.Assisted)+" of it running")
	}
	if r.Stopped > 0 {
		gc = append(gc, "world stopped "+seconds(r.Stopped)+", longest "+seconds(r.LongStop))
	}
	row("collector", gc...)
	if q := r.Requests; q != nil {
		row("requests", group(float64(q.Count)), "p50 "+seconds(q.P50), "p99 "+seconds(q.P99), "max "+seconds(q.Max))
		for _, line := range wrapCell(requests.Spent(q.Places), 14, s) {
			row("", line)
		}
	}
	if r.CPUSamples > 0 {
		row("cpu samples", group(float64(r.CPUSamples)))
	}
	for _, line := range table(rows, "  ") {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	if len(r.Remarks) == 0 {
		fmt.Fprintln(w, "Nothing stands out.")
	} else {
		fmt.Fprintln(w, s.paint(strong, "What stands out"))
	}
	for i, m := range r.Remarks {
		text := m.Text
		if m.View != "" {
			text += " (hone trace " + m.View + ")"
		}
		fmt.Fprintf(w, "%3d. %s\n", i+1, wrap(text, "     ", s.width()))
	}
	p.foot(w, s, 0, 0, "")
}

// totals returns the sums over all goroutines, by state.
func totals(parts []wall.Part) []string {
	sum := map[string]float64{}
	for _, part := range parts {
		sum[part.What] += part.Seconds
	}
	var out []string
	for _, what := range []string{"running", "runnable", "blocked", "syscall", "gc assist", "gc sweep"} {
		if sum[what] > 0 {
			out = append(out, what+" "+seconds(sum[what]))
		}
	}
	return out
}

// TraceGoroutines draws the wall-clock time of goroutines, by the function that they were started
// with.
func TraceGoroutines(w io.Writer, r *wall.Goroutines, p TracePage, s Style) {
	kinds := []string{"running", "gc assist", "gc sweep", "runnable", "blocked", "syscall"}
	head := append([]string{"goroutines", "alive", "lifetime"}, kinds...)
	rows := [][]string{append(head, "started with")}
	groups := r.Groups
	if p.Top == 0 {
		groups = slices.DeleteFunc(slices.Clone(groups), func(g wall.Group) bool { return g.Runtime })
	}
	n := p.rows(len(groups), 15)
	for _, g := range groups[:n] {
		by := map[string]float64{}
		for _, part := range g.Parts {
			by[part.What] += part.Seconds
		}
		cells := []string{group(float64(g.Found + g.Created)), group(float64(g.Found + g.Created - g.Ended)), seconds(g.Seconds)}
		for _, c := range kinds {
			cells = append(cells, blank(by[c]))
		}
		rows = append(rows, append(cells, g.Function))
	}
	columns(w, s, rows, 0, 1, 2, 3, 4, 5, 6, 7, 8)
	for _, g := range groups[:min(n, 3)] {
		details := [][]string{{s.paint(strong, "  "+g.Function)}}
		for _, part := range g.Parts {
			name := part.What
			if part.Why != "" {
				name += ", " + part.Why
			}
			open := ""
			if part.Open > 0 {
				open = group(float64(part.Open)) + " open"
			}
			details = append(details, []string{"    " + name, seconds(part.Seconds), group(float64(part.Count)) + " times", "longest " + seconds(part.Max), open})
		}
		fmt.Fprintln(w)
		line(w, "%s", details[0][0])
		for _, line := range table(details[1:], "  ", 1, 2) {
			fmt.Fprintln(w, line)
		}
		for _, sp := range g.Spawns[:min(len(g.Spawns), 3)] {
			line(w, "%s", s.paint(faint, "    started "+group(float64(sp.Created))+" times at "+sp.Line.String()+ran(sp)))
		}
	}
	p.foot(w, s, n, len(r.Groups), "groups")
}

func ran(sp wall.Spawn) string {
	var out string
	if sp.MeanRun != nil {
		out += "; ran " + seconds(*sp.MeanRun) + " each"
	}
	if sp.MeanWait != nil {
		out += "; waited " + seconds(*sp.MeanWait) + " for their first run"
	}
	return out
}

func blank(v float64) string {
	if v == 0 {
		return "-"
	}
	return seconds(v)
}

// place names a line and its function.
func place(l exectrace.Line) string {
	if l == (exectrace.Line{}) {
		return "-"
	}
	name := symbol.Short(l.Function)
	if l.File == "" {
		return name
	}
	return l.String() + "  " + name
}

// TraceSyscalls draws the system calls.
func TraceSyscalls(w io.Writer, r *wall.Syscalls, p TracePage, s Style) {
	fmt.Fprintf(w, "%s in %s system calls, of a trace of %s\n", seconds(r.Seconds), group(float64(r.Count)), seconds(r.Length))
	rows := [][]string{{"time", "calls", "mean", "longest", "lost P", "call", "at"}}
	n := p.rows(len(r.Lines), 20)
	for _, l := range r.Lines[:n] {
		rows = append(rows, []string{seconds(l.Seconds), group(float64(l.Count)), seconds(l.Seconds / float64(max(1, l.Count))), seconds(l.Max), group(float64(l.Lost)), l.Call, place(l.Line)})
	}
	columns(w, s, rows, 0, 1, 2, 3, 4)
	p.foot(w, s, n, len(r.Lines), "lines")
}

// TraceSched draws how long runnable goroutines waited for a processor.
func TraceSched(w io.Writer, r *wall.Sched, par *parallelism.Result, p TracePage, s Style) {
	fmt.Fprintf(w, "Ready goroutines waited %s for a processor, %s times in a trace of %s\n", seconds(r.Seconds), group(float64(r.Count)), seconds(r.Length))
	latency := func(what string, l parallelism.Latency) {
		if l.Count > 0 {
			fmt.Fprintf(w, "  %s  %s times · p50 %s · p99 %s · max %s\n", s.paint(faint, what), group(float64(l.Count)), seconds(l.P50), seconds(l.P99), seconds(l.Max))
		}
	}
	latency("no processor was idle", par.Saturated)
	latency("one was idle, woken up", par.Wakeup)
	fmt.Fprintln(w)
	rows := [][]string{{"waited", "times", "mean", "longest", "ready because", "at", "by"}}
	n := p.rows(len(r.Lines), 20)
	for _, l := range r.Lines[:n] {
		rows = append(rows, []string{seconds(l.Seconds), group(float64(l.Count)), seconds(l.Seconds / float64(max(1, l.Count))), seconds(l.Max), l.Why, place(l.Line), place(l.Waker)})
	}
	columns(w, s, rows, 0, 1, 2, 3)
	p.foot(w, s, n, len(r.Lines), "lines")
}

// TraceParallelism draws how many processors were used, and what kept the others idle.
func TraceParallelism(w io.Writer, r *parallelism.Result, p TracePage, s Style) {
	fmt.Fprintf(w, "on average, %s of %d processors busy, %s goroutines of the program running\n\n", significant(r.MeanBusy), r.Procs, significant(r.MeanRunning))
	rows := [][]string{{"at a time", "goroutines ran", "processors busy"}}
	for k := range max(len(r.Running), len(r.Busy)) {
		rows = append(rows, []string{fmt.Sprint(k), shareAt(r.Running, k, r.Length), shareAt(r.Busy, k, r.Length)})
	}
	columns(w, s, rows, 0, 1, 2)
	fmt.Fprintln(w)
	fmt.Fprintf(w, "%s %s (%s): one goroutine ran, none was ready\n", s.paint(strong, "Serial"), seconds(r.Serial.Seconds), percent(r.Serial.Share))
	n := p.rows(len(r.Serial.Lines), 8)
	if n > 0 {
		rows = [][]string{{"time", "stretches", "cpu samples", "at", "goroutine"}}
		for _, l := range r.Serial.Lines[:n] {
			rows = append(rows, []string{seconds(l.Seconds), group(float64(l.Count)), group(float64(l.Samples)), place(l.Line), l.Entry})
		}
		columns(w, s, rows, 0, 1, 2)
	}
	if t := r.Tails; t.Regions > 0 {
		fmt.Fprintf(w, "\n%s %s, %s: %s of processor time lost at their end (%s)\n", s.paint(strong, "Parallel regions"), group(float64(t.Regions)), seconds(t.Parallel), seconds(t.Lost), percent(t.Share))
		rows = [][]string{{"lost", "regions", "the last goroutine at"}}
		for _, l := range t.Lines[:p.rows(len(t.Lines), 5)] {
			rows = append(rows, []string{seconds(l.Lost), group(float64(l.Count)), place(l.Line)})
		}
		columns(w, s, rows, 0, 1)
	}
	if r.Held > 0 {
		fmt.Fprintf(w, "\nfor %s, goroutines were ready although not all processors ran one: the others were switching\ngoroutines, in a system call, or waking up\n", seconds(r.Held))
	}
	parallelMarking(w, r.Marking)
	p.foot(w, s, n, len(r.Serial.Lines), "serial lines")
}

// parallelMarking says how much slower the program runs during garbage collection, by CPU time if
// that is known.
func parallelMarking(w io.Writer, m parallelism.Marking) {
	by, of := m.SlowerByCPU, "by CPU time"
	if !by.Known() {
		by, of = m.Slower, "including the time that it waited for a core"
	}
	if by.Known() {
		fmt.Fprintf(w, "\nwhile the garbage collector was marking, %s of the time, the program ran %s times slower (%s to %s), %s\n",
			percent(m.Share), significant(by.Value), significant(by.Low), significant(by.High), of)
	}
}

func shareAt(by []float64, k int, length float64) string {
	if k >= len(by) || length == 0 {
		return "-"
	}
	return percent(by[k] / length)
}

// TraceGC draws the work of the garbage collector.
func TraceGC(w io.Writer, r *gc.Result, p TracePage, s Style) {
	fmt.Fprintf(w, "%s in %s (%s/s), in progress for %s of the time\n", plural(int(r.Cycles), "collection"), seconds(r.Length), significant(r.PerSecond), percent(r.Share))
	if h := r.Heap; h != nil {
		fmt.Fprintf(w, "heap between %s and %s, highest goal %s · %s allocated a second\n", size(float64(h.Low)), size(float64(h.High)), size(float64(h.Goal)), size(h.Rate))
	}
	if len(r.Stops) > 0 {
		fmt.Fprintln(w)
		fmt.Fprintln(w, s.paint(strong, "Stops of the world"))
		rows := [][]string{{"time", "times", "longest", "for", "late in the longest"}}
		for _, st := range r.Stops {
			late := "-"
			if st.Late != (exectrace.Line{}) {
				late = place(st.Late) + s.paint(faint, " after "+seconds(st.Stopping))
			}
			rows = append(rows, []string{seconds(st.Seconds), group(float64(st.Count)), seconds(st.Max), st.Reason, late})
		}
		columns(w, s, rows, 0, 1, 2)
	}
	n := p.rows(len(r.Assists.Lines), 10)
	if n > 0 {
		fmt.Fprintf(w, "\n%s %s, %s of it running, %s times\n", s.paint(strong, "Assists"), seconds(r.Assists.Seconds), seconds(r.Assists.Running), group(float64(r.Assists.Count)))
		rows := [][]string{{"time", "running", "times", "longest", "allocating at"}}
		for _, l := range r.Assists.Lines[:n] {
			rows = append(rows, []string{seconds(l.Seconds), seconds(l.Running), group(float64(l.Count)), seconds(l.Max), place(l.Line)})
		}
		columns(w, s, rows, 0, 1, 2, 3)
	}
	if len(r.Utilization) > 0 {
		fmt.Fprintf(w, "\n%s (minimum mutator utilization)\n", s.paint(strong, "The program's share of its processors in the worst window"))
		rows := [][]string{{"window", "at least", "worst at"}}
		for _, u := range r.Utilization {
			rows = append(rows, []string{seconds(u.Length), percent(u.Least), seconds(u.At)})
		}
		columns(w, s, rows, 0, 1, 2)
	}
	p.foot(w, s, n, len(r.Assists.Lines), "assist lines")
}

// TraceTypes draws tasks or regions.
func TraceTypes(w io.Writer, what string, types []annotations.Type, p TracePage, s Style) {
	if len(types) == 0 {
		fmt.Fprintf(w, "No %s in this trace; a program creates them with runtime/trace.\n", what)
		return
	}
	rows := [][]string{{"count", "open", "mean", "p50", "p90", "p99", "max", strings.TrimSuffix(what, "s"), "at"}}
	n := p.rows(len(types), 30)
	for _, t := range types[:n] {
		cells := []string{group(float64(t.Count)), group(float64(t.Open)), "-", "-", "-", "-", "-"}
		if x := t.Times; x != nil {
			cells = append(cells[:2], seconds(x.Mean), seconds(x.P50), seconds(x.P90), seconds(x.P99), seconds(x.Max))
		}
		name := t.Name
		if name == "" {
			name = "(started before the trace)"
		}
		rows = append(rows, append(cells, name, place(t.Line)))
	}
	columns(w, s, rows, 0, 1, 2, 3, 4, 5, 6)
	p.foot(w, s, n, len(types), what)
}

// TraceLogs draws messages.
func TraceLogs(w io.Writer, r *annotations.Result, p TracePage, s Style) {
	if len(r.Logs) == 0 {
		fmt.Fprintln(w, "No messages in this trace; a program writes them with runtime/trace.Log.")
		return
	}
	rows := [][]string{{"at", "task", "category", "message", "line"}}
	n := p.rows(len(r.Logs), 50)
	for _, l := range r.Logs[:n] {
		rows = append(rows, []string{seconds(l.Time), fmt.Sprint(l.Task), l.Category, clip(l.Message, 80), l.Line.String()})
	}
	columns(w, s, rows, 0, 1)
	total := 0
	for _, c := range r.Counts {
		total += int(c.Count)
	}
	p.foot(w, s, n, total, "messages")
}
