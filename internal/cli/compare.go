package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/load"
)

func compareCommand() command {
	return command{
		name: "compare", args: "OLD NEW", group: "benchmarks, load, comparison",
		short: "recordings, benchmark files or load results, before and after: a verdict per metric",
		long: `Compares the clean phases of recordings per request, per run, or per operation of each benchmark:
CPU, allocations, throughput, latency. OLD and NEW are recordings, or several of each with commas
between them (or with -old and -new).

A verdict needs a change that is larger than the difference between recordings of one program, which each
row shows as ±; 1 in 40 comparisons of a program with itself may get one. One recording per side does not show
that difference, so it is taken from other machines and is large: record three per side, alternating, to detect
smaller changes. Allocations that are the same in every process are compared exactly. "same" means that the
whole interval is within 2 %, "unknown" means that the data do not decide.

Recordings of different programs, arguments or loads are refused; benchmarks are matched by name.

OLD and NEW may also be files of benchmark lines, from go test -bench or hone bench -lines. All values that one process printed
then count as one sample: ten values of go test -count=10 differ far less from each other than from those of another process,
and a comparison of such values reports half of all unchanged benchmarks as changed. Run the test binary several times
and append the output to one file.
Allocations that never differ are compared exactly, even from one run. -filter, -table, -row, -col and
-ignore use benchstat's language.

They may also be results of hone load -json. A run is one sample of its throughput and of each quantile, so at least six
runs per side are necessary, alternating. Runs that the load generator limited get no verdict.`,
		examples: []string{
			"hone compare before.hone after.hone",
			"hone compare -old a1.hone -new b1.hone -old a2.hone -new b2.hone -old a3.hone -new b3.hone",
			"hone compare a1.hone,a2.hone,a3.hone b1.hone,b2.hone,b3.hone",
			"hone compare old.txt new.txt",
			"hone compare old1.json,old2.json,… new1.json,new2.json,…",
			"hone compare -col /impl -filter '.unit:(ns/op OR allocs/op)' all.txt",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			var sides sideFlags
			var options compare.Options
			var b benchCompare
			out.declare(fs, "")
			sides.declareSides(fs, "recording")
			fs.BoolVar(&options.Force, "force", false, "compare even recordings of different programs, arguments, loads or machines")
			b.declare(fs)
			return func(_ context.Context, env Env, args, _ []string) error {
				b.force = options.Force
				if done, err := b.run(env, &out, &sides, args); done || err != nil {
					return err
				}
				oldNames, newNames, err := sides.sides("compare", args)
				if err != nil {
					return err
				}
				cfg, _, err := out.session(env)
				if err != nil {
					return err
				}
				old, err := sources(cfg, oldNames)
				if err != nil {
					return err
				}
				new, err := sources(cfg, newNames)
				if err != nil {
					return err
				}
				c, err := compare.Recordings(old, new, options)
				if err != nil {
					return err
				}
				if err := b.files.write(bench.OfRecordings(c)); err != nil {
					return err
				}
				if out.json {
					return render.JSON(env.Stdout, c)
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.Comparison(w, c, out.style(env))
					return nil
				})
			}
		},
	}
}

// benchCompare holds the flags for files of benchmark lines and for load results.
type benchCompare struct {
	spec  bench.FilesSpec
	files benchFiles
	force bool
}

func (b *benchCompare) declare(fs *flag.FlagSet) {
	fs.StringVar(&b.spec.Filter, "filter", "", "for files of benchmarks: keep the results that match `FILTER`: '.name:Encode AND /size:1kB'")
	fs.StringVar(&b.spec.Row, "row", "", "for files of benchmarks: results with the same `KEYS` are one benchmark (default .fullname)")
	fs.StringVar(&b.spec.Table, "table", "", "for files of benchmarks: a table for each value of `KEYS`: goos, /size")
	fs.StringVar(&b.spec.Ignore, "ignore", "", "for files of benchmarks: ignore `KEYS` when matching benchmarks: /run")
	fs.StringVar(&b.spec.Column, "col", "", "compare the two values of `KEY` in all files: side, /impl")
	fs.BoolVar(&b.spec.Pooled, "pooled", false, "for files of benchmarks: count each value of a process as a sample, as benchstat does")
	b.files.declare(fs)
}

