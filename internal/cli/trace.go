package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/internal/traceview"
	"github.com/hone-go/hone/profile"
)

const traceHelp = `SOURCE is an execution trace of Go 1.22 or later (from runtime/trace, go test -trace, or
/debug/pprof/trace; gzip'd or not), a recording, - for standard input, or the URL of a service, which
then traces itself for -seconds. Without SOURCE it is the last recording. The trace is read once
(twice for critical if the path is long), in memory that does not grow with its length. A truncated or
damaged trace is analysed up to the damage.

VIEW is one of
  summary      the numbers that matter and what stands out, in words (the default)
  requests     HTTP and gRPC requests, found without instrumentation: where their time went, and
               why the slow ones are slow
  critical     the path of one request (-request ID; the slowest) back through wake-ups
  cpu          CPU samples by request
  goroutines   where goroutines' time went, by the function that they were started with
  blocking     where they waited and who woke them: locks, hand-offs, polling
  wakers       the same waits by the line that ended them
  sched        how long ready goroutines waited for a processor
  syscalls     system calls by line
  parallelism  how many processors were busy, serial sections, uneven shares
  gc           garbage collections, assists, stop-the-world pauses, utilization
  tasks, regions, logs   what the program reported through runtime/trace
  overview     processors, goroutines by state, heap and collections over time (-from, -to, -columns), for
               plots; with the spans of goroutines if the interval is short
  timeline     a window (-from, -to), -goroutine or -request as a page that works offline: -o FILE.html, FILE.svg
  cut          whole generations between -from and -to as a smaller trace: -o FILE
  anonymize    the trace without the names of your code: -o FILE
  events       the events themselves, as text or JSON lines; selected by -kind, -goroutine, -from, -to, -focus

-pprof FILE writes the view as a profile: hone flame, top, diff and go tool pprof read it.

Tracing costs about 1 to 5 % of CPU, and more above about 500,000 events per second and processor. In Go 1.25 and
1.26 a program that panics while it is traced may crash (go.dev/issue/73664).`

// traceView is a view of hone trace.
type traceView struct {
	name string
	// own runs instead of the common analyses; nil for none.
	own    func(f *traceFlags, ctx context.Context, env Env, args []string) error
	writes bool // it writes the file of -o itself, because that is not text
	// show returns the value that -json prints and the function that draws the page, or an error
	// that says why there is nothing to show.
	show func(*traceview.Report) (any, pageOf, error)
}

// pageOf draws a view.
type pageOf func(io.Writer, render.TracePage, render.Style)

type traceFlags struct {
	outputFlags
	connectFlags
	seconds int
	pprof   string
	request int64
	whole   bool
	slowest int
	out     string
	columns int
	events  eventFlags
}

func traceCommand() command {
	return command{
		name: "trace", args: "[VIEW] [SOURCE]", group: "traces",
		short: "explain execution traces: why requests are slow, which goroutines wait for which, what is serial",
		long:  traceHelp,
		examples: []string{
			"hone trace trace.out",
			"hone trace requests rec.hone",
			"hone trace blocking -pprof wait.pprof trace.out",
			"hone trace summary -seconds 5 http://127.0.0.1:6060/debug/pprof/trace",
			"hone trace critical -request 17 -json trace.out",
			"hone trace timeline -request 17 -o slow.html trace.out",
			"hone trace cut -from 10s -to 12s -o part.trace trace.out",
			"hone trace events -kind 'GoBlock|GoUnblock' -goroutine 18 -from 10ms -to 12ms trace.out",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var f traceFlags
			f.outputFlags.declare(fs, "show `N` rows of each table (-1: all)")
			f.connectFlags.declare(fs)
			fs.IntVar(&f.seconds, "seconds", 0, "let a service trace itself for `N` seconds (default 5)")
			fs.StringVar(&f.pprof, "pprof", "", "write the view as a pprof profile to `FILE`")
			fs.Int64Var(&f.request, "request", 0, "critical, timeline: the request with this `ID` (default: the slowest)")
			fs.BoolVar(&f.whole, "run", false, "critical: the path of the whole run, from its end back")
			fs.IntVar(&f.slowest, "slowest", source.KeptSlowest, "keep `N` of the slowest requests in full")
			fs.StringVar(&f.out, "o", "", "write to `FILE` instead of standard output")
			fs.IntVar(&f.columns, "columns", 0, "overview: use at most `N` columns (default 400, at most 2000)")
			f.events.declare(fs)
			return func(ctx context.Context, env Env, args, _ []string) error {
				return f.run(ctx, env, args)
			}
		},
	}
}

