package cli

import (
	"context"
	"flag"
	"io"

	"github.com/hone-go/hone/internal/render"
)

func foldedCommand() command {
	return stacksCommand(command{
		name: "folded", short: "stacks as lines of text, for flamegraph.pl, inferno and other tools",
		long: `
Each line is a stack: its frames, root first, separated by semicolons, then a space and its value in the
profile's unit (nanoseconds, bytes, a count). A semicolon within a name is written as a colon.`,
		examples: []string{
			"hone folded cpu.pprof -o cpu.folded",
			"hone folded -sample_index=alloc_space -lines rec.hone",
		},
	}, func(w io.Writer, v *view, json bool) error {
		page, err := render.NewStacks(v.Source.Name, v.View)
		if err != nil {
			return err
		}
		if json {
			return render.JSON(w, render.FoldedJSON(page))
		}
		return render.Folded(w, page)
	})
}

func speedscopeCommand() command {
	return stacksCommand(command{
		name: "speedscope", short: "a file for the viewer speedscope.app",
		long: `
All sample types are in the file; the one that -sample_index names is shown first. Inlined
calls are frames of their own.`,
		examples: []string{"hone speedscope cpu.pprof -o cpu.speedscope.json"},
	}, func(w io.Writer, v *view, _ bool) error {
		return render.Speedscope(w, v.Source.Name, v.View)
	})
}

// stacksCommand completes a command that writes the stacks of a view in another format.
func stacksCommand(c command, write func(w io.Writer, v *view, json bool) error) command {
	c.args, c.group = "[SOURCE...] [-o FILE]", "profiles"
	c.long = sourceHelp + c.long
	c.setup = func(fs *flag.FlagSet) runFunc {
		var f fileFlags
		f.declare(fs)
		return func(ctx context.Context, env Env, args, _ []string) error {
			v, err := f.view(ctx, env, args)
			if err != nil {
				return err
			}
			return f.write(env, false, func(w io.Writer) error { return write(w, v, f.json) })
		}
	}
	return c
}
