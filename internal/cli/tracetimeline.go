package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	timelines "github.com/hone-go/hone/exectrace/timeline"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/render/timeline"
)

// timeline is hone trace timeline: a window, a goroutine or a request as a page that works offline, or as SVG.
func (f *traceFlags) timeline(ctx context.Context, env Env, args []string) error {
	draw := timeline.HTML
	if strings.EqualFold(filepath.Ext(f.out), ".svg") {
		draw = timeline.SVG
	}
	if f.out == "" && !f.json && env.StdoutTerminal {
		return usagef("trace timeline: the page is not for a terminal; name a file with -o FILE.html or -o FILE.svg")
	}
	opt, title, err := f.window(ctx, env, args)
	if err != nil {
		return err
	}
	fold := timelines.New(opt)
	page, err := f.read(ctx, env, args, []exectrace.Fold{fold}, func(*exectrace.Trace) {})
	if err != nil {
		return err
	}
	result := fold.Result()
	if len(result.Goroutines) == 0 {
		return fmt.Errorf("%s: nothing happened in %s", page.Source, title)
	}
	if f.json {
		return render.TraceJSON(env.Stdout, "timeline", page, result)
	}
	noteOnSource(env, page)
	w, finish, err := f.create(env)
	if err != nil {
		return err
	}
	err = buffered(w, func(w io.Writer) error { return draw(w, page.Source+", "+title, result) })
	return errors.Join(err, finish(err == nil))
}

// window says what to draw: what the flags name, or the whole trace.
func (f *traceFlags) window(ctx context.Context, env Env, args []string) (timelines.Options, string, error) {
	opt := timelines.Options{From: f.events.from.Nanoseconds(), To: f.events.to.Nanoseconds()}
	title := "the whole trace"
	if opt.From > 0 || opt.To > 0 {
		title = fmt.Sprintf("from %s to %s", f.events.from, f.events.to)
		if opt.To == 0 {
			title = fmt.Sprintf("from %s on", f.events.from)
		}
	}
	if opt.To > 0 && opt.To <= opt.From {
		return opt, "", usagef("-to %s is not after -from %s", f.events.to, f.events.from)
	}
	if f.events.goroutine != 0 {
		opt.Goroutines = []uint64{f.events.goroutine}
		title = fmt.Sprintf("goroutine %d, %s", f.events.goroutine, title)
	}
	if f.request == 0 {
		return opt, title, nil
	}
	if len(args) == 1 && (args[0] == "-" || strings.Contains(args[0], "://")) {
		return opt, "", usagef("trace timeline: -request reads the trace twice; save it to a file first")
	}
	find := requests.New(requests.Options{Slowest: max(f.slowest, 1000), Paths: true})
	if _, err := f.read(ctx, env, args, []exectrace.Fold{find}, func(*exectrace.Trace) {}); err != nil {
		return opt, "", err
	}
	for _, q := range find.Result().Slowest {
		if q.ID != f.request {
			continue
		}
		margin := q.Latency / 20
		opt.From, opt.To = max(0, q.Begin-margin), q.Begin+q.Latency+margin
		opt.Goroutines = []uint64{q.Goroutine}
		if q.Path != nil {
			for _, s := range q.Path.Segments {
				if !slices.Contains(opt.Goroutines, s.Goroutine) && len(opt.Goroutines) < 50 {
					opt.Goroutines = append(opt.Goroutines, s.Goroutine)
				}
			}
		}
		return opt, fmt.Sprintf("request %d of %s, %s", q.ID, q.Title(), requests.Duration(q.Latency)), nil
	}
	return opt, "", fmt.Errorf("request %d is not among the slowest 1000 of the trace; hone trace requests lists some", f.request)
}
