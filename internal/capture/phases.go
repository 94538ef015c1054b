package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// Sampling rates of the contention phase, the same as in programs that exit. The block profile has
// all waits of 10 µs and more, and shorter ones in proportion; the mutex profile has one in ten
// contended mutexes. The runtime scales both up.
const (
	blockRate     = target.CollectBlockRate // nanoseconds
	mutexFraction = target.CollectMutexFraction
)

// addLoadParts writes the load results of the clean phase.
func (r *recorder) addLoadParts() error {
	loads := r.kept(recording.PhaseClean).loads
	if len(loads) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(sumResults(loads).Report(), "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", recording.PartLoad, err)
	}
	if err := r.add(recording.PartLoad, r.phase, append(text, '\n')); err != nil {
		return err
	}
	hdr, err := loadLog(loads)
	if err != nil {
		r.missing(recording.PartLoadHDR, err)
		return nil
	}
	return r.add(recording.PartLoadHDR, r.phase, hdr)
}

// cpuPhase takes the CPU profile between two allocation snapshots.
//
// The snapshots are heap profiles taken right after a forced collection. The runtime publishes
// allocations to the profile when a cycle ends, so without one the difference can lack everything
// since the last cycle (runtime/mprof.go). Both collections lie outside the time of the CPU
// profile.
func (s *service) cpuPhase(ctx context.Context, length time.Duration) (stretch, error) {
	var forced int64
	snapshot := func() ([]byte, error) {
		data, err := s.prog.Profile(ctx, "heap", 0, true)
		if err == nil {
			forced++
		}
		return data, s.only(ctx, recording.PartAllocs, err)
	}
	if s.o.URL != "" {
		// The stock endpoint takes whole seconds, and the figures have to cover the same time.
		length = (length + time.Second - 1).Truncate(time.Second)
	}
	before, err := snapshot()
	if err != nil {
		return stretch{}, err
	}
	taken := time.Now()

	var prof []byte
	st, stop := s.measure(ctx, length, func(ctx context.Context) (err error) {
		prof, err = s.prog.CPUProfile(ctx, length)
		return err
	})
	if refused := stop == nil && st.collect != nil && len(st.samples) == 0; refused {
		s.missing(recording.PartCPU, st.collect)
		if before == nil {
			return stretch{}, nil
		}
		// The allocation snapshots are still worth the time.
		st, stop = s.measure(ctx, length, nil)
		prof = nil
	}
	// A program that exited has delivered what it had.
	if st.collect == nil && len(prof) > 0 {
		if err := s.add(recording.PartCPU, s.phase, prof); err != nil {
			return st, err
		}
	} else if st.collect != nil && stop == nil {
		s.missing(recording.PartCPU, st.collect)
	}
	if stop != nil || before == nil {
		st.phase.ForcedGC = forced
		return st, stop
	}
	after, err := snapshot()
	st.phase.ForcedGC = forced
	if err != nil || after == nil {
		return st, err
	}
	delta, err := subtract(after, before, time.Since(taken), "alloc_space")
	if err != nil {
		s.missing(recording.PartAllocs, err)
		return st, nil
	}
	return st, s.add(recording.PartAllocs, s.phase, delta)
}

// cumulative is a profile that accumulates from the program's start.
type cumulative struct {
	name, part, call string // call switches it on
	before           []byte
	off              bool // it is empty, and its rate could not be raised
}

// contentionPhase takes what the block and mutex profiles gained, with their rates raised for this
// phase alone where that is possible.
func (s *service) contentionPhase(ctx context.Context, length time.Duration) (st stretch, err error) {
	profiles := []*cumulative{
		{name: "block", part: recording.PartBlock, call: fmt.Sprintf("runtime.SetBlockProfileRate(%d)", blockRate)},
		{name: "mutex", part: recording.PartMutex, call: fmt.Sprintf("runtime.SetMutexProfileFraction(%d)", mutexFraction)},
	}
	for _, p := range profiles {
		p.before, err = s.prog.Profile(ctx, p.name, 0, false)
		if err := s.only(ctx, p.part, err); err != nil {
			return st, err
		}
	}
	restore, notes, err := s.prog.SetRates(ctx, blockRate, mutexFraction)
	for _, n := range notes {
		s.note("%s", n)
	}
	if restore != nil {
		defer s.restore(ctx, restore)
	}
	if err != nil {
		if end := s.ended(ctx, s.prog, s.gen); end != nil {
			return st, end
		}
		s.onlyWhatIsOn(profiles)
	}
	if !anyLeft(profiles) {
		return st, nil // the time is better saved
	}
	st, stop := s.measure(ctx, length, nil)
	if stop != nil {
		return st, stop
	}
	// The rates are restored after the profiles are read: older runtimes scale a mutex profile by
	// the fraction at the time of reading.
	for _, p := range profiles {
		if err := s.addGrowth(ctx, p, st); err != nil {
			return st, err
		}
	}
	return st, nil
}

// onlyWhatIsOn drops the profiles that are empty and whose rates cannot be raised: nothing will
// come.
func (s *service) onlyWhatIsOn(profiles []*cumulative) {
	for _, p := range profiles {
		if p.before == nil {
			continue
		}
		if empty, err := isEmpty(p.before); err == nil && empty {
			p.off = true
			s.missing(p.part, &target.Missing{
				Why: "the program's " + p.name + " profile is empty: its rate is 0, or nothing has waited yet",
				How: "call " + p.call + " in the program",
			})
		}
	}
}

