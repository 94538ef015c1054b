package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/hone-go/hone/internal/experiment/tunedeps"
	"github.com/hone-go/hone/internal/experiment/tunegc"
	"github.com/hone-go/hone/internal/experiment/tunego"
	"github.com/hone-go/hone/internal/experiment/tunepgo"
	"github.com/hone-go/hone/internal/render"
)

// tuneFlags are the flags of `hone tune`.
type tuneFlags struct {
	rec     recordFlags
	out     outputFlags
	memory  string
	others  int
	gogc    list
	runs    int
	seed    uint64
	modules list
	profile list
	golang  list
	write   bool
	svg     string
	budget  time.Duration
}

// runLength is the default length of a run for targets that are recorded many times.
const runLength = 5 * time.Second

func tuneCommand() command {
	return command{
		name: "tune", args: "gc|deps|go|pgo TARGET [flags] [-- ARGS]", group: "the main job",
		short: "settings and versions that cost less: predicted or searched, then measured",
		long: `tune gc runs a program, or a service under load, once with GODEBUG=gctrace=1, once with a CPU profile and once with a trace. From the
live heap as a function of the allocated bytes, the pacer's goal and the cost of a collection it predicts CPU and memory for GOGC=25
to 3200 and for a memory limit alone. Of the settings that stay within nine tenths of the budget it chooses, among those with nearly
the least CPU, the one with the least memory. That setting, those that -gogc names and the neighbours then run interleaved with the
unchanged target.

tune deps examines the modules that own at least 5 % of CPU or of allocated bytes (or -module). The newest version runs interleaved
with the unchanged target. If it saves something, hone searches the versions in between for the oldest one that does. Each version is
built with its own go.mod; yours is not changed unless -w asks for it. The go command downloads the versions.

tune go builds the target with the newest release of its minor version of Go and of the two after it (or with those that -go names) and
runs them interleaved with the unchanged target. The go command downloads the releases that are not installed.

tune pgo builds the target with a CPU profile (recorded now, or merged from those that -profile names) and without one, and runs both
interleaved. -w writes the profile as default.pgo in the directory of package main if it saves something.`,
		examples: []string{
			"hone tune gc ./cmd/batchjob -memory 2GiB -- -n 1000",
			"hone tune gc ./cmd/batchjob -gogc 150 -gogc 300 -others 0",
			"hone tune gc ./cmd/server -load http://127.0.0.1:8080/path -memory 512MiB -duration 5s",
			"hone tune deps ./cmd/server -load http://127.0.0.1:8080/path -duration 5s",
			"hone tune deps -bench . -module github.com/go-chi/chi .",
			"hone tune go ./cmd/batchjob -- -n 1000",
			"hone tune go -go 1.26.4 -go 1.27.1 -bench . ./pkg",
			"hone tune pgo -w ./cmd/batchjob -- -n 1000",
			"hone tune pgo -profile mon.pprof -profile tue.pprof ./cmd/server -load http://127.0.0.1:8080/path",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var t tuneFlags
			t.rec.declare(fs)
			t.rec.defaultLength(fs, runLength)
			t.out.declare(fs, "")
			fs.StringVar(&t.memory, "memory", "", "for gc: the process may use `SIZE`: 512MiB, 2GiB (default: the memory of the machine or its cgroup)")
			fs.StringVar(&t.svg, "svg", "", "for gc:  draw the settings to `FILE`")
			fs.DurationVar(&t.budget, "budget", 0, "for gc:  continue with more runs until `D` is spent")
			fs.IntVar(&t.others, "others", 2, "for gc:  also measure `N` neighbours of the chosen setting")
			fs.Var(&t.gogc, "gogc", "for gc:  also predict and measure GOGC=`N`; may be given again")
			fs.Var(&t.modules, "module", "for deps:  examine the module `PATH`; may be given again")
			fs.Var(&t.profile, "profile", "for pgo: use the CPU profile in `SOURCE`: a file, a recording, or the URL of a service; may be given again (default: one is recorded)")
			fs.Var(&t.golang, "go", "for go: try this `VERSION` of Go;  may be given again (default: the newest of each minor version)")
			fs.BoolVar(&t.write, "w", false, "for pgo:  write default.pgo in the directory of package main if it saves something; for deps:  run go get for the versions that were found")
			fs.IntVar(&t.runs, "runs", 0, "record each side `N` times (default 6)")
			fs.Uint64Var(&t.seed, "seed", 0, "the `SEED` of the order of runs (default: from the clock)")
			return func(ctx context.Context, env Env, args, rest []string) error {
				if len(args) > 0 {
					switch args[0] {
					case "gc":
						return t.gc(ctx, env, args[1:], rest)
					case "deps":
						return t.deps(ctx, env, args[1:], rest)
					case "go":
						return t.toolchains(ctx, env, args[1:], rest)
					case "pgo":
						return t.pgo(ctx, env, args[1:], rest)
					}
				}
				return usagef("tune: give what to tune: hone tune gc TARGET -memory 2GiB, hone tune deps TARGET, hone tune go TARGET, or hone tune pgo TARGET")
			}
		},
	}
}

