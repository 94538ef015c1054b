package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose"
	choices "github.com/hone-go/hone/internal/diagnose/choice"
	"github.com/hone-go/hone/internal/gittree"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/target"
)

// benchFlags are the flags of `hone bench` and `hone gate`.
type benchFlags struct {
	out   outputFlags
	spec  bench.Spec
	build string
	cpus  string
	lines bool
	files benchFiles
	keep  bool // add the results to the history
	where historyPlace
	fs    *flag.FlagSet
	judge func(*bench.Result) // of the gate; called before anything is written
}

// benchFiles are the report files of a comparison.
type benchFiles struct{ markdown, junit, csv, html string }

func (f *benchFiles) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.markdown, "markdown", "", "write the changes as a Markdown table to `FILE`, for a comment on the pull request")
	fs.StringVar(&f.junit, "junit", "", "write a JUnit report to `FILE`")
	fs.StringVar(&f.html, "html", "", "write a page with plots to `FILE`, which needs no other files")
	fs.StringVar(&f.csv, "csv", "", "write all rows as comma-separated values to `FILE`")
}

func (b *benchFlags) declare(fs *flag.FlagSet) {
	b.declareMeasuring(fs)
	b.where.declare(fs)
	fs.StringVar(&b.spec.Bench, "bench", ".", "measure the benchmarks that `REGEXP` matches, as of go test -bench")
	fs.BoolVar(&b.keep, "history", false, "add what is measured to the history of its commit (hone help history)")
}

// declareMeasuring declares how benchmarks are run.
func (b *benchFlags) declareMeasuring(fs *flag.FlagSet) {
	b.fs = fs
	b.out.declare(fs, "")
	fs.DurationVar(&b.spec.Budget, "budget", bench.DefaultBudget, "spend at most `D` on one benchmark, both sides together; half of it is reserved to measure a change again")
	fs.DurationVar(&b.spec.Time, "time", 100*time.Millisecond, "length of one run, about `D`")
	fs.IntVar(&b.spec.Most, "runs", bench.DefaultMost, "make at most `N` runs per side")
	fs.BoolVar(&b.spec.Instructions, "instructions", false, "also count instructions, with perf or valgrind: slow, but other processes do not disturb them")
	fs.IntVar(&b.spec.Record, "record", 0, "record the `N` benchmarks that use the most CPU per operation, and print their findings")
	fs.StringVar(&b.cpus, "cpu", "", "run each benchmark with each GOMAXPROCS of the `LIST`: 1,2,4")
	fs.IntVar(&b.spec.Layouts, "layouts", bench.DefaultLayouts, "link each test binary with `N` orders of functions, and N others for a second set (Go 1.26)")
	fs.Uint64Var(&b.spec.Seed, "seed", 0, "the `SEED` of the order of runs (default: from the clock)")
	fs.StringVar(&b.build, "build", "", "`FLAGS` for the go command: '-tags=x -race'")
}

func benchCommand() command {
	return command{
		name: "bench", args: "[PACKAGES]", group: "benchmarks, load, comparison",
		short: "Go benchmarks with verdicts: one process per run, interleaved, against a git ref",
		long: `Runs the benchmarks of packages (patterns as for go test; default .). Each run is a process of its own, the runs of both sides are
interleaved, and each side has several link layouts. Ten values of one process (go test -count=10) share its heap, its
addresses and the state of the machine at that time, and differ from the next ten far more than from each other.

With -against REF the working tree, uncommitted changes included, is compared with a git ref, which is checked out
in hone's cache; the repository is not changed. A row is reported as better or worse if the change is significant over all rows (at most
1 in 40 such rows is chance), is at least 1 %, is found again in a second set of runs with other link layouts, and is larger than the
scatter between layouts. Allocations that are the same in every run are compared exactly. "same" means that the whole interval
is within 2 %.

-against self compares the tree with itself, in other layouts: rows that are unknown are those that this machine cannot decide in that
budget, and rows that are better or worse are errors.

-against FILE compares with benchmark lines of an earlier run (hone bench -lines, go test -bench). The result is less certain: the state of the
machine at that time may cause a difference.

CPU is the process's user and system time while the benchmark's timer runs. Other processes on the machine disturb it
far less than the elapsed time.`,
		examples: []string{
			"hone bench ./...",
			"hone bench -against main ./...",
			"hone bench -bench 'Encode/large' -budget 60s -against HEAD~1 ./codec",
			"hone bench -against self .",
			"hone bench -lines -against main .",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var b benchFlags
			b.declare(fs)
			fs.StringVar(&b.spec.Against, "against", "", "compare the working tree with the git `REF`, with itself (self), or with a file of benchmark lines, which is less certain")
			fs.BoolVar(&b.lines, "lines", false, "print each run in the format of go test -bench, with the key side (benchstat -col side)")
			return func(ctx context.Context, env Env, args, _ []string) error {
				_, err := b.run(ctx, env, args)
				return err
			}
		},
	}
}