func anyLeft(profiles []*cumulative) bool {
	for _, p := range profiles {
		if p.before != nil && !p.off {
			return true
		}
	}
	return false
}

// addGrowth writes what a cumulative profile gained during the phase.
func (s *service) addGrowth(ctx context.Context, p *cumulative, st stretch) error {
	if p.before == nil || p.off {
		return nil
	}
	after, err := s.prog.Profile(ctx, p.name, 0, false)
	if err != nil {
		return s.only(ctx, p.part, err)
	}
	length := time.Duration(st.phase.Seconds * float64(time.Second))
	delta, err := subtract(after, p.before, length, "")
	if err != nil {
		s.missing(p.part, err)
		return nil
	}
	return s.add(p.part, s.phase, delta)
}

// restore resets the rates, also when ctx has ended.
func (s *service) restore(ctx context.Context, restore func(context.Context) error) {
	ctx, cancel := after(ctx)
	defer cancel()
	if err := restore(ctx); err != nil && !errors.Is(err, target.ErrEnded) {
		s.note("block and mutex rates could not be restored: %v", err)
	}
}

// tracePhase takes the execution trace.
func (s *service) tracePhase(ctx context.Context, length time.Duration) (stretch, error) {
	var b bytes.Buffer
	truncated := false
	st, stop := s.measure(ctx, length, func(ctx context.Context) (err error) {
		truncated, err = s.prog.Trace(ctx, &b, length, maxTraceBytes)
		return err
	})
	if st.collect == errStuck {
		return st, stop // the buffer may still be written to
	}
	if b.Len() == 0 {
		if stop == nil && st.collect != nil {
			s.missing(recording.PartTrace, st.collect)
			return stretch{}, nil
		}
		return st, stop
	}
	switch {
	case truncated:
		s.note("%s ends after %.1f s: it reached %d MB", recording.PartTrace, st.phase.Seconds, maxTraceBytes>>20)
	case st.collect != nil:
		s.note("%s is cut off: %v", recording.PartTrace, st.collect)
	}
	if err := s.add(recording.PartTrace, s.phase, b.Bytes()); err != nil {
		return st, err
	}
	return st, stop
}

// leaksHow says how to get the profile of leaked goroutines, an experiment of Go
// 1.26 (golang/go#74609).
const leaksHow = "build the program with GOEXPERIMENT=goroutineleakprofile, Go 1.26 or newer"

// rest takes the profiles of the current state, under load. A service that is asked for more than
// it can do falls behind further and further. When it does not answer in time, the load is ended;
// what it has not answered a while later is reported as missing.
func (s *service) rest(ctx context.Context) error {
	s.phase = recording.PhaseRest
	began := time.Now()
	s.say(Event{Phase: s.phase, Text: "heap, goroutines, threads, leaks"})
	limited, cancel := context.WithTimeout(ctx, s.world.patience+s.world.restLimit)
	defer cancel()
	if s.gen != nil {
		relief := time.AfterFunc(s.world.patience, func() { s.gen.Stop() })
		defer func() {
			if !relief.Stop() {
				s.note("the load was stopped before all profiles of phase %s arrived: the service did not answer under load", recording.PhaseRest)
			}
		}()
	}
	p := recording.Phase{Name: s.phase, Start: began.UTC()}
	n := 0
	for _, part := range []struct {
		part, profile string
		debug         int
		gc            bool
	}{
		{recording.PartHeap, "heap", 0, true},
		{recording.PartGoroutine, "goroutine", 0, false},
		{recording.PartGoroutineTxt, "goroutine", 2, false},
		{recording.PartThreads, "threadcreate", 0, false},
		{recording.PartLeaks, "goroutineleak", 0, false},
	} {
		data, err := s.prog.Profile(limited, part.profile, part.debug, part.gc)
		if err != nil {
			if end := s.noRest(ctx, limited, part.part, err); end != nil {
				return end
			}
			continue
		}
		if part.gc || part.part == recording.PartLeaks { // looking for leaks collects too
			p.ForcedGC++
		}
		n++
		if err := s.add(part.part, s.phase, data); err != nil {
			return err
		}
	}
	p.Seconds = time.Since(began).Seconds()
	s.keep(stretch{phase: p})
	s.say(Event{Phase: s.phase, Text: fmt.Sprintf("%d profiles", n), At: since(began), End: true})
	return nil
}

// noRest notes why a part of rest is missing, or returns what ends the recording.
func (s *service) noRest(ctx, limited context.Context, part string, err error) error {
	var gone *target.Missing
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		err = &target.Missing{What: part, Why: fmt.Sprintf("the service did not answer within %s", s.world.patience+s.world.restLimit),
			How: "it is overloaded: send fewer requests (-rate)"}
	case part == recording.PartLeaks && errors.As(err, &gone):
		if s.o.URL == "" && slices.Contains(s.o.Phases, recording.PhaseLeaks) {
			return s.ended(ctx, s.prog, nil) // phase leaks takes it, or says why not
		}
		err = &target.Missing{What: gone.What, Why: gone.Why, How: leaksHow}
	}
	if end := s.ended(ctx, s.prog, nil); end != nil { // does not ask the load, which may have been ended here
		return end
	}
	s.missing(part, err)
	return nil
}
