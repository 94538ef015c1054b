package render

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/hone-go/hone/profile/blindspots"
	"github.com/hone-go/hone/profile/report"
)

// cpuUse returns the heading of a CPU profile, such as "5.83 s over 6.01 s: 0.97 cores busy", or ""
// for other profiles.
func cpuUse(b blindspots.Spots) string {
	u := b.CPU
	if u == nil {
		return ""
	}
	of := ""
	if u.Cores > 0 {
		of = fmt.Sprintf(" of %d", u.Cores)
	}
	return fmt.Sprintf("%s over %s: %.2f%s cores busy", seconds(u.Seconds), seconds(u.Over), u.Busy(), of)
}

// blindNotes returns notes about what the numbers of a view do not show.
func blindNotes(v *report.View, b blindspots.Spots) []string {
	var notes []string
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if u := b.CPU; u != nil && u.More {
		say("%s of CPU over %s is more than %s can give: profiles taken at the same time were summed, or several programs",
			seconds(u.Seconds), seconds(u.Over), plural(u.Cores, "core"))
	}
	if u := b.CPU; u != nil && u.Counted > 0 {
		say("the kernel counted %s of CPU, the profile holds %s: samples were lost (C code, a throttled machine, a blocked signal); shares refer to the samples that were taken",
			seconds(u.Counted), seconds(u.Seconds))
	}
	if s := b.Sampling; s != nil {
		// Bounds between two samples are rounded outwards: more digits would suggest more
		// precision.
		each := float64(s.Value) / float64(s.Samples)
		low, high := int64(math.Floor(s.Bounds.Low/each)*each), int64(math.Ceil(s.Bounds.High/each)*each)
		value := func(x int64) string { return v.Readable(x, v.ReadableUnit(s.Value)) }
		say("a thread is sampled every %s of CPU time (%.3g Hz): the smallest value shown, %s, is %s: the true value is %s to %s (95 %%)",
			seconds(s.PeriodSeconds), 1/s.PeriodSeconds, value(s.Value), plural(int(s.Samples), "sample"), value(low), value(high))
	}
	if c := b.Cut; c != nil {
		say("stacks cut at the %d frames that the Go runtime records: %d, with %s of %s; their outermost callers are missing, so cum of callers is too small",
			c.Depth, c.Rows, percent(c.Share), v.SampleType.Type)
	}
	if len(b.NoLabels) > 0 {
		say("the Go runtime records labels of goroutines in CPU and goroutine profiles only, so there is nothing here for -%s", strings.Join(b.NoLabels, " and -"))
	}
	return notes
}

// drawNotes draws notes below a report.
func drawNotes(w io.Writer, notes []string, s Style) {
	for _, n := range notes {
		fmt.Fprintln(w, s.paint(faint, wrap("note: "+n, "", s.width())))
	}
}

// cpuUseJSON is CPU time against the clock in JSON.
type cpuUseJSON struct {
	Seconds float64 `json:"seconds"`
	Over    float64 `json:"over_seconds"`
	Busy    float64 `json:"cores_busy"`
	Cores   int     `json:"cores,omitempty"` // available to the program; absent if unknown
	Counted float64 `json:"kernel_seconds,omitempty"`
}

func newCPUUseJSON(b blindspots.Spots) *cpuUseJSON {
	if b.CPU == nil {
		return nil
	}
	return &cpuUseJSON{b.CPU.Seconds, b.CPU.Over, b.CPU.Busy(), b.CPU.Cores, b.CPU.Counted}
}