func gateCommand() command {
	return command{
		name: "gate", args: "[PACKAGES]", group: "benchmarks, load, comparison",
		short: "for CI: fail when a benchmark is worse than in a base commit",
		long: `Compares the working tree with a base, as hone bench -against does, and exits 3 if a metric of a benchmark is worse, or
with -strict 4 if one is unknown. The base is -base, or the commit where the branch left its upstream (origin/HEAD,
origin/main, origin/master, main, master), or the previous commit if HEAD is that commit.

The object "gate" in the repository's hone.json selects benchmarks and metrics, sets the budget, and lists what may be
worse (docs/benchmarks.md). Flags override it.

A CI job needs the base in its clone: fetch-depth: 0.`,
		examples: []string{
			"hone gate ./...",
			"hone gate -base origin/main -markdown bench.md -junit bench.xml ./...",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var b benchFlags
			strict := false
			b.declare(fs)
			fs.StringVar(&b.spec.Against, "base", "", "the git `REF` to compare with")
			b.files.declare(fs)
			fs.BoolVar(&strict, "strict", false, "exit 4 if nothing is worse but CPU or allocations of a benchmark are unknown")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if b.spec.Against == "" {
					base, err := gittree.Base(ctx, env.Dir)
					if err != nil {
						return err
					}
					b.spec.Against = base
				}
				gate, err := repositoryGate(env)
				if err != nil {
					return err
				}
				if gate.Bench != "" && !given(b.fs, "bench") {
					b.spec.Bench = gate.Bench
				}
				if gate.Budget > 0 && !given(b.fs, "budget") {
					b.spec.Budget = time.Duration(gate.Budget)
				}
				b.judge = func(r *bench.Result) { gate.Apply(r) }
				r, err := b.run(ctx, env, args)
				if err != nil {
					return err
				}
				return benchGate(gate, r, strict || gate.Strict)
			}
		},
	}
}

// prepare completes the specification, except for what to measure.
func (b *benchFlags) prepare(env Env) (*progress, error) {
	cfg, prog, err := b.out.session(env)
	if err != nil {
		return nil, err
	}
	if b.spec.BuildFlags, err = target.SplitFlags(b.build); err != nil {
		return nil, usagef("-build: %v", err)
	}
	if b.spec.CPUs, err = parseCPUs(b.cpus); err != nil {
		return nil, usagef("-cpu: %v", err)
	}
	b.spec.Session = cfg
	b.spec.Dir, b.spec.WorkDir = env.Dir, filepath.Join(cfg.CacheDir, "work")
	b.spec.Progress = func(p bench.Progress) {
		e := capture.Event{Phase: "bench", Text: p.Text, End: p.End}
		if p.Done > 0 && !p.End {
			e.At, e.Of = time.Duration(p.Done*float64(time.Hour)), time.Hour
			if p.Left > 0 {
				e.Text += fmt.Sprintf(" · %s left", p.Left)
			}
		}
		prog.event(e)
	}
	return prog, nil
}

// parseCPUs parses a list of values for GOMAXPROCS.
func parseCPUs(list string) (cpus []int, err error) {
	if list == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > 1<<12 {
			return nil, fmt.Errorf("%q is not a number of processors; write 1,2,4", word)
		}
		if !slices.Contains(cpus, n) {
			cpus = append(cpus, n)
		}
	}
	return cpus, nil
}