func (t *tuneFlags) gc(ctx context.Context, env Env, args, rest []string) error {
	cfg, prog, err := t.out.session(env)
	if err != nil {
		return err
	}
	spec := tunegc.Spec{Others: t.others, Runs: t.runs, Budget: t.budget, Seed: t.seed, Progress: prog.event}
	if t.memory != "" {
		if spec.Memory, err = parseSize(t.memory); err != nil || spec.Memory <= 0 {
			return usagef("tune: -memory %s: want a size such as 512MiB or 2GiB", t.memory)
		}
	}
	for _, text := range t.gogc {
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 {
			return usagef("tune: -gogc %s: want a percentage such as 400", text)
		}
		spec.Also = append(spec.Also, n)
	}
	if spec.Options, err = t.rec.capture(env, args, rest); err != nil {
		return err
	}
	r, err := tunegc.Run(ctx, cfg, spec)
	prog.clear()
	if err != nil {
		return err
	}
	if t.svg != "" {
		var b bytes.Buffer
		render.TuneGCPlot(&b, r)
		if err := os.WriteFile(absoluteFile(env.Dir, t.svg), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("-svg: %w", err)
		}
	}
	if t.out.json {
		return render.JSON(env.Stdout, r)
	}
	return buffered(env.Stdout, func(w io.Writer) error { render.TuneGC(w, r, t.out.style(env)); return nil })
}

func (t *tuneFlags) deps(ctx context.Context, env Env, args, rest []string) error {
	cfg, prog, err := t.out.session(env)
	if err != nil {
		return err
	}
	spec := tunedeps.Spec{Modules: t.modules, Write: t.write, Runs: t.runs, Seed: t.seed, Progress: prog.event}
	if spec.Options, err = t.rec.capture(env, args, rest); err != nil {
		return err
	}
	r, err := tunedeps.Run(ctx, cfg, spec)
	prog.clear()
	if err != nil {
		return err
	}
	if t.out.json {
		return render.JSON(env.Stdout, r)
	}
	return buffered(env.Stdout, func(w io.Writer) error { render.TuneDeps(w, r, t.out.style(env)); return nil })
}

func (t *tuneFlags) toolchains(ctx context.Context, env Env, args, rest []string) error {
	cfg, prog, err := t.out.session(env)
	if err != nil {
		return err
	}
	spec := tunego.Spec{Versions: t.golang, Runs: t.runs, Seed: t.seed, Progress: prog.event}
	if spec.Options, err = t.rec.capture(env, args, rest); err != nil {
		return err
	}
	r, err := tunego.Run(ctx, cfg, spec)
	prog.clear()
	if err != nil {
		return err
	}
	if t.out.json {
		return render.JSON(env.Stdout, r)
	}
	return buffered(env.Stdout, func(w io.Writer) error { render.TuneGo(w, r, t.out.style(env)); return nil })
}

func (t *tuneFlags) pgo(ctx context.Context, env Env, args, rest []string) error {
	cfg, prog, err := t.out.session(env)
	if err != nil {
		return err
	}
	spec := tunepgo.Spec{Write: t.write, Runs: t.runs, Seed: t.seed, Progress: prog.event}
	spec.Profiles = t.profile
	if spec.Options, err = t.rec.capture(env, args, rest); err != nil {
		return err
	}
	r, err := tunepgo.Run(ctx, cfg, spec)
	prog.clear()
	if err != nil {
		return err
	}
	if t.out.json {
		return render.JSON(env.Stdout, r)
	}
	return buffered(env.Stdout, func(w io.Writer) error { render.TunePGO(w, r, t.out.style(env)); return nil })
}
