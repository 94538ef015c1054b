package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/pairing"
	"github.com/hone-go/hone/profile/report"
)

// diffFlags are the flags of `hone diff`.
type diffFlags struct {
	profileFlags
	sideFlags
	by        string
	paths     bool
	gate      bool
	threshold share
}

func diffCommand() command {
	return command{
		name: "diff", args: "OLD NEW", group: "profiles",
		short: "what changed between two profiles or recordings, with a verdict",
		long: `OLD and NEW are profiles, recordings or their parts, or several of each with commas between
them (or with -old and -new): then the differences between profiles of one side count, too.

Costs are per request for recordings made under load, otherwise per second if the
profiles have a duration, otherwise shares of the total. Each row gets one of three verdicts:
moved (more than chance: 1 in 40 comparisons of a program with itself has a row that moved),
same (the whole 95 % interval is within the threshold), or inconclusive.

The work of hone itself in a recording is left out. Work of the runtime for a function (allocation, copying, locks) counts as the function's
own cost; -by flat counts the innermost frame, as pprof does, -by cum all callees.`,
		examples: []string{
			"hone diff before.hone after.hone",
			"hone diff -sample_index=alloc_space before.hone after.hone",
			"hone diff -old a1.pprof -old a2.pprof -new b1.pprof -new b2.pprof",
			"hone diff monday1.pprof,monday2.pprof friday1.pprof,friday2.pprof",
			"hone diff -gate -threshold 5% main.hone branch.hone",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			d := diffFlags{threshold: compare.DefaultThreshold}
			d.declare(fs, "show `N` rows of each table (default 20; -1: all, including unchanged ones)")
			d.declareSides(fs, "source")
			fs.StringVar(&d.by, "by", "own", "what a sample is charged to: `own`, flat or cum")
			fs.BoolVar(&d.paths, "paths", false, "a row for each call path")
			fs.BoolVar(&d.gate, "gate", false, "exit 3 if something regressed by more than the threshold, 4 if that is inconclusive")
			fs.Var(&d.threshold, "threshold", "differences below this `SHARE` of the old total do not matter, e.g. 5%")
			return d.run
		},
	}
}

func (d *diffFlags) run(ctx context.Context, env Env, args, _ []string) error {
	measure, ok := map[string]pairing.Measure{"own": pairing.Own, "flat": pairing.Flat, "cum": pairing.Cum}[d.by]
	if !ok {
		return usagef("-by: no %q; there are own, flat and cum", d.by)
	}
	if d.paths && measure == pairing.Cum {
		return usagef("give either -paths or -by cum: a path has no callees")
	}
	old, new, err := d.sides("diff", args)
	if err != nil {
		return err
	}
	shape, err := d.options()
	if err != nil {
		return err
	}
	granularity := shape.Granularity
	if granularity == profile.ByAddress {
		return usagef("diff: addresses move between builds; there are functions, filefunctions, files and lines")
	}
	if len(d.base)+len(d.diffBase) > 0 {
		return usagef("diff: give the base as the old side, hone diff OLD NEW: a subtracted profile has no sampling error")
	}
	if shape.Mean {
		return usagef("diff: a -mean has no sampling error; leave -mean out")
	}
	d.programOnly = true
	differ, err := compare.NewDiffer(compare.DiffOptions{
		Options:   pairing.Options{Granularity: granularity, Measure: measure, Paths: d.paths},
		Threshold: float64(d.threshold),
		Limit:     d.limit(),
	})
	if err != nil {
		return usagef("diff: %v", err)
	}
	for _, side := range []struct {
		sources []string
		add     func(compare.DiffSource) error
	}{{old, differ.AddOld}, {new, differ.AddNew}} {
		for _, arg := range side.sources {
			v, err := d.view(ctx, env, []string{arg})
			if err != nil {
				return err
			}
			source := compare.DiffSource{
				Name: v.Source.Name, Profile: v.Profile, Index: v.Index, Total: v.Total,
				Recording: v.Source.Recording, Part: v.Source.Part,
			}
			if v.Own != nil {
				source.LeftOut = v.Own[v.Index]
			}
			err = side.add(source)
			if err != nil {
				return err
			}
		}
	}
	diff, err := differ.Diff()
	if err != nil {
		return err
	}
	if err := d.print(env, diff, shape); err != nil || !d.gate {
		return err
	}
	return gateOf(diff)
}

// mostPaths is the number of unmoved paths that are kept: there may be hundreds of thousands.
const mostPaths = 200

// limit returns the largest number of unmoved rows that are printed; 0 for all.
func (d *diffFlags) limit() int {
	if !d.paths || d.top < 0 {
		return 0
	}
	return max(mostPaths, d.top)
}

func (d *diffFlags) print(env Env, diff *compare.Diff, shape report.Options) error {
	if d.json {
		return render.JSON(env.Stdout, diff)
	}
	noun := map[profile.Granularity]string{profile.ByFile: "file", profile.ByLine: "line"}[shape.Granularity]
	switch {
	case d.paths:
		noun = "path"
	case noun == "":
		noun = "function"
	}
	return buffered(env.Stdout, func(w io.Writer) error {
		render.Diff(w, render.DiffPage{Diff: diff, Noun: noun, Top: d.top, Names: shape.Names}, d.style(env))
		return nil
	})
}

// gateOf turns a diff into an exit code: 3 if something is worse, 4 if it is unknown.
func gateOf(d *compare.Diff) error {
	g := d.Gate()
	limit := strconv.FormatFloat(100*d.Threshold, 'g', 3, 64) + " % of the old total"
	name := func(rows []compare.DiffRow) string {
		if rows[0].Function == "" && rows[0].File == "" {
			return "the total"
		}
		return strings.TrimSpace(rows[0].Function + " " + rows[0].File)
	}
	switch {
	case len(g.Worse) > 0:
		return &gateError{exitWorse, fmt.Sprintf("gate: %s and %d others regressed by more than %s", name(g.Worse), len(g.Worse)-1, limit)}
	case len(g.Unknown) > 0:
		return &gateError{exitUnknown, fmt.Sprintf("gate: inconclusive for %s and %d others, which may have regressed by more than %s; use longer or more profiles", name(g.Unknown), len(g.Unknown)-1, limit)}
	}
	return nil
}

// share is a flag with a share: "5%", "0.5 %" or "0.05".
type share float64

func (s *share) String() string {
	return strconv.FormatFloat(100*float64(*s), 'g', -1, 64) + "%"
}

func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		x /= 100
	}
	if err != nil || !(x >= 0 && x <= 1) {
		return fmt.Errorf("want a share such as 5%% or 0.05, at most 100%%")
	}
	*s = share(x)
	return nil
}
