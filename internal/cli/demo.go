package cli

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/hone-go/hone/internal/demo"
	"github.com/hone-go/hone/internal/render"
)

func demoCommand() command {
	return command{
		name: "demo", group: "the main job",
		short: "the whole loop on a service that comes with hone",
		long: `Writes the left-pad service, before and after its published fixes, to a temporary
directory, records both under the same load, and prints the findings of the first,
those that remain in the second, and the comparison per request. The load goes to
a free port of this machine's loopback. Takes about two minutes.`,
		examples: []string{"hone demo", "hone demo -duration 60s", "hone demo -json"},
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			var duration time.Duration
			out.declare(fs, "show `N` findings (default 10)")
			fs.DurationVar(&duration, "duration", 30*time.Second, "length of each recording, `D`")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if len(args) > 0 {
					return usagef("demo takes no arguments")
				}
				if duration < 4*time.Second {
					return usagef("demo: -duration %s is too short: every phase needs requests; use at least 4s", duration)
				}
				cfg, prog, err := out.session(env)
				if err != nil {
					return err
				}
				res, err := demo.Run(ctx, cfg, duration)
				prog.clear()
				if err != nil {
					return err
				}
				if out.json {
					return render.JSON(env.Stdout, res.JSON())
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.Demo(w, res, out.top, out.style(env))
					return nil
				})
			}
		},
	}
}
