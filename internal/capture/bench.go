package capture

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// benchLine is one result line of a benchmark.
type benchLine struct {
	name string // with the -procs suffix
	recording.BenchSample
}

// benchmark is a recording of a package's benchmarks: a program that exits. Its speed is what it
// prints, since a benchmark runs for a given time and not for a given amount of work.
type benchmark struct {
	program
	text  bytes.Buffer // bench.txt: what the clean runs printed
	clean map[string]float64
}

// recordBench records the benchmarks of the test binary.
func (r *recorder) recordBench(ctx context.Context, bin *target.Binary, start startFunc) error {
	b := &benchmark{program: program{recorder: r, start: start}}
	b.spec = target.RunSpec{
		Dir:    bin.Dir, // as go test does, so that testdata is found
		Env:    r.o.Env,
		Stdout: r.stdout(), Stderr: r.stderr(), Echo: r.o.Output,
	}
	b.program.samples = b.samples
	b.program.after = b.readLines

	n, err := b.discover(ctx)
	if err != nil {
		return err
	}
	b.spec.Args = b.args(benchTime(r.o, n))
	if err := r.begin(); err != nil {
		return err
	}
	if err = b.record(ctx, nil); err == nil {
		err = b.recordPeaks(ctx)
	}
	if b.text.Len() > 0 {
		if aerr := r.add(recording.PartBench, recording.PhaseClean, b.text.Bytes()); err == nil {
			err = aerr
		}
	}
	if text, rerr := os.ReadFile(r.stderr()); rerr == nil && len(text) > 0 {
		if aerr := r.add(recording.PartStderr, "", text); err == nil {
			err = aerr
		}
	}
	return err
}

// args are the arguments of the test binary. The user's come last, so that they override.
func (b *benchmark) args(benchtime string) []string {
	return append([]string{
		"-test.run=^$", "-test.bench=" + b.o.Bench, "-test.benchmem", "-test.benchtime=" + benchtime,
	}, b.o.Args...)
}

// discover runs every benchmark once and counts them.
func (b *benchmark) discover(ctx context.Context) (int, error) {
	b.phase = phaseStart
	began := time.Now()
	b.say(Event{Phase: b.phase, Text: "looking for benchmarks that match " + b.o.Bench})
	b.spec.Args = b.args("1x")
	r, err := b.once(ctx, target.Collect{})
	if err != nil {
		return 0, err
	}
	if err := b.failed(r, 1); err != nil {
		return 0, err
	}
	if len(r.lines) == 0 {
		return 0, fmt.Errorf("no benchmarks matched %q in %s", b.o.Bench, b.o.Package)
	}
	b.say(Event{Phase: b.phase, Text: count(len(r.lines), "benchmark"), At: since(began), End: true})
	return len(r.lines), nil
}

// benchTime returns the -test.benchtime with which a run of n benchmarks takes about a quarter of
// the clean phase, so that every phase has several runs. Package testing spends about half as much
// again on finding the number of iterations.
func benchTime(o Options, n int) string {
	clean := time.Duration(0)
	for _, st := range plan(o.Duration, o.Phases) {
		if st.phase == recording.PhaseClean {
			clean += st.length
		}
	}
	d := clean / 4 * 6 / 10 / time.Duration(n)
	return min(max(d, 10*time.Millisecond), 2*time.Second).Round(time.Millisecond).String()
}

// readLines reads what a run printed.
func (b *benchmark) readLines(r *run) error {
	text, err := os.ReadFile(b.spec.Stdout)
	if err != nil {
		return fmt.Errorf("read what the benchmarks printed: %w", err)
	}
	r.lines = parseBench(text)
	if b.phase == recording.PhaseClean {
		b.text.Write(text)
	}
	return nil
}

// parseBench extracts the result lines from a test binary's output.
func parseBench(text []byte) []benchLine {
	var lines []benchLine
	br := benchfmt.NewReader(bytes.NewReader(text), recording.PartBench)
	for br.Scan() {
		res, ok := br.Result().(*benchfmt.Result)
		if !ok {
			continue // a line that only looks like a benchmark's
		}
		if line := (benchLine{name: res.Name.String()}); line.read(res) {
			lines = append(lines, line)
		}
	}
	return lines
}

// read copies the figures of a result; it reports whether the time per operation is among them.
func (l *benchLine) read(res *benchfmt.Result) bool {
	l.Iterations = int64(res.Iters)
	for _, v := range res.Values {
		switch v.Unit {
		case "sec/op":
			l.SecondsPerOp = v.Value
		case "B/op":
			l.BytesPerOp = &v.Value
		case "allocs/op":
			l.AllocsPerOp = &v.Value
		default:
			if l.Metrics == nil {
				l.Metrics = map[string]float64{}
			}
			l.Metrics[v.Unit] = v.Value
		}
	}
	return l.SecondsPerOp > 0
}

// samples compares runs by work done. An iteration counts as long as it took in the clean phase, so
// that runs of several benchmarks with different numbers of iterations compare. Throughput is work
// per measured second, 1 on average in the clean phase. cpu is CPU seconds per work; it includes
// the search for the number of iterations, which is in proportion.
func (b *benchmark) samples(runs []run) []sample {
	if b.clean == nil {
		b.clean = meanSeconds(runs)
	}
	out := make([]sample, len(runs))
	for i, r := range runs {
		var work, took float64
		for _, l := range r.lines {
			work += float64(l.Iterations) * b.clean[l.name]
			took += float64(l.Iterations) * l.SecondsPerOp
		}
		out[i] = sample{throughput: unknown, cpu: unknown}
		if work > 0 && took > 0 {
			out[i] = sample{throughput: work / took, cpu: r.cpu() / work}
		}
	}
	return out
}

// meanSeconds is each benchmark's mean time per iteration.
func meanSeconds(runs []run) map[string]float64 {
	mean, n := map[string]float64{}, map[string]float64{}
	for _, r := range runs {
		for _, l := range r.lines {
			n[l.name]++
			mean[l.name] += (l.SecondsPerOp - mean[l.name]) / n[l.name]
		}
	}
	return mean
}

// lastWords returns the last lines that a test binary printed.
func lastWords(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], " | ")
}
