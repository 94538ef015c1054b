package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/render/flame"
	"github.com/hone-go/hone/internal/session"
)

func reportCommand() command {
	return command{
		name: "report", args: "[REC] [-o FILE.html|FILE.md]", group: "the main job",
		short: "one file for people without hone: findings, code, flame graph, trace, phases",
		long: `REC is a .hone file; without it, the last recording made on this machine. The HTML page holds everything
and needs no network; Markdown is for a pull request or a ticket, and has the findings alone. With
-no_source no line of source is in it; names of functions and files are.`,
		examples: []string{
			"hone report -o report.html",
			"hone report before.hone -o finding.md",
			"hone report before.hone -no_source -o report.html",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var f fileFlags
			var format string
			var noSource bool
			f.outputFlags.declare(fs, "show `N` findings (default 10)")
			fs.StringVar(&f.out, "o", "", "write to `FILE`; - or nothing: standard output")
			fs.StringVar(&format, "format", "", "`FORMAT` html or md (default: by the file's ending, else html)")
			fs.BoolVar(&noSource, "no_source", false, "leave source text out")
			return func(ctx context.Context, env Env, args, _ []string) error {
				format, err := fileFormat(format, f.file(), "html", "md", "htm")
				if err != nil {
					return err
				}
				cfg, prog, err := f.session(env)
				if err != nil {
					return err
				}
				path, err := oneRecording(cfg, "report", args)
				if err != nil {
					return err
				}
				res, err := session.Diagnose(ctx, cfg, path)
				prog.clear()
				if err != nil {
					return err
				}
				if f.json {
					return f.writeJSON(env, res.Report)
				}
				p := render.ReportPage{
					FindingsPage: render.FindingsPage{Report: res.Report, Manifest: res.Manifest, Top: f.top, Verbose: f.verbose},
					NoSource:     noSource,
				}
				if format == "md" {
					return f.write(env, false, func(w io.Writer) error { return render.ReportMarkdown(w, p) })
				}
				if p.Flame, err = flameOf(ctx, env, res); err != nil {
					return err
				}
				if p.Trace, err = traceOf(ctx, env, res); err != nil {
					return err
				}
				return f.write(env, true, func(w io.Writer) error { return render.ReportHTML(w, p) })
			}
		},
	}
}

// flameOf draws the CPU profile of a recording; "" when it has none.
func flameOf(ctx context.Context, env Env, res *session.Result) (string, error) {
	if !holds(res, recording.PartCPU) {
		return "", nil
	}
	var f fileFlags
	f.declare(flag.NewFlagSet("flame", flag.ContinueOnError))
	f.quiet = true
	v, err := f.view(ctx, env, []string{res.Path})
	if err != nil {
		return "", err
	}
	g, err := flame.New(v.Source.Name, v.View)
	if err != nil {
		return "", err
	}
	var page bytes.Buffer
	err = flame.HTML(&page, g)
	return page.String(), err
}

// traceOf is the summary of a recording's execution trace; "" when it has none.
func traceOf(ctx context.Context, env Env, res *session.Result) (string, error) {
	if !holds(res, recording.PartTrace) {
		return "", nil
	}
	var page bytes.Buffer
	env.Stdout, env.StdoutTTY, env.Width = &page, false, 100
	cmd := traceCommand()
	fs := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	run := cmd.setup(fs)
	if err := fs.Parse([]string{"-q"}); err != nil {
		return "", err
	}
	if err := run(ctx, env, []string{res.Path}, nil); err != nil {
		return "", fmt.Errorf("sum up the execution trace: %w", err)
	}
	return page.String(), nil
}

func holds(res *session.Result, part string) bool {
	return slices.ContainsFunc(res.Manifest.Parts, func(p recording.Part) bool { return p.Name == part })
}
