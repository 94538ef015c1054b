package cli

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/hone-go/hone/internal/experiment/prove"
	"github.com/hone-go/hone/internal/render"
)

func proveCommand() command {
	return command{
		name: "prove", args: "[REC] [flags]", group: "the main job",
		short: "your change against a recording: what it saves, and which findings it fixes",
		long: `Runs the program that was recorded (its commit) and the program with your change, interleaved, under the load of the recording. It
then records both once in full and reports which findings are gone, which are smaller, which are still there, and whether the
change saved what they predicted.

The change is the current tree, or another commit (-ref REF), or a diff on top of the recorded commit (-patch FILE). -base names another
commit to compare with. Your tree is not changed. A recording does not contain headers and bodies of requests:
repeat -load if the requests had some.`,
		examples: []string{
			"hone prove",
			"hone prove before.hone -ref faster-encoder",
			"hone prove before.hone -patch fix.diff -duration 10s",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			var again againFlags
			var spec prove.Spec
			out.declare(fs, "")
			again.declare(fs)
			fs.StringVar(&spec.Base, "base", "", "compare with the git `REF` (default: the commit of the recording)")
			fs.StringVar(&spec.Ref, "ref", "", "the change is the git `REF`")
			fs.StringVar(&spec.Patch, "patch", "", "the change is the diff in `FILE`")
			fs.IntVar(&spec.Runs, "runs", 6, "record each side `N` times")
			fs.Uint64Var(&spec.Seed, "seed", 0, "the `SEED` of the order of runs (default: from the clock)")
			fs.DurationVar(&spec.Length, "full", 15*time.Second, "length of each full recording, `D`")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if spec.Ref != "" && spec.Patch != "" {
					return usagef("prove: give either -ref or -patch")
				}
				cfg, prog, err := out.session(env)
				if err != nil {
					return err
				}
				path, err := oneRecording(cfg, "prove", args)
				if err != nil {
					return err
				}
				m, err := cfg.Opener().Manifest(path)
				if err != nil {
					return err
				}
				if spec.Options, err = again.options(ctx, env, m); err != nil {
					return err
				}
				spec.Patch = absoluteFile(env.Dir, spec.Patch)
				r, err := prove.Run(ctx, cfg, m, spec)
				prog.clear()
				if err != nil {
					return err
				}
				if out.json {
					return render.JSON(env.Stdout, r)
				}
				return buffered(env.Stdout, func(w io.Writer) error { render.Prove(w, r, out.style(env)); return nil })
			}
		},
	}
}
