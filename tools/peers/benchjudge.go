package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hone-go/hone/internal/bench"
	verdicts "github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/stats"
)

// block is one block of a trial, which runs a variant twice.
type block [2]bench.Sample

func (b block) seconds() float64 { return b[0].Seconds + b[1].Seconds }

// stream holds one benchmark's blocks of one piece: those of the base and of the planted change, in
// the order in which they ran.
type stream struct {
	name  string
	sides [2][]block
}

// pieces reads all pieces; each has a stream per benchmark.
func (s *study) pieces() ([][]stream, error) {
	files, err := filepath.Glob(filepath.Join(s.data, "piece-*.json"))
	if err != nil {
		return nil, err
	}
	var out [][]stream
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var r bench.Result
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		var piece []stream
		for _, b := range r.Benchmarks {
			x := stream{name: b.Name}
			for side, samples := range [2][]bench.Sample{b.Old, b.New} {
				for i := 0; i+1 < len(samples); i += 2 {
					x.sides[side] = append(x.sides[side], block{samples[i], samples[i+1]})
				}
			}
			piece = append(piece, x)
		}
		out = append(out, piece)
	}
	return out, nil
}

// window reads pairs of blocks, one of each side, from a stream, as a trial would run them.
type window struct {
	old, new []block // blocks labelled as this side
	at       int
}

// take appends the next pair of blocks to both sides and returns their run time in seconds; false
// at the end of the stream.
func (w *window) take(old, new *[]bench.Sample) (seconds float64, ok bool) {
	if w.at >= min(len(w.old), len(w.new)) {
		return 0, false
	}
	o, n := w.old[w.at], w.new[w.at]
	w.at++
	*old, *new = append(*old, o[:]...), append(*new, n[:]...)
	return o.seconds() + n.seconds(), true
}

// trialOf judges benchmarks as hone bench does with a budget. ok is false if a stream ends before
// the trial does.
func trialOf(windows []*window, names []string, budget time.Duration) (out []bench.Benchmark, ok bool) {
	for i, w := range windows {
		b := bench.Benchmark{Name: names[i]}
		for spent := 0.0; spent < budget.Seconds()/2 && len(b.New) < bench.DefaultMost; {
			seconds, more := w.take(&b.Old, &b.New)
			if !more {
				return nil, false
			}
			if spent += seconds; len(b.New) >= 6 && b.HalfWidth() <= 0.01 {
				break
			}
		}
		out = append(out, b)
	}
	ok = true
	bench.Judge(out, func(i, runs int) (old, new []bench.Sample) {
		for len(new) < runs {
			if _, more := windows[i].take(&old, &new); !more {
				ok = false
				return old, new
			}
		}
		return old, new
	})
	return out, ok
}

// relabelled splits one side of a stream into two: of each two consecutive blocks, ABBA, each gets
// a random label.
func relabelled(blocks []block, rng *rand.Rand) *window {
	w := &window{}
	for i := 0; i+1 < len(blocks); i += 2 {
		a := block{blocks[i][0], blocks[i+1][1]}
		b := block{blocks[i][1], blocks[i+1][0]}
		if rng.IntN(2) == 0 {
			a, b = b, a
		}
		w.old, w.new = append(w.old, a), append(w.new, b)
	}
	return w
}

// moved splits one side of a stream into two whose binaries place functions differently: one gets a
// random half of the link layouts, the other the rest.
func moved(blocks []block, rng *rand.Rand) *window {
	var layouts []int
	for _, b := range blocks {
		for _, s := range b {
			if !slices.Contains(layouts, s.Layout) {
				layouts = append(layouts, s.Layout)
			}
		}
	}
	rng.Shuffle(len(layouts), func(i, j int) { layouts[i], layouts[j] = layouts[j], layouts[i] })
	var sides [2][]bench.Sample
	for _, b := range blocks {
		for _, s := range b {
			side := slices.Index(layouts, s.Layout) % 2
			sides[side] = append(sides[side], s)
		}
	}
	w := &window{}
	for i := 0; i+1 < min(len(sides[0]), len(sides[1])); i += 2 {
		w.old, w.new = append(w.old, block(sides[0][i:i+2])), append(w.new, block(sides[1][i:i+2]))
	}
	return w
}

// falseCount counts verdicts on programs that did not change.
type falseCount struct {
	comparisons, any int // comparisons of all benchmarks together, and those with a change
	rows, changed    int // rows with a test
	exact            int // rows that are compared exactly
	wrongExact       int
	runs             []float64 // per side
}

func (t *falseCount) add(benchmarks []bench.Benchmark) {
	t.comparisons++
	any := false
	for _, b := range benchmarks {
		t.runs = append(t.runs, float64(len(b.New)))
		for _, row := range b.Rows {
			called := row.Verdict == verdicts.Better || row.Verdict == verdicts.Worse
			any = any || called
			switch {
			case row.Exact && called:
				t.wrongExact++
				fallthrough
			case row.Exact:
				t.exact++
			default:
				t.rows++
				if called {
					t.changed++
				}
			}
		}
	}
	if any {
		t.any++
	}
}

const studyComparisons = 400

