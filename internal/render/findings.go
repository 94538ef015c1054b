package render

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// FindingsPage is what the findings page is drawn from.
type FindingsPage struct {
	Report   *diagnose.Report
	Manifest recording.Manifest
	Table    *site.Table // for what the CPU is spent on; may be nil
	Top      int         // findings to draw; 0 = 10
	Verbose  bool        // all evidence, hints in full, all notes
}

// defaultTop is how many findings a tired engineer reads.
const defaultTop = 10

// Findings draws the page of `hone run` and `hone findings`: a header with the
// program's figures, then the ranked findings.
func Findings(w io.Writer, p FindingsPage, s Style) {
	header(w, p, s)
	shown, generic := split(p.Report.Findings)
	top := p.Top
	if top <= 0 {
		top = defaultTop
	}
	rest := len(shown) - min(top, len(shown))
	none := !inCode(shown)
	shown = shown[:len(shown)-rest]
	fmt.Fprintln(w)
	if none {
		fmt.Fprintln(w, wrap(s.paint(strong, "No findings in the code.")+" "+silence(p), "", s.width()))
		if len(shown) > 0 {
			fmt.Fprint(w, "Settings to try:\n")
		}
		fmt.Fprintln(w)
	}
	for i := range shown {
		finding(w, &shown[i], p, s)
	}
	otherLines(w, generic, p, s)
	footer(w, p, top, rest, s)
}

// fewSamples is below what any finding could rest on: not even a line that takes half
// of the CPU is known to a tenth.
const fewSamples = 20

// silence says why there is no finding.
func silence(p FindingsPage) string {
	m := p.Manifest
	if n := p.Report.Resources.CPUSamples; n < fewSamples {
		if m.Load == nil && m.Target.Kind != "program" && m.Target.Kind != "bench" {
			return "The program had next to nothing to do while it was watched: drive it with -load."
		}
		return "Hardly any CPU was profiled: give it more work, or a longer -duration."
	}
	return "None of the known mistakes costs enough here to be worth your time."
}

// inCode tells whether any finding is about a line, not about a setting.
func inCode(fs []diagnose.Finding) bool {
	for _, f := range fs {
		if f.File != "" {
			return true
		}
	}
	return false
}

func header(w io.Writer, p FindingsPage, s Style) {
	m, r := p.Manifest, p.Report.Resources
	title := []string{m.Target.Arg}
	for _, x := range []string{m.Runtime.Go, machine(m), loadLine(m), m.Created.Local().Format(time.DateTime)} {
		if x != "" {
			title = append(title, x)
		}
	}
	fmt.Fprintln(w, s.paint(strong, "hone")+" · "+strings.Join(title, " · "))
	fmt.Fprintln(w)
	var rows [][]string
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
	if r.Throughput > 0 {
		row("throughput", fmt.Sprintf("%s %ss/s", group(r.Throughput), m.Unit()), failures(clean))
	}
	if q, what := latency(clean); q != nil {
		row(what, fmt.Sprintf("p50 %s · p90 %s · p99 %s · max %s", seconds(q.P50), seconds(q.P90), seconds(q.P99), seconds(q.Max)), limited(clean, s))
	}
	row("CPU", each(r.CPUPerRequest, seconds, m), cores(r, m), limiting(r))
	row("GC", gcLine(r), rate(r.AllocRate), each(r.BytesPerRequest, size, m), each(r.ObjectsPerRequest, objects, m))
	row("profiled", profiled(r))
	row("spent on", spent(p.Table)...)
	row("observed", observer(m)...)
	for _, line := range table(rows, "  ") {
		fmt.Fprintln(w, line)
	}
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
	if m.Load == nil {
		return ""
	}
	conns := plural(m.Load.Connections, "connection")
	if m.Load.Rate > 0 {
		return fmt.Sprintf("%s requests/s asked, %s", group(m.Load.Rate), conns)
	}
	return "flat out, " + conns
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
		return s.paint(bad, "the generator was the limit: do not trust these")
	}
	return ""
}

