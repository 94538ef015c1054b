package render

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/recording"
)

func header(w io.Writer, p FindingsPage, s Style) {
	line(w, "%s", s.paint(strong, "hone")+" · "+reportTitle(p.Manifest))
	fmt.Fprintln(w)
	if trouble := p.Manifest.Trouble(); trouble != "" {
		fmt.Fprintf(w, "%s\n\n", s.paintLines(bad, wrap(sentence(trouble), "", s.width())))
	}
	for _, line := range table(headerRows(p, s), "  ") {
		fmt.Fprintln(w, line)
	}
}

// reportTitle says what was recorded, where, how and when.
func reportTitle(m recording.Manifest) string {
	title := []string{m.Target.Name()}
	for _, x := range []string{m.Runtime.Go, machine(m), loadLine(m), m.Created.Local().Format(time.DateTime)} {
		if x != "" {
			title = append(title, x)
		}
	}
	return strings.Join(title, " · ")
}

// headerRows returns the program's figures: each row has a name, indented by two, and cells.
func headerRows(p FindingsPage, s Style) (rows [][]string) {
	m, r := p.Manifest, p.Report.Resources
	row := func(name string, cells ...string) {
		var have []string
		for _, c := range cells {
			if c != "" {
				have = append(have, c)
			}
		}
		if len(have) > 0 {
			rows = append(rows, []string{"  " + s.paint(faint, name), strings.Join(have, " · ")})
		}
	}
	clean, _ := phaseOf(m, recording.PhaseClean)
	row("throughput", throughput(r, m, clean), failures(clean))
	if q, what := latency(clean); q != nil {
		row(what, seenQuantiles(q, clean.Requests), limited(clean, s))
	}
	row("a run", runTime(r.Run)...)
	name := "an operation"
	for _, line := range benchmarks(r.Benchmarks) {
		row(name, line)
		name = ""
	}
	row("CPU", each(r.CPUPerRequest, seconds, m), cores(r, m), kernel(r), limiting(r, m))
	name = "requests"
	for _, line := range wrapCell(requests.Spent(r.RequestTime), 16, s) {
		row(name, line)
		name = ""
	}
	row("GC", gcLine(r), rate(r.AllocRate), each(r.BytesPerRequest, size, m), each(r.ObjectsPerRequest, objects, m))
	row("profiled", profiled(r))
	row("CPU goes to", spent(p.Report.Resources)...)
	row("joined", joined(p.Report.Join)...)
	row("overhead", observer(m)...)
	row("recorded in", lengths(m)...)
	return rows
}

// joined returns the shares of CPU samples and bytes that were charged to a line or a named bucket.
func joined(j *diagnose.Join) []string {
	if j == nil {
		return nil
	}
	var cells []string
	if j.CPU != nil {
		cells = append(cells, tenths(j.CPU.Joined)+" of CPU samples")
	}
	if j.Bytes != nil {
		cells = append(cells, tenths(j.Bytes.Joined)+" of bytes")
	}
	if j.Facts != nil {
		cells = append(cells, "compiler facts for "+percent(j.Facts.Share))
	}
	return cells
}

// tenths formats a share that is nearly all: 99.6 %, and 100 % only if it is all.
func tenths(share float64) string {
	if share >= 1 {
		return "100 %"
	}
	return fmt.Sprintf("%.1f %%", math.Min(99.9, 100*share))
}

// Below these numbers of requests, the rate is shown with the count, and quantiles are left out.
const (
	fewRequests = 100
	fewForP90   = 20
)

// throughput formats the rate of requests, with their number if there are few, or says that there
// were none.
func throughput(r diagnose.Resources, m recording.Manifest, clean recording.Phase) string {
	n := clean.Requests
	switch {
	case m.Load != nil && n == 0 && clean.Seconds > 0:
		return fmt.Sprintf("no %s was answered in the %s of the clean phase: try a longer -duration", m.Unit(), seconds(clean.Seconds))
	case r.Throughput <= 0:
		return ""
	case n > 0 && n < fewRequests:
		return fmt.Sprintf("%.2g %ss/s (%s in %s)", r.Throughput, m.Unit(), plural(int(n), m.Unit()), seconds(clean.Seconds))
	}
	return fmt.Sprintf("%s %ss/s", group(r.Throughput), m.Unit())
}

