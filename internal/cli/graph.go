package cli

import (
	"context"
	"flag"
	"io"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/profile/report"
)

// manyNodes is the number of nodes that make a picture of about ten megabytes.
const manyNodes = 1500

func graphCommand() command {
	return command{
		name: "graph", args: "[SOURCE...] [-o FILE.svg|FILE.dot]", group: "profiles",
		short: "the call graph as a picture",
		long: sourceHelp + `
The picture is one SVG file that any browser opens, laid out by hone: drag to move, scroll to zoom, click a
box to highlight its callers and callees. A function with a larger name costs more itself, a warmer box costs more with its callees, and a dotted
arrow skips functions that are not shown.`,
		examples: []string{
			"hone graph -o cpu.svg cpu.pprof",
			"hone graph -sample_index=alloc_space -o allocs.svg rec.hone",
			"hone graph -format dot cpu.pprof > cpu.dot",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var f fileFlags
			var format string
			f.declare(fs)
			fs.StringVar(&format, "format", "", "`FORMAT` svg or dot (default: by the file's ending, else svg)")
			return func(ctx context.Context, env Env, args, _ []string) error {
				draw, err := graphFormat(format, f.file())
				if err != nil {
					return err
				}
				v, err := f.view(ctx, env, args)
				if err != nil {
					return err
				}
				g, err := v.Graph(report.GraphOptions{NodeCount: graphNodes, Visual: true, CallTree: true})
				if err != nil {
					return err
				}
				page := v.graphPage(g)
				if f.json {
					return f.writeJSON(env, render.GraphJSON("graph", page))
				}
				if len(g.Nodes) > manyNodes {
					env.say("hone: %d functions are too many for a browser to draw quickly; -nodecount 200 keeps the most expensive", len(g.Nodes))
				}
				// SVG is of no use on a terminal; dot is text.
				return f.write(env, format != "dot", func(w io.Writer) error { return draw(w, page) })
			}
		},
	}
}

func graphFormat(format, out string) (func(io.Writer, render.GraphPage) error, error) {
	dot := func(w io.Writer, p render.GraphPage) error {
		render.Dot(w, p)
		return nil
	}
	format, err := fileFormat(format, out, "svg", "dot", "gv")
	if err != nil {
		return nil, err
	}
	if format == "svg" {
		return render.CallGraphSVG, nil
	}
	return dot, nil
}
