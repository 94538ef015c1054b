package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/render/timeline"
	"github.com/hone-go/hone/internal/traceview"
)

// timeline is hone trace timeline: a window, a goroutine or a request as an offline page, or as
// SVG.
func (f *traceFlags) timeline(ctx context.Context, env Env, args []string) error {
	draw := timeline.HTML
	if strings.EqualFold(filepath.Ext(f.out), ".svg") {
		draw = timeline.SVG
	}
	if f.out == "" && !f.json && env.StdoutTerminal {
		return usagef("trace timeline: write the page to a file with -o FILE.html or -o FILE.svg")
	}
	if f.events.to > 0 && f.events.to <= f.events.from {
		return usagef("-to %s is not after -from %s", f.events.to, f.events.from)
	}
	if f.request != 0 && len(args) == 1 && (args[0] == "-" || strings.Contains(args[0], "://")) {
		return usagef("trace timeline: -request reads the trace twice; save it to a file first")
	}
	r, prog, err := f.reader(env, args)
	if err != nil {
		return err
	}
	window := traceview.Window{From: f.events.from, To: f.events.to, Goroutine: f.events.goroutine, Request: f.request}
	result, title, err := r.Timeline(ctx, window, f.slowest)
	prog.clear()
	if err != nil {
		return err
	}
	if f.json {
		return render.TraceJSON(env.Stdout, "timeline", f.page(r), result)
	}
	noteOnSource(env, r)
	w, finish, err := f.create(env)
	if err != nil {
		return err
	}
	err = buffered(w, func(w io.Writer) error { return draw(w, r.Name+", "+title, result) })
	return errors.Join(err, finish(err == nil))
}
