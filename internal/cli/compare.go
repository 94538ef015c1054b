package cli

import (
	"context"
	"flag"
	"io"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/session"
)

func compareCommand() command {
	return command{
		name: "compare", args: "OLD NEW", group: "by themselves",
		short: "recordings before and after: a verdict per metric",
		long: `Compares the clean phases of recordings per request, per run, or per operation of each benchmark:
CPU, allocations, throughput, latency. OLD and NEW are recordings, or several of each with commas
between them (or with -old and -new).

A verdict needs a change beyond what recordings of one program differ by, given as ± in each row; of
comparisons of a program with itself 1 in 40 may get one. One recording a side does not show that
difference, so it is taken from other machines and is large: record three a side, alternating, to see
less. Allocations that are the same in every process are compared exactly. "same" means that the
whole interval lies within 2 %, "unknown" that the data cannot say.

Recordings of different programs, arguments or loads are refused; benchmarks are matched by name.`,
		examples: []string{
			"hone compare before.hone after.hone",
			"hone compare -old a1.hone -new b1.hone -old a2.hone -new b2.hone -old a3.hone -new b3.hone",
			"hone compare a1.hone,a2.hone,a3.hone b1.hone,b2.hone,b3.hone",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			var sides sideFlags
			var options compare.Options
			out.declare(fs, "")
			sides.declareSides(fs, "recording")
			fs.BoolVar(&options.Force, "force", false, "compare what does not measure the same, too: another program, other arguments, another load, another machine")
			return func(_ context.Context, env Env, args, _ []string) error {
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

// sources reads the manifests of one side.
func sources(c session.Config, names []string) ([]compare.Source, error) {
	var side []compare.Source
	for _, name := range names {
		m, err := session.Manifest(c, name)
		if err != nil {
			return nil, err
		}
		side = append(side, compare.Source{Name: name, Manifest: m})
	}
	return side, nil
}
