package capture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// watch waits until a program exits, or until enough returns true, which is asked at growing
// intervals. Meanwhile it logs the program's metrics.
func (r *recorder) watch(ctx context.Context, proc process, enough func(context.Context, process) bool) (stopped bool, err error) {
	deadline := time.NewTimer(r.o.Timeout)
	defer deadline.Stop()
	metrics := time.NewTicker(r.world.tick)
	defer metrics.Stop()
	pause := r.world.listenAt
	ask := time.NewTimer(pause)
	defer ask.Stop()
	for {
		select {
		case <-proc.Done():
			if ctx.Err() != nil {
				return false, r.interrupted(ctx)
			}
			return false, nil
		case <-ctx.Done():
			return false, r.interrupted(ctx)
		case <-deadline.C:
			return false, &endError{what: fmt.Sprintf("the program did not exit within %s in phase %s", r.o.Timeout, r.phase)}
		case <-metrics.C:
			r.pollMetrics(ctx, proc)
		case <-ask.C:
			if enough != nil && enough(ctx, proc) {
				return true, nil
			}
			pause = min(2*pause, 30*time.Second)
			ask.Reset(pause)
		}
	}
}

// isService reports whether a goroutine of the program waits in Accept. Asking lists
// the program's goroutines.
func (r *recorder) isService(ctx context.Context, proc process) bool {
	info, err := proc.Info(ctx)
	return err == nil && info.Listening
}

// pollMetrics logs a program's current metrics; a program that exits meanwhile has none.
func (r *recorder) pollMetrics(ctx context.Context, p target.Program) target.Metrics {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	at := time.Now()
	m, err := p.Metrics(ctx)
	if err != nil {
		var gone *target.Missing
		if errors.As(err, &gone) {
			r.missing(recording.PartMetrics, err)
		}
		return nil
	}
	r.logMetrics(at, m)
	return m
}
