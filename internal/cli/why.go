package cli

import (
	"context"
	"flag"
	"io"

	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/session"
)

func whyCommand() command {
	return command{
		name: "why", args: "PLACE [REC]", group: "the main job",
		short: "everything that hone knows about one function or line: costs, callers, source, compiler, findings",
		long: `PLACE is FILE:LINE, as findings and lists print it, or a regular expression that functions
match. REC is a .hone file; without it, the last recording made on this machine.

Costs are given twice. "Itself and standard library below" is what findings are ranked by: the location
and the standard library's functions that it calls, without other lines of yours or of modules; each
cost is charged once. "With everything it calls" is the whole cost of calls to it. Garbage collection is
charged by allocated bytes. Intervals are the 95 % intervals of sampling.

Below an escape, hone prints the steps by which the value left the function, in the compiler's order.`,
		examples: []string{
			"hone why 'main\\.leftpad' rec.hone",
			"hone why leftpad.go:7",
			"hone why middleware/compress.go:268 before.hone -json",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var out outputFlags
			out.declare(fs, "")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if len(args) == 0 {
					return usagef("why: give a location, FILE:LINE or a regular expression, e.g. hone why 'main\\.' rec.hone")
				}
				if len(args) > 2 {
					return usagef("why takes one location and one recording")
				}
				if err := inspect.CheckPlace(args[0]); err != nil {
					return usagef("why: %v", err)
				}
				cfg, prog, err := out.session(env)
				if err != nil {
					return err
				}
				rec := ""
				if len(args) == 2 {
					rec = args[1]
				}
				res, err := session.Diagnose(ctx, cfg, rec)
				if err != nil {
					prog.clear()
					return err
				}
				y, err := inspect.Explain(ctx, cfg.Opener(), res, args[0])
				prog.clear()
				if err != nil {
					return err
				}
				if out.json {
					return render.JSON(env.Stdout, render.WhyJSON(y))
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.Why(w, y, out.style(env))
					return nil
				})
			}
		},
	}
}
