package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	exptrace "golang.org/x/exp/trace"
)

// traceArea compares with go tool trace, and with a loop over golang.org/x/exp/trace.Reader, which
// is a lower bound for a tool that is built on it.
func traceArea(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("peers trace", flag.ContinueOnError)
	b := &traceBench{out: out}
	fs.IntVar(&b.runs, "runs", 3, "runs of each tool")
	fs.StringVar(&b.data, "data", "", "`FOLDER` with traces to take instead of making them: t5.trace, t50.trace, t220.trace; those missing are made")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "hone-peers-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.findTools(ctx); err != nil {
		return err
	}
	return b.compareAll(ctx)
}

// traceBench holds the tools and inputs of the comparison.
type traceBench struct {
	runs              int
	data, dir         string // existing traces; directory for created files
	self, trace, hone string // programs
	out               io.Writer
}

func (b *traceBench) findTools(ctx context.Context) error {
	p := profileBench{dir: b.dir}
	if err := p.findTools(ctx); err != nil {
		return err
	}
	b.self, b.hone = p.self, p.hone
	path, err := exec.CommandContext(ctx, "go", "tool", "-n", "trace").Output() // also builds it
	if err != nil {
		return fmt.Errorf("find go tool trace: %w", err)
	}
	b.trace = strings.TrimSpace(string(path))
	return nil
}

// traced holds the measurements on one trace.
type traced struct {
	name   string
	mb     float64
	tools  []string
	usages []usage // hone's is last
}

// biggestForPprof is the largest trace, in MB, on which go tool trace -pprof is run: it takes about
// 85 bytes of memory per byte of the trace, 19 GB for 220 MB.
const biggestForPprof = 50

func (b *traceBench) compareAll(ctx context.Context) error {
	var all []traced
	for _, mb := range []int{5, 50, 220} {
		file, err := b.file(ctx, mb)
		if err != nil {
			return err
		}
		t, err := b.compareOne(ctx, file, mb)
		if err != nil {
			return err
		}
		all = append(all, t)
	}
	return printTraces(b.out, all)
}

// file returns the trace of a size: that in the data directory, or a new one.
func (b *traceBench) file(ctx context.Context, mb int) (string, error) {
	name := fmt.Sprintf("t%d.trace", mb)
	if b.data != "" {
		if file := filepath.Join(b.data, name); exists(file) {
			return file, nil
		}
	}
	file := filepath.Join(b.dir, name)
	if _, err := measure(ctx, []string{b.self, workerArg, "trace", strconv.Itoa(mb), file}); err != nil {
		return "", fmt.Errorf("make a trace of %d MB: %w", mb, err)
	}
	return file, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func (b *traceBench) compareOne(ctx context.Context, file string, mb int) (traced, error) {
	info, err := os.Stat(file)
	if err != nil {
		return traced{}, err
	}
	t := traced{name: filepath.Base(file), mb: float64(info.Size()) / 1e6}
	var rivals []rival
	if mb <= biggestForPprof {
		rivals = append(rivals, rival{"go tool trace -pprof=sched", command(b.trace, "-pprof=sched", file)})
	}
	rivals = append(rivals,
		rival{"x/exp/trace.Reader, a bare loop", command(b.self, workerArg, "readtrace", file)},
		rival{"hone trace summary", command(b.hone, "trace", "summary", file)})
	for _, r := range rivals {
		t.tools = append(t.tools, r.name)
	}
	t.usages, err = compare(ctx, b.runs, rivals)
	return t, err
}

// hone's targets.
const (
	traceRatio = 30.0 // times less CPU than one -pprof run; there are four, and hone computes all at once
	traceRate  = 200  // MB per second of CPU, for traces of 50 MB and more
	tracePeak  = 95.0 // MiB: 100 MB
	traceFlat  = 1.1  // the peak at 220 MB / that at 50 MB
)

func printTraces(out io.Writer, all []traced) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "trace\ttool\tCPU s\tMB/CPU s\tpeak MiB\tCPU by hone's\t")
	for _, t := range all {
		ours := t.usages[len(t.usages)-1]
		name := fmt.Sprintf("%s, %.0f MB", t.name, t.mb)
		for i, u := range t.usages {
			ratio := ""
			if i < len(t.usages)-1 {
				ratio = fmt.Sprintf("%.1f×", u.cpu/ours.cpu)
			}
			fmt.Fprintf(w, "%s\t%s\t%.3f\t%.0f\t%.0f\t%s\t\n", name, t.tools[i], u.cpu, t.mb/u.cpu, u.peak, ratio)
			name = ""
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, g := range traceGoals(all) {
		verdict := "reached"
		if !g.reached {
			verdict = "not reached"
		}
		fmt.Fprintf(out, "%s: %s\n", g.text, verdict)
	}
	fmt.Fprintf(out, "go tool trace is not run on traces above %d MB: it takes about 85 times their size in memory, 19 GB for 220 MB.\n", biggestForPprof)
	return nil
}

// traceGoals judges the targets.
func traceGoals(all []traced) []goal {
	var goals []goal
	var peaks []float64
	for _, t := range all {
		ours := t.usages[len(t.usages)-1]
		if len(t.usages) == 3 {
			ratio := t.usages[0].cpu / ours.cpu
			goals = append(goals, goal{fmt.Sprintf("%s: %.1f× less CPU than one -pprof run (wanted: ≥ %g×)", t.name, ratio, traceRatio), ratio >= traceRatio})
		}
		if t.mb >= biggestForPprof-1 {
			rate := t.mb / ours.cpu
			goals = append(goals, goal{fmt.Sprintf("%s: %.0f MB per CPU second (wanted: ≥ %d)", t.name, rate, traceRate), rate >= traceRate})
			peaks = append(peaks, ours.peak)
		}
		goals = append(goals, goal{fmt.Sprintf("%s: %.0f MiB at most (wanted: ≤ %g)", t.name, ours.peak, tracePeak), ours.peak <= tracePeak})
	}
	if n := len(peaks); n > 1 && peaks[0] > 0 {
		by := peaks[n-1] / peaks[0]
		goals = append(goals, goal{fmt.Sprintf("memory of the largest by that of 50 MB: %.2f (wanted: ≤ %g)", by, traceFlat), by <= traceFlat})
	}
	return goals
}

// traceJob makes a trace: MB FILE.
func traceJob(args []string) error {
	if len(args) != 2 {
		return errors.New("worker: trace needs a size and a file")
	}
	mb, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("worker: trace: %w", err)
	}
	return generateTrace(args[1], int64(mb)*1e6)
}

// readTraceJob reads a trace with golang.org/x/exp/trace and forgets its events.
func readTraceJob(args []string) error {
	if len(args) != 1 {
		return errors.New("worker: readtrace needs a file")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := exptrace.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return err
	}
	for {
		if _, err := r.ReadEvent(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read %s: %w", args[0], err)
		}
	}
}
