package traceview

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/timeline"
)

// Window is what a timeline shows. The zero value is the whole trace.
type Window struct {
	From, To  time.Duration // from the trace's start; To 0 is its end
	Goroutine uint64        // 0 = all
	Request   int64         // 0 = none; else the window of this request and the goroutines of its path
}

// searched is the minimum number of the slowest requests that are kept when one is searched by its
// ID.
const searched = 1000

// mostGoroutines bounds the goroutines of a request's timeline.
const mostGoroutines = 50

// Timeline reads what happened in a window. title describes the window.
func (r *Reader) Timeline(ctx context.Context, w Window, slowest int) (result *timeline.Result, title string, err error) {
	opt, title := w.options()
	if w.Request != 0 {
		if opt, title, err = r.request(ctx, w.Request, max(slowest, searched)); err != nil {
			return nil, "", err
		}
	}
	fold := timeline.New(opt)
	if _, err := r.Read(ctx, fold); err != nil {
		return nil, "", err
	}
	res := fold.Result()
	if len(res.Goroutines) == 0 {
		return nil, "", fmt.Errorf("%s: nothing happened in %s", r.Name, title)
	}
	return res, title, nil
}

// options returns the options of a window that needs no reading of the trace.
func (w Window) options() (timeline.Options, string) {
	opt := timeline.Options{From: w.From.Nanoseconds(), To: w.To.Nanoseconds()}
	title := "the whole trace"
	switch {
	case w.To > 0:
		title = fmt.Sprintf("from %s to %s", w.From, w.To)
	case w.From > 0:
		title = fmt.Sprintf("from %s on", w.From)
	}
	if w.Goroutine != 0 {
		opt.Goroutines = []uint64{w.Goroutine}
		title = fmt.Sprintf("goroutine %d, %s", w.Goroutine, title)
	}
	return opt, title
}

// request finds the time of a request, with a margin, and the goroutines of its path.
func (r *Reader) request(ctx context.Context, id int64, slowest int) (timeline.Options, string, error) {
	find := requests.New(requests.Options{Slowest: slowest, Paths: true})
	if _, _, err := r.read(ctx, find); err != nil {
		return timeline.Options{}, "", fmt.Errorf("%s: %w", r.Name, err)
	}
	for _, q := range find.Result().Slowest {
		if q.ID != id {
			continue
		}
		margin := q.Latency / 20
		opt := timeline.Options{From: max(0, q.Begin-margin), To: q.Begin + q.Latency + margin, Goroutines: []uint64{q.Goroutine}}
		if q.Path != nil {
			for _, s := range q.Path.Segments {
				if !slices.Contains(opt.Goroutines, s.Goroutine) && len(opt.Goroutines) < mostGoroutines {
					opt.Goroutines = append(opt.Goroutines, s.Goroutine)
				}
			}
		}
		return opt, fmt.Sprintf("request %d of %s, %s", q.ID, q.Title(), requests.Duration(q.Latency)), nil
	}
	return timeline.Options{}, "", fmt.Errorf("request %d is not among the %d slowest of the trace; hone trace requests lists some", id, slowest)
}