// seenQuantiles leaves out the quantiles for which there are too few requests.
func seenQuantiles(q *recording.Quantiles, n int64) string {
	words := []string{"p50 " + seconds(q.P50)}
	if n >= fewForP90 || n == 0 {
		words = append(words, "p90 "+seconds(q.P90))
	}
	if n >= fewRequests || n == 0 {
		words = append(words, "p99 "+seconds(q.P99))
	}
	return strings.Join(append(words, "max "+seconds(q.Max)), " · ")
}

func machine(m recording.Manifest) string {
	switch {
	case m.Machine.CgroupCPUs > 0 && m.Machine.CgroupCPUs < float64(m.Machine.Cores):
		return fmt.Sprintf("%.2g of %d cores", m.Machine.CgroupCPUs, m.Machine.Cores)
	case m.Machine.Cores > 0:
		return plural(m.Machine.Cores, "core")
	}
	return ""
}

func loadLine(m recording.Manifest) string {
	switch {
	case m.Target.LoadCommand != "":
		return "driven by " + clip(m.Target.LoadCommand, 40)
	case m.Load == nil:
		return ""
	}
	conns := plural(m.Load.Connections, "connection")
	if m.Load.Rate > 0 {
		return fmt.Sprintf("%s requests/s scheduled, %s", group(m.Load.Rate), conns)
	}
	return "closed loop, " + conns
}

func failures(p recording.Phase) string {
	if p.Failed == 0 {
		return ""
	}
	return fmt.Sprintf("%s failed", group(float64(p.Failed)))
}

func latency(p recording.Phase) (*recording.Quantiles, string) {
	if p.Latency != nil {
		return p.Latency, "latency"
	}
	return p.Service, "service time"
}

func limited(p recording.Phase, s Style) string {
	if p.Verdict == "generator-limited" {
		return s.paint(bad, "the load generator was the limit: do not trust these")
	}
	return ""
}

// runTime says how long a program that runs and exits takes.
func runTime(t *diagnose.RunTime) []string {
	switch {
	case t == nil:
		return nil
	case t.Count == 1:
		return []string{seconds(t.Median)}
	}
	return []string{seconds(t.Median), fmt.Sprintf("%d runs, %s to %s", t.Count, seconds(t.Shortest), seconds(t.Longest))}
}

// each formats a figure per request, operation or run.
func each(x float64, unit func(float64) string, m recording.Manifest) string {
	if x <= 0 {
		return ""
	}
	return unit(x) + " per " + m.Unit()
}

func objects(x float64) string { return significant(x) + " objects" }

func cores(r diagnose.Resources, m recording.Manifest) string {
	if r.Cores <= 0 {
		return ""
	}
	words := fmt.Sprintf("%.2f cores busy", r.Cores)
	if m.Runtime.GOMAXPROCS > 0 {
		words = fmt.Sprintf("%.2f of %s busy", r.Cores, plural(m.Runtime.GOMAXPROCS, "core"))
	}
	if r.ChildCores >= 0.01 {
		words += fmt.Sprintf(", and %.2f by processes that it started", r.ChildCores)
	}
	return words
}

func kernel(r diagnose.Resources) string {
	if r.SystemShare <= 0 {
		return ""
	}
	return percent(r.SystemShare) + " of it in the kernel"
}

