package load

import "time"

// fine is the wait below which the operating system's most precise sleep is used, which cannot be
// interrupted. Longer waits use a Go timer, which may be a millisecond late on Linux.
const fine = 2 * time.Millisecond

// sleeper waits for points in time as precisely as the system allows.
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

// until waits for the time t on the clock. It returns false if stopped.
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
