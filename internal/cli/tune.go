package cli

import (
	"context"
	"flag"
	"io"

	"github.com/hone-go/hone/internal/experiment/tunegc"
	"github.com/hone-go/hone/internal/render"
)

func tuneCommand() command {
	return command{
		name: "tune", args: "gc TARGET -memory SIZE [flags] [-- ARGS]", group: "the main job",
		short: "the collector's setting for a memory budget: predicted, then measured",
		long: `tune gc runs a program, or a service under load, once with the runtime printing its collections, and predicts CPU and
memory under GOGC=25 to 3200 and under a memory limit alone: the live heap as a function of what was allocated, the
pacer's goal, and what a collection cost. Of the settings that stay within nine tenths of the budget it takes the one that
needs the least memory among those near the least CPU; then that one and its neighbours run in turns with the target as
it is. What the collector's absence does to the rest of the program is not predicted, but measured.`,
		examples: []string{
			"hone tune gc ./cmd/batchjob -memory 2GiB -- -n 1000",
			"hone tune gc ./cmd/server -load http://127.0.0.1:8080/path -memory 512MiB -duration 5s",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var rec recordFlags
			var out outputFlags
			var spec tunegc.Spec
			memory := ""
			rec.declare(fs)
			out.declare(fs, "")
			fs.StringVar(&memory, "memory", "", "the process may hold `SIZE`: 512MiB, 2GiB (default: what the machine or its cgroup has)")
			fs.IntVar(&spec.Others, "others", 2, "measure `N` neighbours of the choice, too")
			fs.IntVar(&spec.Runs, "runs", 6, "record each setting that is measured `N` times")
			fs.Uint64Var(&spec.Seed, "seed", 0, "the `SEED` of the order of runs (default: from the time)")
			return func(ctx context.Context, env Env, args, rest []string) error {
				if len(args) == 0 || args[0] != "gc" {
					return usagef("tune: what? hone tune gc TARGET -memory 2GiB")
				}
				cfg, prog, err := out.session(env)
				if err != nil {
					return err
				}
				if memory != "" {
					if spec.Memory, err = parseSize(memory); err != nil || spec.Memory <= 0 {
						return usagef("tune: -memory %s: want a size as 512MiB or 2GiB", memory)
					}
				}
				if spec.Options, err = rec.capture(env, args[1:], rest); err != nil {
					return err
				}
				spec.Progress = prog.event
				r, err := tunegc.Run(ctx, cfg, spec)
				prog.clear()
				if err != nil {
					return err
				}
				if out.json {
					return render.JSON(env.Stdout, r)
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.TuneGC(w, r, out.style(env))
					return nil
				})
			}
		},
	}
}
