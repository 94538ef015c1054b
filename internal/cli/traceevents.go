package cli

import (
	"context"
	"flag"
	"regexp"
	"time"

	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/traceview"
)

// eventFlags select events.
type eventFlags struct {
	kind      string
	goroutine uint64
	from, to  time.Duration
	focus     string
	count     int64
	stacks    bool
}

func (e *eventFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&e.kind, "kind", "", "events: those whose name matches `REGEXP` (GoBlock, GCBegin, …)")
	fs.Uint64Var(&e.goroutine, "goroutine", 0, "events: about or by the goroutine `ID`")
	fs.DurationVar(&e.from, "from", 0, "overview, timeline, cut, events: from `D` after the trace's start")
	fs.DurationVar(&e.to, "to", 0, "overview, timeline, cut, events: until `D` after the trace's start")
	fs.StringVar(&e.focus, "focus", "", "events: with a function on their stack that matches `REGEXP`")
	fs.Int64Var(&e.count, "count", 0, "events: the first `N` (default: all)")
	fs.BoolVar(&e.stacks, "stacks", false, "events: with their whole stacks")
}

// filter compiles the flags.
func (e *eventFlags) filter() (render.EventFilter, error) {
	f := render.EventFilter{Goroutine: e.goroutine, From: e.from.Nanoseconds(), To: e.to.Nanoseconds(), Count: e.count, WithStacks: e.stacks}
	for _, x := range []struct {
		name, text string
		to         **regexp.Regexp
	}{{"kind", e.kind, &f.Kind}, {"focus", e.focus, &f.Focus}} {
		if x.text == "" {
			continue
		}
		re, err := regexp.Compile(x.text)
		if err != nil {
			return f, usagef("-%s: %v", x.name, err)
		}
		*x.to = re
	}
	if f.To > 0 && f.To < f.From {
		return f, usagef("-to %s is before -from %s", e.to, e.from)
	}
	return f, nil
}

// printEvents is hone trace events: it prints events as they are read, so the trace can have any
// length.
func (f *traceFlags) printEvents(ctx context.Context, env Env, args []string) error {
	filter, err := f.events.filter()
	if err != nil {
		return err
	}
	out := render.NewTraceEvents(env.Stdout, filter, f.json)
	r, prog, err := f.reader(env, args)
	if err != nil {
		return err
	}
	_, err = r.Read(ctx, out)
	prog.clear()
	if e := out.Flush(); err == nil {
		err = e
	}
	noteOnSource(env, r)
	return err
}

// noteOnSource prints notes on the trace to standard error, for views whose output cannot contain
// them.
func noteOnSource(env Env, r *traceview.Reader) {
	for _, n := range r.Notes {
		env.say("note: %s: %s", r.Name, n)
	}
}
