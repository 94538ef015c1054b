package cli

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/session"
)

func compareCommand() command {
	return command{
		name: "compare", args: "OLD NEW", group: "by themselves",
		short: "recordings, or files of benchmarks, before and after: a verdict per metric",
		long: `Compares the clean phases of recordings per request, per run, or per operation of each benchmark:
CPU, allocations, throughput, latency. OLD and NEW are recordings, or several of each with commas
between them (or with -old and -new).

A verdict needs a change beyond what recordings of one program differ by, given as ± in each row; of
comparisons of a program with itself 1 in 40 may get one. One recording a side does not show that
difference, so it is taken from other machines and is large: record three a side, alternating, to see
less. Allocations that are the same in every process are compared exactly. "same" means that the
whole interval lies within 2 %, "unknown" that the data cannot say.

Recordings of different programs, arguments or loads are refused; benchmarks are matched by name.

OLD and NEW may be files of benchmark lines as well, of go test -bench or hone bench -lines. What one process printed is
one sample there: ten values of go test -count=10 differ far less from each other than from those of the next process,
and a comparison by them calls half of all unchanged benchmarks changed. Run the test binary several times into one file.
Allocations that never differ are compared exactly, also of one run. -filter, -row and -col speak benchstat's language.`,
		examples: []string{
			"hone compare before.hone after.hone",
			"hone compare -old a1.hone -new b1.hone -old a2.hone -new b2.hone -old a3.hone -new b3.hone",
			"hone compare a1.hone,a2.hone,a3.hone b1.hone,b2.hone,b3.hone",
			"hone compare old.txt new.txt",
			"hone compare -col /impl -filter '.unit:(ns/op OR allocs/op)' all.txt",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			var sides sideFlags
			var options compare.Options
			var b benchCompare
			out.declare(fs, "")
			sides.declareSides(fs, "recording")
			fs.BoolVar(&options.Force, "force", false, "compare what does not measure the same, too: another program, other arguments, another load, another machine")
			b.declare(fs)
			return func(_ context.Context, env Env, args, _ []string) error {
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

// benchCompare are the flags for files of benchmark lines.
type benchCompare struct {
	spec  bench.FilesSpec
	files benchFiles
}

func (b *benchCompare) declare(fs *flag.FlagSet) {
	fs.StringVar(&b.spec.Filter, "filter", "", "of files of benchmarks, keep the results that `FILTER` fits: '.name:Encode AND /size:1kB'")
	fs.StringVar(&b.spec.Row, "row", "", "of files of benchmarks, take results with the same `KEYS` for one benchmark (default .fullname)")
	fs.StringVar(&b.spec.Column, "col", "", "take the two values of `KEY` for the sides: side, /impl; all files are read")
	fs.BoolVar(&b.spec.Pooled, "pooled", false, "of files of benchmarks, take values of one process for as many samples, as benchstat does")
	b.files.declare(fs)
}

// run compares files of benchmark lines; done is false when the sources are recordings.
func (b *benchCompare) run(env Env, out *outputFlags, sides *sideFlags, args []string) (done bool, err error) {
	if b.spec.Column != "" {
		if len(args) == 0 || len(sides.old)+len(sides.new) > 0 {
			return true, usagef("compare: with -col name the files, whatever side they are of")
		}
		b.spec.Old = args
	} else {
		if b.spec.Old, b.spec.New, err = sides.sides("compare", args); err != nil {
			return true, err
		}
		if !benchText(b.spec.Old[0]) || !benchText(b.spec.New[0]) {
			if b.spec.Filter != "" || b.spec.Row != "" {
				return true, usagef("compare: -filter and -row are for files of benchmarks")
			}
			return false, nil
		}
	}
	r, err := bench.CompareFiles(b.spec)
	if err != nil {
		return true, err
	}
	if err := b.files.write(r); err != nil {
		return true, err
	}
	if out.json {
		return true, render.JSON(env.Stdout, r)
	}
	return true, buffered(env.Stdout, func(w io.Writer) error { render.Bench(w, r, out.style(env)); return nil })
}

// benchText reports whether a source is a file with benchmark lines, and not a recording or the name of one.
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
