package capture

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// recordPeaks runs a fixed number of each benchmark's operations in a separate process, and adds
// that process's largest size to the clean phase. A benchmark that fails there, or takes too long,
// gets none. Only the end of ctx is returned as an error.
func (b *benchmark) recordPeaks(ctx context.Context) error {
	st := b.kept(recording.PhaseClean)
	list := slices.Clone(st.phase.Benchmarks)
	asked := false
	b.phase = "peak" // the output is not that of a clean run
	for i := range list {
		n := b.o.PeakOperations[list[i].Name]
		if n <= 0 {
			continue
		}
		asked = true
		if size := b.peak(ctx, &list[i], n); size > 0 {
			list[i].PeakRSSBytes, list[i].PeakOperations = size, n
		}
		if ctx.Err() != nil {
			return b.interrupted(ctx)
		}
	}
	if !asked {
		return nil
	}
	st.phase.Benchmarks = list
	b.keep(st)
	return b.checkpoint()
}

// peak returns the largest size of a process that runs n operations of a benchmark, 0 if unknown.
func (b *benchmark) peak(ctx context.Context, of *recording.Benchmark, n int64) int64 {
	plain := time.Duration(float64(n) * of.Samples[0].SecondsPerOp * float64(time.Second))
	ctx, cancel := context.WithTimeout(ctx, max(freeAgain, slowestAgain*plain))
	defer cancel()
	spec := b.spec
	b.spec.Args = append(slices.Clone(b.o.Args), peakArgs(of.Name, n)...)
	r, err := b.once(ctx, target.Collect{})
	b.spec = spec
	if err != nil || len(r.lines) != 1 || r.lines[0].name != of.Name || r.exit.Failure() != "" {
		return 0
	}
	return r.exit.Usage.MaxRSS
}

// procsSuffix is what package testing adds to names of benchmarks if GOMAXPROCS is not 1.
var procsSuffix = regexp.MustCompile(`-(\d+)$`)

// peakArgs are the arguments for a test binary to run n operations of one benchmark and nothing
// else.
func peakArgs(name string, n int64) []string {
	procs := "1"
	if m := procsSuffix.FindStringSubmatch(name); m != nil {
		procs, name = m[1], strings.TrimSuffix(name, m[0])
	}
	parts := strings.Split("Benchmark"+name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return []string{
		"-test.run=^$", "-test.bench=" + strings.Join(parts, "/"), "-test.count=1", "-test.cpu=" + procs, fmt.Sprintf("-test.benchtime=%dx", n),
	}
}
