package capture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hone-go/hone/load"
)

// measure watches the program for length, in windows, while collect runs beside it. The figures
// cover exactly the time from the collector's start to length (or to the collector's end, when that
// comes first); fetching and encoding the result comes after. The error ends the recording. The
// collector's own error is in the result, which holds what was seen either way.
func (s *service) measure(ctx context.Context, length time.Duration, collect func(context.Context) error) (stretch, error) {
	n := windows(length, s.world.tick)
	cctx, cancel := context.WithCancel(ctx)
	defer cancel()

	var done chan error
	if s.gen != nil {
		s.gen.Cut() // what came before belongs to no window
	}
	first := s.read(ctx)
	last := first
	if collect != nil {
		done = make(chan error, 1)
		go func() { done <- collect(cctx) }()
	}
	var st stretch
	var stop error
	early := false
	window := length / time.Duration(n)
	for i := 1; i <= n && !early; i++ {
		due := first.at.Add(length * time.Duration(i) / time.Duration(n))
		early, stop = s.wait(ctx, due, done, &st.collect)
		if stop != nil && time.Since(last.at) < s.world.tick/20 {
			break // nothing to see in it
		}
		// A window that was cut short, or squeezed because reading the one before took
		// long, counts in the totals and tells nothing about the spread.
		last = s.addWindow(ctx, &st, last, !early && time.Since(last.at) > window/2)
		s.say(Event{Phase: s.phase, Text: s.describe(&st), At: since(first.at), Of: length,
			Window: &st.phase.Windows[len(st.phase.Windows)-1], HeapLive: int64(last.metrics["/gc/heap/live:bytes"].Value)})
		if stop == nil {
			if stop = s.hangs(); stop != nil {
				break
			}
		}
	}
	first.figures(&st.phase, last)
	st.phase.Name = s.phase
	st.addLoad()

	if done != nil && !early {
		// The collector is through about now; what is left is its result's way here.
		_, stop = s.wait(ctx, time.Now().Add(time.Minute), done, &st.collect)
		if stop == nil && st.collect == errPending {
			st.collect = errStuck
		}
	}
	if stop != nil && done != nil && st.collect == errPending {
		st.collect = drain(ctx, done, cancel)
	}
	return st, stop
}

// drain lets a collector finish with what it has.
func drain(ctx context.Context, done chan error, cancel func()) error {
	if ctx.Err() == nil {
		// The program exited: its last output may be on its way.
		select {
		case err := <-done:
			return err
		case <-time.After(3 * time.Second):
		}
	}
	cancel()
	select {
	case err := <-done:
		return err
	case <-time.After(stopLimit):
		return errStuck
	}
}

// States of a collector that has not finished: not yet, and not when it should have.
var (
	errPending = errors.New("the collector is not through")
	errStuck   = errors.New("its result did not arrive in time")
)

// wait waits until due. It returns early when the collector has finished, or with the error that
// ends the recording.
func (s *service) wait(ctx context.Context, due time.Time, done chan error, collect *error) (early bool, stop error) {
	t := time.NewTimer(time.Until(due))
	defer t.Stop()
	var loadDone <-chan struct{}
	if s.gen != nil {
		loadDone = s.gen.Done()
	}
	if done != nil {
		*collect = errPending
	}
	select {
	case <-t.C:
		return false, nil
	case err := <-done:
		*collect = err
		// The error of a collector that fails because the program died says only that it failed.
		return true, s.endedSoon(ctx, err)
	case <-ctx.Done():
	case <-s.prog.Done():
	case <-loadDone:
	}
	return true, s.ended(ctx, s.prog, s.gen)
}

// endedSoon waits a moment for the cause of a collector's failure to become known.
func (s *service) endedSoon(ctx context.Context, err error) error {
	if err == nil {
		return s.ended(ctx, s.prog, s.gen)
	}
	select {
	case <-s.prog.Done():
	case <-ctx.Done():
	case <-time.After(s.world.tick / 4):
	}
	return s.ended(ctx, s.prog, s.gen)
}

// addWindow closes the window that started at last; whole lets it count in the spread.
func (s *service) addWindow(ctx context.Context, st *stretch, last reading, whole bool) reading {
	var res *load.Result
	if s.gen != nil {
		res = s.gen.Cut()
		st.loads = append(st.loads, res)
		s.silence.window(res)
	}
	now := s.read(ctx)
	if !now.hasUsage && last.hasUsage {
		// The program is gone or hangs: keep what is known.
		now.usage, now.hasUsage = last.usage, true
	}
	if now.metrics == nil {
		now.metrics = last.metrics
	}
	w, sm := s.window(last, now, res)
	st.phase.Windows = append(st.phase.Windows, w)
	if whole {
		st.samples = append(st.samples, sm)
	}
	return now
}

// describe summarizes the last window in a few words.
func (s *service) describe(st *stretch) string {
	if n := len(st.loads); n > 0 {
		if text := s.silence.text(3 * s.world.tick); text != "" {
			return text
		}
		return loadText(st.loads[n-1])
	}
	w := st.phase.Windows[len(st.phase.Windows)-1]
	if w.Seconds <= 0 || s.noUsage {
		return ""
	}
	return fmt.Sprintf("%.2f CPUs", w.CPUSeconds/w.Seconds)
}