func (f *traceFlags) run(ctx context.Context, env Env, args []string) error {
	view, args, err := chooseView(args)
	if err != nil {
		return err
	}
	if f.pprof != "" && !slices.Contains(analysis.Profiles(), view.name) {
		return usagef("trace %s: -pprof is not for this view; it is for %s", view.name, strings.Join(analysis.Profiles(), ", "))
	}
	if f.out != "" && (!view.writes || f.json) {
		name := f.out
		f.out = ""
		return redirect(env, name, func(env Env) error { return f.view(ctx, env, view, args) })
	}
	return f.view(ctx, env, view, args)
}

// view shows or writes a view.
func (f *traceFlags) view(ctx context.Context, env Env, view traceView, args []string) error {
	if view.own != nil {
		return view.own(f, ctx, env, args)
	}
	r, prog, err := f.reader(env, args)
	if err != nil {
		return err
	}
	rep, err := r.Report(ctx, traceview.ReportOptions{Slowest: f.slowest, Critical: view.name == "critical", Run: f.whole, Request: f.request})
	prog.clear()
	if err != nil {
		return err
	}
	result, draw, err := view.show(rep)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	if f.pprof != "" {
		if err := writeProfile(env, f.pprof, func() (*profile.Profile, error) { return rep.Profile(view.name) }); err != nil {
			return err
		}
	}
	page := f.page(r)
	if f.json {
		return render.TraceJSON(env.Stdout, view.name, page, result)
	}
	return buffered(env.Stdout, func(w io.Writer) error {
		draw(w, page, f.style(env))
		return nil
	})
}

// chooseView removes VIEW from the arguments.
func chooseView(args []string) (traceView, []string, error) {
	views := traceViews()
	if len(args) > 0 {
		if i := slices.IndexFunc(views, func(v traceView) bool { return v.name == args[0] }); i >= 0 {
			views, args = views[i:], args[1:]
		} else if len(args) > 1 {
			return traceView{}, nil, usagef("trace: no view %q; there are %s", args[0], strings.Join(viewNames(), ", "))
		}
	}
	if len(args) > 1 {
		return traceView{}, nil, usagef("trace takes one SOURCE, not %s", strings.Join(args, " and "))
	}
	return views[0], args, nil
}

func viewNames() []string {
	var names []string
	for _, v := range traceViews() {
		names = append(names, v.name)
	}
	return names
}

// reader reads the trace that args name.
func (f *traceFlags) reader(env Env, args []string) (*traceview.Reader, *progress, error) {
	c, prog, err := f.session(env)
	if err != nil {
		return nil, nil, err
	}
	headers, err := parseHeaders(f.headers)
	if err != nil {
		return nil, nil, err
	}
	tlsConfig, err := f.tls()
	if err != nil {
		return nil, nil, err
	}
	r := &traceview.Reader{
		Opener:   env.opener(c, source.Options{Seconds: f.seconds, TLS: tlsConfig, Header: headers}),
		Progress: readProgress(prog),
	}
	if len(args) == 1 {
		r.Name = args[0]
	}
	return r, prog, nil
}

// page returns what all views' pages need.
func (f *traceFlags) page(r *traceview.Reader) render.TracePage {
	return render.TracePage{Source: r.Name, Top: f.top, Notes: r.Notes}
}

// readProgress shows how much of a long trace was read.
func readProgress(p *progress) func(read, of int64) {
	const long = 64 << 20
	return func(read, of int64) {
		if of >= long {
			p.event(capture.Event{Phase: "read", Text: fmt.Sprintf("%d of %d MB", read/1e6, of/1e6)})
		}
	}
}

// writeProfile writes a profile to a file.
func writeProfile(env Env, name string, build func() (*profile.Profile, error)) error {
	p, err := build()
	if err != nil {
		return err
	}
	f, err := os.Create(absolute(env.Dir, name))
	if err != nil {
		return fmt.Errorf("-pprof: %w", err)
	}
	err = p.Encode(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("-pprof %s: %w", name, err)
	}
	return nil
}
