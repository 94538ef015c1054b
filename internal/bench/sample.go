package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/hone-go/hone/internal/target"
)

// pilotTime is how long a benchmark runs to find its number of iterations.
const pilotTime = 50 * time.Millisecond

// find lists the benchmarks that both sides have, and sets the iterations of their samples.
func (r *runner) find(ctx context.Context) error {
	names := [2]map[string]float64{}
	cpus := map[string]int{}
	for i, sd := range r.sides {
		names[i] = map[string]float64{}
		for _, path := range sorted(sd.packages) {
			r.Progress(Progress{Text: "looking for benchmarks in " + path})
			for _, n := range r.CPUs {
				lines, err := r.output(ctx, sd.packages[path].layouts[0].binary, "-test.bench="+r.Bench, "-test.benchtime="+pilotTime.String(), fmt.Sprintf("-test.cpu=%d", n))
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				for _, l := range lines {
					names[i][path+"\x00"+l.name] = l.values["ns/op"]
					cpus[path+"\x00"+l.name] = n
				}
			}
		}
	}
	for _, key := range sorted(names[newSide]) {
		path, name, _ := strings.Cut(key, "\x00")
		slowest := names[newSide][key]
		x := &subject{Benchmark: &Benchmark{Package: path, Name: name}, cpus: cpus[key]}
		x.setPackage(newSide, r.sides[newSide].packages[path])
		if r.Against != "" {
			old, ok := names[oldSide][key]
			if !ok {
				r.result.OnlyNew = append(r.result.OnlyNew, path+" "+name)
				continue
			}
			slowest = max(slowest, old)
			x.setPackage(oldSide, r.sides[oldSide].packages[path])
		}
		x.Iterations = int64(min(1e9, max(1, math.Ceil(float64(r.Time.Nanoseconds())/max(slowest, 0.1)))))
		r.subjects = append(r.subjects, x)
	}
	if r.Against != "" {
		for _, key := range sorted(names[oldSide]) {
			if _, ok := names[newSide][key]; !ok {
				r.result.OnlyOld = append(r.result.OnlyOld, strings.Replace(key, "\x00", " ", 1))
			}
		}
	}
	return nil
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// sample runs one process.
func (r *runner) sample(ctx context.Context, x *subject, from layout) (Sample, error) {
	began := time.Now()
	lines, err := r.output(ctx, from.binary, x.arguments(x.Iterations)...)
	if err != nil {
		return Sample{}, fmt.Errorf("%s %s: %w", x.Package, x.Name, err)
	}
	for _, l := range lines {
		if l.name == x.Name {
			return Sample{Layout: from.seed, Seconds: time.Since(began).Seconds(), Values: l.values}, nil
		}
	}
	return Sample{}, fmt.Errorf("%s %s: running it alone printed no result", x.Package, x.Name)
}

// procs is the suffix that package testing adds for GOMAXPROCS.
var procs = regexp.MustCompile(`-\d+$`)

// arguments returns the flags that run n iterations of a benchmark alone.
func (x *subject) arguments(n int64) []string {
	return []string{"-test.bench=" + exactly(x.bareName()), fmt.Sprintf("-test.benchtime=%dx", n), fmt.Sprintf("-test.cpu=%d", x.cpus)}
}

// bareName returns the benchmark's name without the suffix that package testing adds for
// GOMAXPROCS.
func (x *subject) bareName() string {
	if x.cpus > 1 {
		return strings.TrimSuffix(x.Name, fmt.Sprintf("-%d", x.cpus))
	}
	return x.Name
}

// exactly returns the value of -test.bench that matches only one benchmark. name has no -procs
// suffix.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

type line struct {
	name   string
	values map[string]float64
}

// output runs a test binary to its end and returns the results that it prints.
func (r *runner) output(ctx context.Context, bin *target.Binary, args ...string) ([]line, error) {
	stdout := filepath.Join(r.work, "stdout")
	proc, err := bin.Start(ctx, target.RunSpec{
		Dir: bin.Dir, Stdout: stdout, Args: append([]string{"-test.run=^$", "-test.benchmem", "-test.count=1"}, args...),
	})
	if err != nil {
		return nil, err
	}
	<-proc.Done()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(stdout)
	if why := proc.Exit().Failure(); why != "" {
		return nil, fmt.Errorf("%w: %s\n%s", errFailed, why, lastLines(text))
	}
	if err != nil {
		return nil, err
	}
	return parse(text)
}

func lastLines(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

// parse reads benchmark lines; units are as printed.
func parse(text []byte) ([]line, error) {
	var lines []line
	for br := benchfmt.NewReader(bytes.NewReader(text), "output"); br.Scan(); {
		res, ok := br.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		l := line{name: res.Name.String(), values: map[string]float64{}}
		if !strings.HasPrefix(l.name, "Benchmark") {
			l.name = "Benchmark" + l.name
		}
		for _, v := range res.Values {
			l.values[cmp.Or(v.OrigUnit, v.Unit)] = original(v)
		}
		lines = append(lines, l)
	}
	if len(lines) == 0 && bytes.Contains(text, []byte("--- FAIL")) {
		return nil, errors.New(lastLines(text))
	}
	return lines, nil
}

// original returns a value in the unit that was printed: benchfmt turns ns/op and MB/s into seconds
// and bytes.
func original(v benchfmt.Value) float64 {
	if v.OrigUnit != "" {
		return v.OrigValue
	}
	return v.Value
}
