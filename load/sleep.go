package load

import "time"

// fine is from where on a wait is left to the operating system's most precise
// sleep, which cannot be interrupted; above, a timer of Go's will do, which on
// Linux may be a millisecond late.
const fine = 2 * time.Millisecond

// sleeper waits for points in time, as precisely as the machine can.
type sleeper struct {
	clock clock
	stop  <-chan struct{}
	timer *time.Timer
	undo  func()
}

func newSleeper(c clock, stop <-chan struct{}) *sleeper {
	return &sleeper{clock: c, stop: stop, timer: time.NewTimer(time.Hour), undo: precise()}
}

func (s *sleeper) close() {
	s.timer.Stop()
	s.undo()
}

// until waits for the time t on the clock; false when asked to stop.
func (s *sleeper) until(t int64) bool {
	for {
		select {
		case <-s.stop:
			return false
		default:
		}
		left := time.Duration(t - s.clock.now())
		switch {
		case left <= 0:
			return true
		case left <= fine:
			nap(left)
			continue
		}
		s.timer.Reset(left - fine)
		select {
		case <-s.timer.C:
		case <-s.stop:
			return false
		}
	}
}