func (b *benchFlags) run(ctx context.Context, env Env, args []string) (*bench.Result, error) {
	prog, err := b.prepare(env)
	if err != nil {
		return nil, err
	}
	b.spec.Packages = args
	file, err := b.baselineFile(ctx, env)
	if err != nil {
		return nil, err
	}
	r, err := bench.Run(ctx, b.spec)
	prog.clear()
	if err != nil {
		return nil, err
	}
	if file != "" {
		measured := r
		if r, err = bench.AgainstFile(file, r); err != nil {
			return nil, err
		}
		if b.keep { // the samples; the file has its own commit
			if err := b.where.keep(ctx, env, measured); err != nil {
				return nil, err
			}
			b.keep = false
		}
	}
	if note := noiseNote(env); note != "" && r.Against != "" {
		r.Notes = append(r.Notes, note)
	}
	if b.judge != nil {
		b.judge(r)
	}
	if err := b.files.write(r); err != nil {
		return nil, err
	}
	if b.keep {
		if err := b.where.keep(ctx, env, r); err != nil {
			return nil, err
		}
	}
	switch {
	case b.out.json:
		return r, render.JSON(env.Stdout, r)
	case b.lines:
		return r, buffered(env.Stdout, func(w io.Writer) error { render.BenchLines(w, r); return nil })
	}
	return r, buffered(env.Stdout, func(w io.Writer) error { render.Bench(w, r, b.out.style(env)); return nil })
}

// baselineFile returns the value of -against if it is the name of a file and not a git ref.
func (b *benchFlags) baselineFile(ctx context.Context, env Env) (string, error) {
	name := b.spec.Against
	if name == "" || name == bench.Self {
		return "", nil
	}
	path := absolute(env.Dir, name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	if _, err := gittree.Describe(ctx, env.Dir, name); err == nil {
		return "", nil
	}
	if !benchText(path) {
		return "", usagef("-against %s: a recording is not a baseline for benchmarks; name a git ref, or a file of benchmark lines", name)
	}
	b.spec.Against = ""
	return path, nil
}

// write writes the files that the user asked for.
func (f *benchFiles) write(r *bench.Result) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{f.markdown, func(w io.Writer) error { render.BenchMarkdown(w, r); return nil }},
		{f.junit, func(w io.Writer) error { return render.BenchJUnit(w, r) }},
		{f.html, func(w io.Writer) error {
			return buffered(w, func(w io.Writer) error { render.BenchHTML(w, r); return nil })
		}},
		{f.csv, func(w io.Writer) error { return render.BenchCSV(w, r) }},
	} {
		if f.name == "" {
			continue
		}
		file, err := os.Create(f.name)
		if err == nil {
			err = f.write(file)
			if cerr := file.Close(); err == nil {
				err = cerr
			}
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	return nil
}

// given reports whether a flag was set by the user.
func given(fs *flag.FlagSet, name string) (yes bool) {
	fs.Visit(func(f *flag.Flag) { yes = yes || f.Name == name })
	return yes
}

// repositoryGate reads the repository's configuration of its gate.
func repositoryGate(env Env) (bench.Gate, error) {
	f, err := choices.Find(env.Dir, choices.KnownRules(diagnose.Rules()))
	if err != nil || f == nil {
		return bench.Gate{}, err
	}
	g, err := bench.ParseGate(f.Gate)
	if err != nil {
		return g, fmt.Errorf("%s: %w", f.Path, err)
	}
	return g, nil
}

// benchGate turns a comparison into an exit code.
func benchGate(g bench.Gate, r *bench.Result, strict bool) error {
	worse, unknown := g.Apply(r)
	switch {
	case len(worse) > 0:
		return &gateError{exitWorse, fmt.Sprintf("gate: %s is worse (1 of %d)", worse[0], len(worse))}
	case strict && len(unknown) > 0:
		return &gateError{exitUnknown, fmt.Sprintf("gate: %s is unknown (1 of %d); try a larger -budget", unknown[0], len(unknown))}
	}
	return nil
}
