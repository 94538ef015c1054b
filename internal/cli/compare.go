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
		short: "two recordings: a verdict per metric",
		long: `Compares the clean phases of two recordings per request (or per run): CPU, allocations,
throughput, latency. "same" means that the whole interval lies within the floor;
"unknown" means that the data cannot tell.`,
		examples: []string{"hone compare before.hone after.hone"},
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			out.declare(fs, "")
			return func(_ context.Context, env Env, args, _ []string) error {
				if len(args) != 2 {
					return usagef("compare: name two recordings, the old one first")
				}
				cfg, _, err := out.session(env)
				if err != nil {
					return err
				}
				old, err := session.Manifest(cfg, args[0])
				if err != nil {
					return err
				}
				new, err := session.Manifest(cfg, args[1])
				if err != nil {
					return err
				}
				c, err := compare.Recordings(args[0], old, args[1], new)
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
