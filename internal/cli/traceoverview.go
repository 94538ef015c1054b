package cli

import (
	"context"
	"io"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/source"
)

// indexed reads the trace that args name and its index. release closes it.
func (f *traceFlags) indexed(ctx context.Context, env Env, args []string) (x *source.Indexed, release func(), err error) {
	c, prog, err := f.session(env)
	if err != nil {
		return nil, nil, err
	}
	defer prog.clear()
	arg := ""
	if len(args) == 1 {
		arg = args[0]
	}
	x, err = env.opener(c, source.Options{}).Index(ctx, arg)
	if err != nil {
		return nil, nil, err
	}
	if env.traces != nil {
		return x, func() {}, nil
	}
	return x, func() { x.Close() }, nil // opened read-only: an error loses nothing
}

// overview is hone trace overview: curves of an interval of a trace, with its spans if it is short.
func (f *traceFlags) overview(ctx context.Context, env Env, args []string) error {
	if f.events.to > 0 && f.events.to <= f.events.from {
		return usagef("-to %s is not after -from %s", f.events.to, f.events.from)
	}
	x, release, err := f.indexed(ctx, env, args)
	if err != nil {
		return err
	}
	defer release()
	o, err := x.Overview(ctx, f.events.from.Nanoseconds(), f.events.to.Nanoseconds(), f.columns)
	if err != nil {
		return err
	}
	page := render.TracePage{Source: x.Name, Top: f.top, Notes: x.Notes}
	if f.json {
		return render.TraceJSON(env.Stdout, "overview", page, o)
	}
	return buffered(env.Stdout, func(w io.Writer) error {
		render.TraceOverview(w, o, page, f.style(env))
		return nil
	})
}
