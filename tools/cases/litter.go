package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/stats"
)

// strewn is a number of objects of one kind that are thrown away beside one kind of work.
type strewn struct{ work, kind, n string }

// program is testdata/litter with these objects, and more flags.
func (s strewn) program(name string, more ...string) program {
	return program{
		name: name, dir: "litter", get: "/", connections: 8,
		args: append([]string{"-work", s.work, "-kind", s.kind, "-n", s.n}, more...),
	}
}

// litter lists how many objects are thrown away beside which work: enough for allocation to take
// between 5 and 15 % of CPU.
var litter = []strewn{
	{"json", "numbers", "150"},
	{"decode", "buffers", "8"},
	{"page", "texts", "40"},
	{"map", "nodes", "60"},
	{"lines", "buffers", "12"},
	{"sort", "texts", "40"},
	{"regexp", "nodes", "60"},
	{"hash", "numbers", "150"},
	{"flate", "texts", "60"},
}

// measureLitter prints what a second of allocating costs the rest of a program, apart from itself
// and the garbage collector: the figure that a diagnosis adds to a line that allocates (diagnose,
// spill). A service runs with litter and without. What it saves without, minus what its profile
// charges to the line of the litter, is the litter's cost to others.
func (r *runner) measureLitter(ctx context.Context, w io.Writer) error {
	fmt.Fprint(w, "| work | litter | saved without | the line | its collection | its allocating | beyond, per second of allocating |\n|---|---|---|---|---|---|---|\n")
	var beyond []float64
	for _, l := range litter {
		result, saved, err := r.pair(ctx, l.program("with"), l.program("without", "-n", "0"))
		if err != nil {
			return err
		}
		var line, collection, allocating float64
		for _, s := range result.Table.Sites {
			if s.Function == "main.strew" {
				line += s.Cost.CPUSeconds / result.Table.Totals.TotalSeconds
				collection += s.Cost.GCSeconds / result.Table.Totals.TotalSeconds
				allocating += s.Cost.MallocSeconds / result.Table.Totals.TotalSeconds
			}
		}
		if allocating == 0 {
			return fmt.Errorf("the profile of %s has no sample in the litter of %s", l.work, l.kind)
		}
		beyond = append(beyond, (saved.Value-line-collection)/allocating)
		fmt.Fprintf(w, "| %s | %s %s | %s | %.1f %% | %.1f %% | %.1f %% | %.2f |\n",
			l.work, l.n, l.kind, percent(saved), 100*line, 100*collection, 100*allocating, beyond[len(beyond)-1])
	}
	mean := stats.Mean(beyond)
	fmt.Fprintf(w, "\nOn average %.2f (%.2f to %.2f) seconds of others for each second of allocating.\n", mean.Value, mean.Low, mean.High)
	return nil
}

// liveLitter is litter beside which the programs, with a heap of about 15 MiB, collect often.
var liveLitter = []strewn{
	{"json", "nodes", "60"},
	{"page", "texts", "20"},
	{"decode", "texts", "20"},
	{"regexp", "nodes", "60"},
	{"lines", "texts", "60"},
	{"map", "buffers", "6"},
}

// measureCollector prints what a second of garbage collection costs the rest of a program, apart
// from itself: the figure for the prediction of GOGC (gc-cpu-spare-memory, outside). The same
// service runs with GOGC at 100 and at 400, which removes three quarters of that work.
func (r *runner) measureCollector(ctx context.Context, w io.Writer) error {
	fmt.Fprint(w, "| work | litter | collector at 100 | saved at 400 | beyond, per second of collecting saved |\n|---|---|---|---|---|\n")
	for _, l := range liveLitter {
		result, saved, err := r.pair(ctx, l.program("100"), l.program("400", "-gogc", "400"))
		if err != nil {
			return err
		}
		work := result.Table.Totals.Collecting() / result.Table.Totals.TotalSeconds
		if work == 0 {
			return fmt.Errorf("the profile of %s has no sample of the collector", l.work)
		}
		gone := 0.75 * work
		fmt.Fprintf(w, "| %s | %s %s | %.1f %% | %s | %.2f (%.2f to %.2f) |\n", l.work, l.n, l.kind, 100*work, percent(saved),
			(saved.Value-gone)/gone, (saved.Low-gone)/gone, (saved.High-gone)/gone)
	}
	return nil
}

// counting lists programs that also count events by labels that are looked up, so many that this
// takes about 15 to 30 % of CPU.
var counting = []strewn{
	{"json", "labels", "12"},
	{"page", "labels", "12"},
	{"decode", "labels", "12"},
	{"map", "labels", "12"},
	{"lines", "labels", "12"},
	{"regexp", "labels", "12"},
	{"sort", "labels", "12"},
	{"hash", "labels", "12"},
	{"flate", "labels", "30"},
}

// measureLabels prints which part of the cost of looking up a metric's children is saved by keeping
// them: the figure for the prediction of metric-label-per-call. A service runs with labels that are
// formatted and looked up for each event, and with children that are kept by number. The line's
// cost is that of the finding.
func (r *runner) measureLabels(ctx context.Context, w io.Writer) error {
	fmt.Fprint(w, "| work | the line | saved with children kept | of the line's cost |\n|---|---|---|---|\n")
	var fractions []float64
	for _, l := range counting {
		kept := l
		kept.kind = "kept"
		result, saved, err := r.pair(ctx, l.program("labels"), kept.program("kept"))
		if err != nil {
			return err
		}
		i := slices.IndexFunc(result.Report.Findings, func(f diagnose.Finding) bool { return f.Rule == "metric-label-per-call" })
		if i < 0 {
			return fmt.Errorf("the labels beside %s were not found", l.work)
		}
		cost := result.Report.Findings[i].Cost.WithGC
		fractions = append(fractions, saved.Value/cost.Share)
		fmt.Fprintf(w, "| %s | %.1f %% | %s | %.2f (%.2f to %.2f) |\n",
			l.work, 100*cost.Share, percent(saved), saved.Value/cost.Share, saved.Low/cost.Share, saved.High/cost.Share)
	}
	mean := stats.Mean(fractions)
	fmt.Fprintf(w, "\nOn average %.2f (%.2f to %.2f) of the line's cost.\n", mean.Value, mean.Low, mean.High)
	return nil
}

// measureBeside prints one of the three tables.
func (r *runner) measureBeside(ctx context.Context, w io.Writer, what string) error {
	switch what {
	case "allocating":
		return r.measureLitter(ctx, w)
	case "collecting":
		return r.measureCollector(ctx, w)
	case "labels":
		return r.measureLabels(ctx, w)
	}
	return fmt.Errorf("-litter %s: there are allocating, collecting and labels", what)
}

// pair profiles the first of two programs, and measures how much less the second one spends.
func (r *runner) pair(ctx context.Context, first, second program) (*session.Result, stats.Interval, error) {
	path, err := r.record(ctx, first, capture.Options{Duration: 2 * r.duration, Phases: []string{recording.PhaseCPU}})
	if err != nil {
		return nil, stats.Interval{}, err
	}
	result, err := session.Diagnose(ctx, r.session, path)
	if err != nil {
		return nil, stats.Interval{}, err
	}
	clean := make([][]recording.Phase, 2)
	if err := r.measureServices(ctx, study{programs: []program{first, second}}, clean, 0, 1); err != nil {
		return nil, stats.Interval{}, err
	}
	share, _, err := saved("cpu", clean[0], clean[1])
	return result, share, err
}