// each prints a figure of one request, operation or run.
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
	if m.Runtime.GOMAXPROCS > 0 {
		return fmt.Sprintf("%.2f of %s busy", r.Cores, plural(m.Runtime.GOMAXPROCS, "core"))
	}
	return fmt.Sprintf("%.2f cores busy", r.Cores)
}

func limiting(r diagnose.Resources) string {
	switch r.Limiting {
	case "", "none":
		return "nothing is the limit"
	case "cpu":
		return "CPU is the limit"
	case "latency":
		return "requests wait for something else than CPU"
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

// spent says where the CPU goes: lines of modules, then the dearest buckets.
func spent(t *site.Table) []string {
	if t == nil || t.Totals.TotalSeconds <= 0 {
		return nil
	}
	var yours, deps float64
	for _, x := range t.Sites {
		if x.Owner.Kind == gocode.Main {
			yours += x.Cost.CPUSeconds
		} else {
			deps += x.Cost.CPUSeconds
		}
	}
	var cells []string
	add := func(name string, seconds float64) {
		if share := seconds / t.Totals.TotalSeconds; share >= leastSpent {
			cells = append(cells, name+" "+percent(share))
		}
	}
	add("your lines", yours)
	add("dependencies", deps)
	buckets := slices.Clone(t.Buckets)
	slices.SortStableFunc(buckets, func(a, b site.Bucket) int { return cmp.Compare(b.Seconds, a.Seconds) })
	for _, b := range buckets[:min(len(buckets), mostBuckets)] {
		add(b.Name, b.Seconds)
	}
	return cells
}

// The header names what takes at least leastSpent of the CPU, and at most
// mostBuckets of what no line owns.
const (
	leastSpent  = 0.02
	mostBuckets = 4
)

// observer says what each observing phase cost against the clean one: a figure
// where the interval excludes zero, else how much could not have been seen.
func observer(m recording.Manifest) []string {
	var cells []string
	for _, p := range m.Phases {
		o := p.Observer
		if o == nil {
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

// finding draws one finding: headline, place, source, why, fix, evidence.
func finding(w io.Writer, f *diagnose.Finding, p FindingsPage, s Style) {
	number := fmt.Sprintf("%2d", f.Rank)
	fmt.Fprintf(w, "%s  %s\n", s.paint(strong, number), headline(f, s))
	const indent = "    "
	fmt.Fprintln(w, indent+placeLine(f, s))
	for _, line := range sourceLines(f, s) {
		fmt.Fprintln(w, indent+line)
	}
	part := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s%s  %s\n", indent, s.paint(faint, padRight(name, 4)), wrap(text, indent+"      ", s.width()))
		}
	}
	part("why", f.Cause)
	part("fix", f.Fix)
	part("cost", costLine(f))
	for i, e := range f.Evidence {
		if i > 0 && !p.Verbose {
			break
		}
		if p.Verbose || e.Command == "" {
			part("seen", e.What+": "+e.Value)
		}
		if e.Command != "" { // never wrapped: it is there to be copied
			fmt.Fprintf(w, "%s%s  %s\n", indent, s.paint(faint, "see "), s.paint(code, e.Command))
		}
	}
	fmt.Fprintln(w)
}

// sourceLines draws the finding's lines, dearest first, each with its share.
func sourceLines(f *diagnose.Finding, s Style) []string {
	var rows [][]string
	for _, line := range f.Sites {
		if line.Source != "" && len(rows) < maxSourceLines {
			rows = append(rows, []string{
				s.paint(faint, fmt.Sprintf("%5d │", line.Line)),
				s.paint(code, clip(strings.TrimSpace(line.Source), s.width()-30)) + " ",
				s.paint(faint, percent(line.Share)),
			})
		}
	}
	return table(rows, " ")
}

// maxSourceLines is how many of a finding's lines the page shows.
const maxSourceLines = 4

func headline(f *diagnose.Finding, s Style) string {
	h := s.paint(strong, f.Title)
	if f.Saving != nil {
		h += s.paint(good, fmt.Sprintf("  saves %s of %s", percent(f.Saving.Share), resource(f.Saving.Resource))) +
			s.paint(faint, fmt.Sprintf(" (%s)", span(f.Saving.Low, f.Saving.High)))
	}
	tied := ""
	if len(f.TiedWith) > 0 {
		tied = ", tied with " + joinInts(f.TiedWith)
	}
	return h + s.paint(faint, "  "+string(f.Confidence)+tied)
}

func resource(r string) string {
	if r == "cpu" {
		return "CPU"
	}
	return r
}

func joinInts(xs []int) string {
	parts := make([]string, len(xs))
	for i, x := range xs {
		parts[i] = fmt.Sprint(x)
	}
	return strings.Join(parts, ", ")
}

func placeLine(f *diagnose.Finding, s Style) string {
	if f.File == "" {
		return s.paint(faint, "the whole program")
	}
	line := s.paint(strong, placeOf(f)) + "  " + f.Function
	if f.Entry != nil {
		line += s.paint(faint, fmt.Sprintf("  called from %s:%d", filepath.Base(f.Entry.File), f.Entry.Line))
	}
	return line
}

func costLine(f *diagnose.Finding) string {
	var parts []string
	share := func(name string, x *float64) {
		if x != nil && *x > 0 {
			parts = append(parts, name+" "+percent(*x))
		}
	}
	share("CPU", f.Cost.CPUShare)
	share("its GC work", f.Cost.GCShare)
	share("allocated bytes", f.Cost.AllocBytesShare)
	share("allocated objects", f.Cost.AllocObjectsShare)
	share("lock and channel waiting", f.Cost.WaitShare)
	if f.Cost.LiveBytes != nil && *f.Cost.LiveBytes > 0 {
		parts = append(parts, "live "+size(float64(*f.Cost.LiveBytes)))
	}
	return strings.Join(parts, " · ")
}

// clip shortens text to width columns.
func clip(text string, width int) string {
	r := []rune(text)
	if len(r) <= width {
		return text
	}
	return string(r[:width-1]) + "…"
}

func footer(w io.Writer, p FindingsPage, top, rest int, s Style) {
	if rest > 0 {
		fmt.Fprintf(w, "%s more with -top %d.\n", plural(rest, "finding"), top+rest)
	}
	if n := p.Report.Hidden.BelowFloor; n > 0 {
		fmt.Fprintf(w, "%s below the floor (%s of CPU) not shown.\n", plural(n, "finding"), percent(p.Report.Hidden.Floor))
	}
	for _, note := range p.Report.Notes {
		fmt.Fprintln(w, s.paint(faint, "note: ")+wrap(note, "      ", s.width()))
	}
	for _, text := range missing(p) {
		fmt.Fprintln(w, s.paint(faint, "note: ")+wrap(text, "      ", s.width()))
	}
}

// missing says which parts are not there, those with the same remedy together: what
// one cause took away is one line.
func missing(p FindingsPage) []string {
	var lines, remedies []string
	parts := map[string][]string{}
	why := map[string]string{}
	for _, x := range p.Manifest.Missing {
		if !p.Verbose && (expectedMissing(p.Manifest, x) || told(p.Report.Notes, x.Part)) {
			continue
		}
		remedy := cmp.Or(x.How, x.Why)
		if len(parts[remedy]) == 0 {
			remedies = append(remedies, remedy)
			why[remedy] = x.Why
		}
		parts[remedy] = append(parts[remedy], x.Part)
	}
	for _, remedy := range remedies {
		line := "missing " + strings.Join(parts[remedy], ", ") + ": " + why[remedy]
		if remedy != why[remedy] {
			line += "; " + remedy
		}
		lines = append(lines, line)
	}
	return lines
}

// told tells whether a note of the diagnosis speaks of a part already.
func told(notes []string, part string) bool {
	return slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, part) })
}

// expectedMissing tells of parts that nobody looks for: what ordinary runtimes do
// not have, and snapshots of a program that ended before one could be taken. They are
// told with -v only.
func expectedMissing(m recording.Manifest, x recording.Missing) bool {
	switch x.Part {
	case recording.PartLeaks:
		return true
	case recording.PartGoroutine, recording.PartGoroutineTxt, recording.PartThreads:
		return m.Target.Kind == "program" || m.Target.Kind == "bench"
	}
	return false
}
