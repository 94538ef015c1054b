package cli

import (
	"context"
	"flag"
	"io"
	"os"
	"strings"

	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/render"
)

func tryCommand() command {
	return command{
		name: "try", args: "TARGET -with VARIANT... [flags] [-- ARGS]", group: "the main job",
		short: "measure a change: interleaved runs of the target and its variants, a verdict per metric",
		long: `Runs a program, a service under load, or benchmarks, unchanged and as one or more variants: interleaved, each run in a new process. It
reports what each variant changes: CPU, allocations, throughput, latency. Your tree is not changed.

A VARIANT is one or more of these, separated by spaces:
  GOGC=400 GOMEMLIMIT=2GiB      variables of the environment (GOGC, GOMEMLIMIT, GOMAXPROCS, GODEBUG, your own)
  git:HEAD~1                    the files of a commit instead of the tree's
  pgo:cpu.pprof                 built with that CPU profile: a file, a recording (pgo:before.hone), or the URL of a service
                                (the unchanged target uses default.pgo if there is one)
  patch:fix.diff                the commit of the tree (or git:REF) with that diff
  build:-tags=fast              a flag of go build
  go:1.27.1                     built by that release of Go
  dep:example.com/m@v1.2.3      with that version of a dependency
  dep:example.com/m=../m        with the module in a directory in place of a dependency

A variant that does not build, fails, prints something other than the unchanged program, or answers requests differently (by status, and
by body if bodies do not change from request to request) is reported as such and gets no verdict. -duration is the length of one
run. Without -rate, the throughput of a service is compared; with -rate, its latency. Each side runs -runs times, or more until
-budget is spent or the intervals are as narrow as -width.`,
		examples: []string{
			"hone try ./cmd/server -load http://127.0.0.1:8080/path -with git:main -duration 5s",
			"hone try ./cmd/batchjob -with GOGC=200 -with GOGC=400 -- -n 1000",
			"hone try -bench . . -with dep:github.com/go-chi/chi/v5@v5.2.1 -budget 2m",
			"hone try -bench Encode ./codec -with pgo:cpu.pprof",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var rec recordFlags
			var out outputFlags
			var with list
			var spec experiment.Spec
			rec.declare(fs)
			rec.defaultLength(fs, runLength)
			out.declare(fs, "")
			fs.Var(&with, "with", "try this `VARIANT`; may be given again")
			fs.IntVar(&spec.Runs, "runs", 6, "record each variant `N` times")
			fs.DurationVar(&spec.Budget, "budget", 0, "continue with more runs until `D` is spent")
			fs.Float64Var(&spec.Width, "width", 0, "continue with more runs until the intervals of CPU and time are ±`SHARE` (0.02 is ±2 %) or narrower")
			fs.StringVar(&spec.Keep, "keep", "", "keep the recordings of all runs in `DIR`")
			fs.Uint64Var(&spec.Seed, "seed", 0, "the `SEED` of the order of runs (default: from the clock)")
			return func(ctx context.Context, env Env, args, rest []string) error {
				cfg, prog, err := out.session(env)
				if err != nil {
					return err
				}
				if spec.Options, err = rec.capture(env, args, rest); err != nil {
					return err
				}
				if len(with) == 0 {
					return usagef("try: give a variant, such as -with GOGC=400 or -with git:main")
				}
				for _, w := range with {
					v, err := variantOf(env, w)
					if err != nil {
						return err
					}
					spec.Variants = append(spec.Variants, v)
				}
				if spec.Keep != "" {
					spec.Keep = absolute(env.Dir, spec.Keep)
					if err := os.MkdirAll(spec.Keep, 0o755); err != nil {
						return err
					}
				}
				spec.Progress = prog.event
				r, err := experiment.Run(ctx, cfg, spec)
				prog.clear()
				if err != nil {
					return err
				}
				if out.json {
					return render.JSON(env.Stdout, r)
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.Try(w, r, out.style(env))
					return nil
				})
			}
		},
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// variantOf parses the words of a variant.
func variantOf(env Env, words string) (experiment.Variant, error) {
	v := experiment.Variant{Name: words}
	fields, err := splitQuoted(words)
	if err != nil || len(fields) == 0 {
		return v, usagef("try: -with %q: want words such as GOGC=400, git:main or pgo:cpu.pprof", words)
	}
	for _, f := range fields {
		kind, value, _ := strings.Cut(f, ":")
		name, _, assigns := strings.Cut(f, "=")
		switch {
		case kind == "git" && value != "":
			v.Ref = value
		case kind == "pgo" && value != "":
			v.PGO = value
		case kind == "patch" && value != "":
			if v.Patch = absoluteFile(env.Dir, value); !isFile(v.Patch) {
				return v, usagef("try: -with %s: no such file", f)
			}
		case kind == "go" && value != "":
			v.Toolchain = "go" + strings.TrimPrefix(value, "go")
		case kind == "dep" && strings.Contains(value, "=") && !strings.HasPrefix(value, "="):
			path, dir, _ := strings.Cut(value, "=")
			v.Modules = append(v.Modules, path+"="+absolute(env.Dir, dir))
		case kind == "dep" && strings.Contains(value, "@"):
			v.Modules = append(v.Modules, value)
		case kind == "build" && strings.HasPrefix(value, "-"):
			v.BuildFlags = append(v.BuildFlags, value)
		case assigns && name != "" && !strings.ContainsAny(name, ":-"):
			v.Env = append(v.Env, f)
		default:
			return v, usagef("try: -with %s: want NAME=VALUE, git:REF, patch:FILE, pgo:PROFILE, build:-FLAG, go:VERSION or dep:MODULE@VERSION", f)
		}
	}
	return v, nil
}
