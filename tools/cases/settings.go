package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/experiment/tunegc"
)

// The largest differences between a prediction and its measurement, relative to the measurement.
const (
	cpuApart    = 0.10
	memoryApart = 0.20
)

// settingsMemory is the memory that the programs may use, in bytes.
const settingsMemory = 1 << 30

// otherSettings returns values of GOGC that are measured in addition to the one that hone
// recommends, at least three of them.
func otherSettings() []int { return []int{50, 200, 400, 800} }

// settingsCases returns the programs whose garbage collector settings are predicted and measured.
func settingsCases() []program {
	return []program{
		{name: "logparser: the garbage collector works hard", dir: "logparser/before", targets: "targets.txt", connections: 8},
		{name: "columns: a live heap without pointers", dir: "columns"},
	}
}

// settings is what hone tune gc says about a program.
type settings struct {
	program program
	result  *tunegc.Result
}

// apartFrom returns the relative error of a prediction for CPU and memory. Predicted and measured
// CPU time are first divided by that of the program's own setting, because the machine may be
// faster or slower now than when the program was observed.
func apartFrom(r *tunegc.Result, x tunegc.Row) (cpu, memory float64, ok bool) {
	m, own := x.Measured, ownRow(r)
	if m == nil || m.Failed != "" || m.Ratio == nil || *m.Ratio <= 0 || m.Resident <= 0 || own == nil || own.CPUSeconds <= 0 {
		return 0, 0, false
	}
	return x.CPUSeconds/own.CPUSeconds / *m.Ratio - 1, x.Resident/m.Resident - 1, true
}

// ownRow returns the row of the program's own setting.
func ownRow(r *tunegc.Result) *tunegc.Row {
	for i := range r.Rows {
		if r.Rows[i].Own {
			return &r.Rows[i]
		}
	}
	return nil
}

// tuneAll tunes programs.
func (r *runner) tuneAll(ctx context.Context, programs []program) ([]settings, error) {
	var all []settings
	for _, p := range programs {
		o, err := r.options(p, capture.Options{Duration: r.duration, Warmup: r.duration})
		if err != nil {
			return nil, err
		}
		say := func(e capture.Event) {
			if e.End || e.Phase == "try" {
				fmt.Fprintf(os.Stderr, "%s: %s: %s\n", p.dir, e.Phase, e.Text)
			}
		}
		result, err := tunegc.Run(ctx, r.session, tunegc.Spec{Options: o, Memory: settingsMemory, Also: otherSettings(), Runs: r.processes, Progress: say})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.dir, err)
		}
		all = append(all, settings{p, result})
	}
	return all, nil
}

// printSettings tunes programs and prints the page or, with a name, writes it there.
func (r *runner) printSettings(ctx context.Context, w io.Writer, programs []program, name string) error {
	began := time.Now()
	all, err := r.tuneAll(ctx, programs)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	writeSettings(&page, all, r.duration, time.Since(began))
	if name != "" {
		return os.WriteFile(name, page.Bytes(), 0o644)
	}
	_, err = w.Write(page.Bytes())
	return err
}

// writeSettings prints the page.
func writeSettings(w io.Writer, all []settings, length, took time.Duration) {
	fmt.Fprintf(w, "# Predicted and measured settings of the garbage collector\n\n"+
		"Made by `go run ./tools/cases -gc -w`, in %.0f minutes; do not edit. For each program it runs `hone tune gc` with 1 GiB of memory:\n"+
		"it runs the program once with the current setting, and then measures the recommended setting and others for %s each,\n"+
		"interleaved with the current one.\n\n"+
		"CPU is the change compared with the current setting. *Apart* is by how much the prediction differs from the measurement, of the\n"+
		"total CPU time and of the peak resident memory. A prediction holds if that is at most %.0f %% of CPU and %.0f %% of memory.\n",
		math.Ceil(took.Minutes()), length, 100*cpuApart, 100*memoryApart)
	for _, s := range all {
		s.section(w)
	}
}

// section prints the part of the page about one program.
func (s settings) section(w io.Writer) {
	r := s.result
	fmt.Fprintf(w, "\n## %s\n\n", s.program.name)
	fmt.Fprintf(w, "`examples/%s`, %s, %d cores; other processes kept %.1f cores busy. With GOGC=%d the garbage collector takes %.1f %% of CPU in %.3g\n"+
		"collections per %s, and the live heap has %.0f MiB. Beside that, the program loses %.2f s for each second of the garbage collector, as far as is known.\n\n",
		s.program.dir, runtime.Version(), runtime.NumCPU(), r.OtherCores, r.GOGC, 100*r.GCShare, r.Cycles, r.Unit, r.LiveBytes/(1<<20), r.Drag)
	if r.Choice != nil {
		fmt.Fprintf(w, "Recommended: `%s`.\n\n", strings.Join(r.Choice.Env, " "))
	} else {
		fmt.Fprintf(w, "Recommended: the current setting; %s.\n\n", r.Keep)
	}
	fmt.Fprint(w, "| setting | CPU predicted | measured (95 %) | apart | memory predicted | measured | apart | holds |\n|---|---|---|---|---|---|---|---|\n")
	for i, x := range r.Rows {
		cpu, memory, ok := apartFrom(r, x)
		if !ok {
			continue
		}
		name := fmt.Sprintf("GOGC=%d", x.GOGC)
		if r.Choice != nil && r.Choice.Row == i {
			name = "**" + name + "**"
		}
		holds := "yes"
		if math.Abs(cpu) > cpuApart || math.Abs(memory) > memoryApart {
			holds = "no"
		}
		measured := fmt.Sprintf("%+.1f %%", 100*(*x.Measured.Ratio-1))
		if m := x.Measured; m.Low != nil && m.High != nil {
			measured += fmt.Sprintf(" (%+.1f to %+.1f)", 100*(*m.Low-1), 100*(*m.High-1))
		}
		fmt.Fprintf(w, "| %s | %+.1f %% | %s | %+.1f %% | %.0f MiB | %.0f MiB | %+.1f %% | %s |\n", name,
			100*(x.CPUSeconds/ownRow(r).CPUSeconds-1), measured, 100*cpu, x.Resident/(1<<20), x.Measured.Resident/(1<<20), 100*memory, holds)
	}
}
