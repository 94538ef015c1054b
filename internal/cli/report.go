package cli

import (
	"bytes"
	"context"
	"flag"
	"io"
	"path/filepath"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/render/flame"
	"github.com/hone-go/hone/internal/session"
	profilereport "github.com/hone-go/hone/profile/report"
)

func reportCommand() command {
	return command{
		name: "report", args: "[REC] [-o FILE.html|FILE.md]", group: "the main job",
		short: "one file for people without hone: findings, code, flame graph, trace, phases",
		long: `REC is a .hone file; without it, the last recording made on this machine. The HTML page contains everything and
needs no network; Markdown is for a pull request or a ticket, and has only the findings. With -no_source it contains
no source text; why and fix are then the rule's general text, but the names of functions and files remain. With -anonymize
the names of your code are replaced too, and the trace is left out; hone trace anonymize writes a trace without names.`,
		examples: []string{
			"hone report -o report.html",
			"hone report before.hone -o finding.md",
			"hone report before.hone -no_source -o report.html",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var f fileFlags
			var format string
			var noSource, anonymize bool
			f.outputFlags.declare(fs, "show `N` findings (default 10)")
			fs.StringVar(&f.out, "o", "", "write to `FILE` (default, or -: standard output)")
			fs.StringVar(&format, "format", "", "`FORMAT` html or md (default: by the file's ending, else html)")
			fs.BoolVar(&noSource, "no_source", false, "leave source text out")
			fs.BoolVar(&anonymize, "anonymize", false, "leave source text out, and replace the names of your code: functions, files, the target, the load")
			return func(ctx context.Context, env Env, args, _ []string) error {
				format, err := fileFormat(format, f.file(), "html", "md", "htm")
				if err != nil {
					return err
				}
				if f.json && (noSource || anonymize) {
					return usagef("report: -json prints the JSON of hone findings, with source and names: leave out -no_source and -anonymize")
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
				if anonymize {
					p.Names = exectrace.NewPseudonyms().Of
				}
				if format == "md" {
					return f.write(env, false, func(w io.Writer) error { return render.ReportMarkdown(w, p) })
				}
				if p.Flame, err = flameOf(res, p.Names); err != nil {
					return err
				}
				if !anonymize { // the trace contains logs and names of tasks
					p.Trace = traceOf(res)
				}
				return f.write(env, true, func(w io.Writer) error { return render.ReportHTML(w, p) })
			}
		},
	}
}

// anonymousFlame is the title of the profile in an anonymous report.
const anonymousFlame = "CPU"

// flameOf draws the CPU profile of a recording, or returns "" if it has none. names, if set,
// replaces the names of functions and files.
func flameOf(res *session.Result, names func(string) string) (string, error) {
	if res.CPU == nil {
		return "", nil
	}
	p, title := res.CPU, filepath.Base(res.Path)
	if names != nil {
		p, title = p.WithNames(names), anonymousFlame
	}
	v, err := profilereport.NewView(p, profilereport.DefaultOptions())
	if err != nil {
		return "", err
	}
	g, err := flame.New(title, v, flame.Both)
	if err != nil {
		return "", err
	}
	var page bytes.Buffer
	err = flame.HTML(&page, g)
	return page.String(), err
}

// traceOf returns the summary of a recording's execution trace, or "" if it has none.
func traceOf(res *session.Result) string {
	if res.Trace == nil {
		return ""
	}
	var page bytes.Buffer
	render.TraceSummary(&page, res.Trace.Summary(), render.TracePage{Source: filepath.Base(res.Path)}, render.Style{Width: 100})
	return page.String()
}