// unchanged compares programs with themselves, at random positions of the pieces. relabel splits
// one side into two.
func unchanged(pieces [][]stream, budget time.Duration, rng *rand.Rand, relabel func([]block, *rand.Rand) *window) (t falseCount) {
	for tries := 0; t.comparisons < studyComparisons && tries < 20*studyComparisons; tries++ {
		piece := pieces[rng.IntN(len(pieces))]
		side, place := rng.IntN(2), rng.Float64()
		var windows []*window
		var names []string
		for _, x := range piece {
			blocks := x.sides[side]
			w := relabel(blocks[int(place*float64(len(blocks))):], rng)
			windows, names = append(windows, w), append(names, x.name)
		}
		if out, ok := trialOf(windows, names, budget); ok {
			t.add(out)
		}
	}
	return t
}

// planted counts how often the change of a tenth is detected in the CPU time, per benchmark. Each
// trial uses its own part of a stream.
func planted(pieces [][]stream, budget time.Duration) (found, trials map[string]int, runs []float64) {
	found, trials = map[string]int{}, map[string]int{}
	for _, piece := range pieces {
		for _, x := range piece {
			w := &window{old: x.sides[0], new: x.sides[1]}
			for {
				out, ok := trialOf([]*window{w}, []string{x.name}, budget)
				if !ok {
					break
				}
				trials[x.name]++
				for _, row := range out[0].Rows {
					if row.Unit == "cpu-ns/op" {
						runs = append(runs, float64(row.N[1]))
						if row.Verdict == verdicts.Worse {
							found[x.name]++
						}
					}
				}
			}
		}
	}
	return found, trials, runs
}

// judge prints the tables for the samples in the directory.
func (s *study) judge(ctx context.Context) error {
	pieces, err := s.pieces()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "a program against itself\tcomparisons\twith a change\tup to (95 %)\trows\tchanged\tup to (95 %)\texact rows\tchanged\truns per side")
	if len(pieces) > 0 {
		for _, budget := range []time.Duration{10 * time.Second, 20 * time.Second, 60 * time.Second} {
			for _, how := range []struct {
				name    string
				relabel func([]block, *rand.Rand) *window
			}{{"the same binaries", relabelled}, {"other layouts", moved}} {
				t := unchanged(pieces, budget, rand.New(rand.NewPCG(s.seed, uint64(budget))), how.relabel)
				if t.comparisons > 0 {
					t.print(w, fmt.Sprintf("hone bench, %s a benchmark, %s", budget, how.name))
				}
			}
		}
	}
	rival, err := s.judgeRival(ctx)
	if err != nil {
		return err
	}
	if rival.comparisons > 0 {
		rival.print(w, "go test -count=10, benchstat")
	}
	fmt.Fprintln(w, "\na tenth more work\tbudget\tfound\tof\tshare\t95 %\truns per side\tby benchmark")
	for _, budget := range []time.Duration{10 * time.Second, 20 * time.Second, 60 * time.Second} {
		found, trials, runs := planted(pieces, budget)
		var names []string
		k, n := 0, 0
		for name := range trials {
			names = append(names, name)
			k, n = k+found[name], n+trials[name]
		}
		if n == 0 {
			continue
		}
		slices.Sort(names)
		for i, name := range names {
			names[i] = fmt.Sprintf("%s %d/%d", strings.TrimPrefix(name, "Benchmark"), found[name], trials[name])
		}
		share := stats.Share(int64(k), int64(n))
		fmt.Fprintf(w, "hone bench\t%s\t%d\t%d\t%.0f %%\t%.0f–%.0f\t%.0f\t%s\n", budget, k, n, 100*share.Value, 100*share.Low, 100*share.High,
			stats.Median(runs), strings.Join(names, ", "))
	}
	return w.Flush()
}

func (t *falseCount) print(w *tabwriter.Writer, name string) {
	share := func(k, n int) float64 { return 100 * float64(k) / float64(n) }
	fmt.Fprintf(w, "%s\t%d\t%d (%.1f %%)\t%.1f %%\t%d\t%d (%.2f %%)\t%.2f %%\t%d\t%d\t%.0f\n", name, t.comparisons, t.any, share(t.any, t.comparisons),
		100*upperShare(t.any, t.comparisons), t.rows, t.changed, share(t.changed, t.rows), 100*upperShare(t.changed, t.rows), t.exact, t.wrongExact, stats.Median(t.runs))
}

// judgeRival compares the pairs of files with benchstat.
func (s *study) judgeRival(ctx context.Context) (t falseCount, err error) {
	olds, err := filepath.Glob(filepath.Join(s.data, "rival-*-old.txt"))
	if err != nil || len(olds) == 0 {
		return t, err
	}
	dir, err := os.MkdirTemp("", "hone-peers-")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(dir)
	tool := filepath.Join(dir, "benchstat")
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", tool, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		return t, fmt.Errorf("build benchstat: %w\n%s", err, text)
	}
	for _, old := range olds {
		new := strings.TrimSuffix(old, "old.txt") + "new.txt"
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, tool, "-format", "csv", "-filter", ".unit:sec/op", old, new)
		cmd.Stderr = &stderr
		text, err := cmd.Output()
		if err != nil {
			return t, fmt.Errorf("benchstat: %w\n%s", err, stderr.Bytes())
		}
		rows, changed := benchstatRows(string(text))
		t.comparisons++
		t.rows, t.changed = t.rows+rows, t.changed+changed
		if changed > 0 {
			t.any++
		}
		t.runs = append(t.runs, 10)
	}
	return t, nil
}

// benchstatRows counts the rows of benchstat's CSV that have a p-value, and those that it reports
// as a change.
func benchstatRows(text string) (rows, changed int) {
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if len(cells) < 7 || !strings.HasPrefix(cells[6], "p=") {
			continue
		}
		if rows++; cells[5] != "~" {
			changed++
		}
	}
	return rows, changed
}