func limiting(r diagnose.Resources, m recording.Manifest) string {
	switch r.Limiting {
	case "", "none":
		return "no resource is at its limit"
	case "cpu":
		if r.OtherCores > 0 {
			return fmt.Sprintf("CPU is the limit: other processes keep %s cores busy", significant(r.OtherCores))
		}
		return "CPU is the limit"
	case "latency":
		switch m.Target.Kind {
		case "bench":
			return "" // the harness runs one operation at a time
		case "program":
			return "the limit is the work of one goroutine"
		}
		return "requests wait for something other than CPU"
	}
	return r.Limiting + " is the limit"
}

func gcLine(r diagnose.Resources) string {
	if r.CPUSamples == 0 {
		return ""
	}
	return fmt.Sprintf("%s of CPU, and allocation %s", percent(r.GCCPUShare), percent(r.MallocCPUShare))
}

func rate(x float64) string {
	if x <= 0 {
		return ""
	}
	return size(x) + "/s allocated"
}

func profiled(r diagnose.Resources) string {
	if r.CPUSamples == 0 {
		return ""
	}
	return fmt.Sprintf("%s CPU-seconds, %s samples", significant(r.CPUSeconds), group(float64(r.CPUSamples)))
}

// spent says where the CPU goes: to lines of modules, then to the most expensive parts that no line
// owns.
func spent(r diagnose.Resources) []string {
	var cells []string
	parts := 0
	for _, x := range r.Spent {
		if x.On != "your lines" && x.On != "dependencies" {
			if parts++; parts > mostBuckets {
				break
			}
		}
		if x.Share >= leastSpent {
			cells = append(cells, x.On+" "+percent(x.Share))
		}
	}
	return cells
}

// The header names everything that takes at least leastSpent of the CPU, and at most mostBuckets of
// the parts that no line owns.
const (
	leastSpent  = 0.02
	mostBuckets = 4
)

// observer returns the overhead of each phase compared with the clean phase: a value if its
// interval excludes zero, otherwise how large it may be.
func observer(m recording.Manifest) []string {
	var cells []string
	for _, p := range m.Phases {
		o := p.Observer
		if o == nil {
			// Counting executions and inputs does not measure time: its factor explains why it has
			// a process of its own.
			if f := m.CPUFactor(&p); f > 0 && recording.Apart(p.Name) {
				cells = append(cells, fmt.Sprintf("%s phase ×%.2g CPU", p.Name, f))
			}
			continue
		}
		var effects []string
		effect := func(name string, value, low, high float64) {
			if low > 0 || high < 0 {
				effects = append(effects, signedPercent(value)+" "+name)
			}
		}
		speed := "throughput"
		if p.Requests == 0 {
			speed = "speed"
		}
		if !o.NoThroughput {
			effect(speed, -o.ThroughputLoss, -o.ThroughputHigh, -o.ThroughputLow)
		}
		if !o.NoCPU {
			effect("CPU", o.CPUGrowth, o.CPUGrowthLow, o.CPUGrowthHigh)
		}
		if len(effects) == 0 {
			effects = []string{"no effect seen"}
		}
		cells = append(cells, p.Name+" phase "+strings.Join(effects, ", "))
	}
	return cells
}

// lengths says how long each phase took, and the builds and pauses between them.
func lengths(m recording.Manifest) []string {
	if len(m.Phases) == 0 || m.Phases[0].Start.IsZero() {
		return nil // recorded by an older hone
	}
	var cells []string
	last := m.Phases[0].Start
	for _, p := range m.Phases {
		cells = append(cells, p.Name+" "+seconds(p.Seconds))
		if end := p.Start.Add(time.Duration(p.Seconds * float64(time.Second))); end.After(last) {
			last = end
		}
	}
	whole := last.Sub(m.Phases[0].Start).Seconds()
	return append([]string{seconds(whole)}, cells...)
}

func signedPercent(share float64) string {
	if share > 0 {
		return "+" + percent(share)
	}
	return strings.Replace(percent(share), "-", "−", 1)
}

func phaseOf(m recording.Manifest, name string) (recording.Phase, bool) {
	for _, p := range m.Phases {
		if p.Name == name {
			return p, true
		}
	}
	return recording.Phase{}, false
}