// projected reports whether the user gave a flag that is only for files of benchmarks.
func (b *benchCompare) projected() bool {
	return b.spec.Filter+b.spec.Table+b.spec.Row+b.spec.Ignore != ""
}

// run compares files of benchmark lines or of load results. done is false if the sources are
// recordings.
func (b *benchCompare) run(env Env, out *outputFlags, sides *sideFlags, args []string) (done bool, err error) {
	if b.spec.Column != "" {
		if len(args) == 0 || len(sides.old)+len(sides.new) > 0 {
			return true, usagef("compare: with -col, give the files as arguments: the values of the key are the sides")
		}
		b.spec.Old = args
	} else {
		if b.spec.Old, b.spec.New, err = sides.sides("compare", args); err != nil {
			return true, err
		}
		if r, err := b.loads(env); r != nil || err != nil {
			if err != nil {
				return true, err
			}
			return true, b.print(env, out, r)
		}
		if !benchText(b.spec.Old[0]) || !benchText(b.spec.New[0]) {
			if b.projected() {
				return true, usagef("compare: -filter, -table, -row and -ignore are for files of benchmarks")
			}
			return false, nil
		}
	}
	r, err := bench.CompareFiles(b.spec)
	if err != nil {
		return true, err
	}
	return true, b.print(env, out, r)
}

// print prints a comparison and writes the requested files.
func (b *benchCompare) print(env Env, out *outputFlags, r *bench.Result) error {
	if err := b.files.write(r); err != nil {
		return err
	}
	if out.json {
		return render.JSON(env.Stdout, r)
	}
	return buffered(env.Stdout, func(w io.Writer) error { render.Bench(w, r, out.style(env)); return nil })
}

// loads compares load results; it returns nil if no source is one.
func (b *benchCompare) loads(env Env) (*bench.Result, error) {
	var sides [2][]bench.LoadRun
	found, others := "", ""
	for i, names := range [2][]string{b.spec.Old, b.spec.New} {
		for _, name := range names {
			report, err := loadReport(absolute(env.Dir, name))
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", name, err)
			}
			if report == nil {
				others = name
				continue
			}
			found = name
			sides[i] = append(sides[i], bench.LoadRun{Name: name, Report: report})
		}
	}
	switch {
	case found == "":
		return nil, nil
	case others != "":
		return nil, usagef("compare: %s is a load result and %s is not: compare load results with each other", found, others)
	case b.projected():
		return nil, usagef("compare: -filter, -table, -row and -ignore are for files of benchmarks")
	}
	return bench.CompareLoads(sides[0], sides[1], b.force)
}

// mostLoadBytes limits the size of a load result, which usually has a few thousand bytes.
const mostLoadBytes = 1 << 20

// loadReport reads the output of hone load -json; it returns nil if the file is something else.
func loadReport(path string) (*load.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil // perhaps the name of a recording, which is opened later
	}
	defer f.Close()
	head := make([]byte, 1)
	if _, err := f.Read(head); err != nil || head[0] != '{' {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(f, mostLoadBytes))
	if err != nil {
		return nil, err
	}
	return load.ParseReport(append(head, text...))
}

// benchText reports whether a source is a file with benchmark lines rather than a recording or its
// name.
func benchText(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	return (err == nil || n > 0) && !bytes.HasPrefix(head[:n], []byte("PK")) && !bytes.HasPrefix(head[:n], []byte{0x1f, 0x8b})
}

// sources reads the manifests of one side.
func sources(c session.Config, names []string) ([]compare.Source, error) {
	var side []compare.Source
	for _, name := range names {
		m, err := c.Opener().Manifest(name)
		if err != nil {
			return nil, err
		}
		side = append(side, compare.Source{Name: name, Manifest: m})
	}
	return side, nil
}
