package cli

import (
	"context"
	"flag"
	"io"
	"regexp"

	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/profile/report"
)

func topCommand() command {
	return command{
		name: "top", args: "[SOURCE...]", group: "profiles",
		short: "the most expensive functions, files or lines, with flat and cumulative cost",
		long:  sourceHelp + "\nSeveral sources are summed. The flags have pprof's names and meaning.",
		examples: []string{
			"hone top cpu.pprof",
			"hone top -cum rec.hone",
			"hone top -sample_index=alloc_space rec.hone",
			"hone top -lines -focus 'json\\.' -seconds 5 http://127.0.0.1:6060/debug/pprof/profile",
			"hone top -diff_base before.pprof after.pprof",
			"hone top -tagfocus bytes=1mb: -tagroot route heap.pprof",
			"hone top -groups cpu.pprof",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var p profileFlags
			p.declare(fs, "show `N` rows (default 20; -1: all)")
			groups := fs.Bool("groups", false, "the work of the Go runtime (garbage collection, allocation, maps, …) and your lines that cause it")
			return func(ctx context.Context, env Env, args, _ []string) error {
				p.shape.KeepStacks = env.sources != nil && !*groups // saves work if other reports follow
				v, err := p.view(ctx, env, args)
				if err != nil {
					return err
				}
				if *groups {
					return p.printGroups(env, v)
				}
				top, err := report.Top(v.Profile, v.TopOptions(20))
				if err != nil {
					return err
				}
				t := render.TopTable{Source: v.Source.Name, View: v.View, Top: top, Blind: v.blindSpots(top.Smallest()), Notes: v.Source.Notes}
				if p.json {
					return render.JSON(env.Stdout, render.TopJSON(t))
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.Top(w, t, p.style(env))
					return nil
				})
			}
		},
	}
}

func listCommand() command {
	return command{
		name: "list", args: "REGEXP [SOURCE...]", group: "profiles",
		short: "source of the matching functions with the cost of each line",
		long: sourceHelp + `
The source is found by module: in your tree, the module cache, GOROOT or vendor.

Below expensive lines, and below the first line of a function, hone prints which calls the profile
shows as inlined, and the compiler's decisions: what escapes to the heap and
why, what is not inlined and why, bounds checks, large copies. These are the compiler's remarks on
the code, not costs. By default, hone prints them for the most expensive package, if it knows how the
program was built (from a recording, or the program that the profile names); with -remarks for
all listed packages, including the standard library; with -remarks=false for none.`,
		examples: []string{
			"hone list 'main\\.leftpad' rec.hone",
			"hone list -sample_index=alloc_objects 'StatsD.*Send' rec.hone",
			"hone list Handler cpu.pprof",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var p profileFlags
			p.declare(fs, "")
			remarks := fs.Bool("remarks", true, "print the compiler's decisions below expensive lines")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if len(args) == 0 {
					return usagef("list: give a regular expression for functions, e.g. hone list 'main\\.' rec.hone")
				}
				re, err := regexp.Compile(args[0])
				if err != nil {
					return usagef("list: %v", err)
				}
				v, err := p.view(ctx, env, args[1:])
				if err != nil {
					return err
				}
				page, err := inspect.List(v.Source, v.View, re)
				if err != nil {
					return err
				}
				if *remarks {
					if err := inspect.AddRemarks(ctx, v.Source, page, remarkOptions(fs)); err != nil {
						return err
					}
					v.prog.clear()
				}
				if p.json {
					return render.JSON(env.Stdout, render.ListJSON(page))
				}
				return buffered(env.Stdout, func(w io.Writer) error {
					render.List(w, page, p.style(env))
					return nil
				})
			}
		},
	}
}

// remarkOptions returns options for all packages if the user gave -remarks.
func remarkOptions(fs *flag.FlagSet) inspect.RemarkOptions {
	var o inspect.RemarkOptions
	fs.Visit(func(f *flag.Flag) { o.All = o.All || f.Name == "remarks" })
	return o
}
