package cli

import (
	"context"
	"flag"
	"io"
	"regexp"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/profile/report"
)

// graphNodes is the default number of nodes of a call graph, as in pprof.
const graphNodes = 80

func treeCommand() command {
	return command{
		name: "tree", args: "[SOURCE...]", group: "profiles",
		short: "each function between its callers and callees",
		long:  sourceHelp + "\nSeveral sources are summed. Callers are above a function, callees below it.",
		examples: []string{
			"hone tree cpu.pprof",
			"hone tree -focus 'json\\.' rec.hone",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var p profileFlags
			p.declare(fs, "")
			return func(ctx context.Context, env Env, args, _ []string) error {
				v, err := p.view(ctx, env, args)
				if err != nil {
					return err
				}
				g, err := v.Graph(report.GraphOptions{NodeCount: graphNodes})
				if err != nil {
					return err
				}
				page := v.graphPage(g)
				page.Blind = v.blindSpots(page.Least())
				return p.printTree(env, "tree", page)
			}
		},
	}
}

func peekCommand() command {
	return command{
		name: "peek", args: "REGEXP [SOURCE...]", group: "profiles",
		short: "all callers and callees of the matching functions",
		long:  sourceHelp,
		examples: []string{
			"hone peek 'runtime\\.mallocgc$' cpu.pprof",
			"hone peek -sample_index=alloc_space 'json\\.Marshal' rec.hone",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var p profileFlags
			p.declare(fs, "")
			return func(ctx context.Context, env Env, args, _ []string) error {
				if len(args) == 0 {
					return usagef("peek: give a regular expression for functions, e.g. hone peek 'main\\.' rec.hone")
				}
				re, err := regexp.Compile(args[0])
				if err != nil {
					return usagef("peek: %v", err)
				}
				v, err := p.view(ctx, env, args[1:])
				if err != nil {
					return err
				}
				g, err := v.Graph(report.GraphOptions{EdgesOf: re})
				if err != nil {
					return err
				}
				page := v.graphPage(g)
				page.Shown = []int{}
				for i := range g.Nodes {
					if re.MatchString(g.Nodes[i].String()) {
						page.Shown = append(page.Shown, i)
					}
				}
				if len(page.Shown) == 0 {
					return usagef("%s: no function that matches %q has samples of %s; `hone top -top -1` shows all", v.Source.Name, re, v.SampleType.Type)
				}
				page.Blind = v.blindSpots(page.Least())
				return p.printTree(env, "peek", page)
			}
		},
	}
}

// graphPage is a call graph of the view.
func (v *view) graphPage(g *report.CallGraph) render.GraphPage {
	return render.GraphPage{Source: v.Source.Name, View: v.View, Graph: g, Notes: v.Source.Notes}
}

func (p *profileFlags) printTree(env Env, name string, page render.GraphPage) error {
	if p.json {
		return render.JSON(env.Stdout, render.GraphJSON(name, page))
	}
	return buffered(env.Stdout, func(w io.Writer) error {
		render.Tree(w, page, p.style(env))
		return nil
	})
}
