package capture

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/gogc"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	interleave "github.com/hone-go/hone/internal/trial"
)

// A trial has this many turns; each setting gets half of them.
const (
	leastTurns = 8
	mostTurns  = 20
)

// turnLength is the length of a turn of a trial. Before it the program runs with the setting for
// settleLength, in which a heap that has become too large is collected.
func (w world) turnLength() time.Duration   { return w.tick / 2 }
func (w world) settleLength() time.Duration { return w.tick / 10 }

// tries reports whether a setting may be tried: in a service that hone started and loads.
func (s *service) tries() bool {
	return s.gen != nil && s.o.URL == "" && slices.Contains(s.o.Phases, recording.PhaseGOGC)
}

// trial tries a larger GOGC when the collector takes much CPU and memory is idle. What that saves
// can be predicted only in part, because a program that is collected less also runs faster in
// between. The service runs with its own setting and with the other one interleaved, in the order
// of package trial, under the same load. The trial comes last, so that no other phase is affected
// by it. before holds the program's metrics at the start of the recording.
func (s *service) trial(ctx context.Context, before target.Metrics) error {
	select {
	case <-s.gen.Done(): // the load was more than the service could answer: see rest
		return nil
	default:
	}
	s.phase = recording.PhaseGOGC
	now := s.pollMetrics(ctx, s.prog)
	m := s.out.Manifest()
	next := larger(&m, before, now, s.kept(recording.PhaseClean).phase)
	if next == 0 {
		return nil
	}
	began := time.Now()
	turns := s.turns()
	length := time.Duration(turns) * (s.world.turnLength() + s.world.settleLength())
	s.say(Event{Phase: s.phase, Text: fmt.Sprintf("alternately %d and %d", m.Runtime.GOGC, next), Of: length})
	trial, err := s.tryGOGC(ctx, next, turns)
	if err != nil {
		if end := s.ended(ctx, s.prog, s.gen); end != nil {
			return end
		}
		s.note("GOGC=%d could not be tried: %v", next, err)
		return nil
	}
	s.out.Update(func(m *recording.Manifest) { m.Trial = trial })
	s.say(Event{Phase: s.phase, Text: trialText(trial), At: since(began), Of: length, End: true})
	return s.checkpoint()
}

// turns returns how many turns fit into half of the recording's length, in whole blocks of four.
func (s *service) turns() int {
	fit := int(s.o.Duration / 2 / (s.world.turnLength() + s.world.settleLength()))
	return min(max(fit, leastTurns), mostTurns) / 4 * 4
}

// larger returns the GOGC to try; 0 for none. Clean is the clean phase.
func larger(m *recording.Manifest, before, now target.Metrics, clean recording.Phase) int {
	grown := func(name string) float64 { return now[name].Value - before[name].Value }
	idle := grown(recording.MetricCPUGCIdle) // marking on CPUs that would have been idle
	busy := grown(recording.MetricCPU) - grown(recording.MetricCPUIdle) - idle
	if now == nil || clean.Seconds <= 0 || grown(recording.MetricCPUGC)-idle < gogc.LeastShare*busy {
		return 0
	}
	if gogc.Tiny(m.Runtime.GOGC, now[recording.MetricGoal].Value, float64(clean.GCCycles)/clean.Seconds) {
		return 0 // another setting helps there
	}
	h := gogc.Heap{
		GOGC: m.Runtime.GOGC,
		Live: now[recording.MetricLive].Value,
		Used: m.Held(now[recording.MetricTotal].Value, now[recording.MetricReleased].Value),
	}
	h.Memory, _ = m.Memory()
	return h.Larger()
}

// tryGOGC runs the turns, and restores the program's own setting whatever happens.
func (s *service) tryGOGC(ctx context.Context, next, turns int) (*recording.Trial, error) {
	own, _, err := s.prog.SetGC(ctx, &next, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		ctx, cancel := after(ctx)
		defer cancel()
		if _, _, err := s.prog.SetGC(ctx, &own, nil); err != nil && s.ended(ctx, s.prog, nil) == nil {
			s.note("GOGC=%d could not be restored: %v", own, err)
		}
	}()
	if own < 0 || own >= next {
		return nil, fmt.Errorf("the program has set GOGC=%d itself meanwhile", own)
	}
	settings := [2]int{own, next}
	trial := &recording.Trial{GOGC: next}
	order := interleave.New(len(settings), uint64(time.Now().UnixNano()), interleave.Limits{Most: turns / len(settings)})
	err = order.Run(ctx, func(ctx context.Context, variant int) error {
		setting := settings[variant]
		if _, _, err := s.prog.SetGC(ctx, &setting, nil); err != nil {
			return err
		}
		turn, err := s.turn(ctx)
		if err != nil {
			return err
		}
		turn.GOGC = setting
		trial.Turns = append(trial.Turns, turn)
		return nil
	}, nil)
	if err != nil {
		return nil, err
	}
	return trial, nil
}

// turn measures one turn, after settling.
func (s *service) turn(ctx context.Context) (recording.Turn, error) {
	var t recording.Turn
	if _, err := s.wait(ctx, time.Now().Add(s.world.settleLength()), nil, nil); err != nil {
		return t, err
	}
	s.gen.Cut()
	from := s.read(ctx)
	if _, err := s.wait(ctx, from.at.Add(s.world.turnLength()), nil, nil); err != nil {
		return t, err
	}
	load := s.gen.Cut()
	to := s.read(ctx)
	if !from.hasUsage || !to.hasUsage {
		return t, fmt.Errorf("the program did not report its CPU time")
	}
	t.Seconds = to.at.Sub(from.at).Seconds()
	t.CPUSeconds = to.usage.CPUSeconds - from.usage.CPUSeconds
	t.GCCycles = from.grown(to, recording.MetricCycles)
	if t.Requests = load.Requests; t.Requests == 0 {
		return t, fmt.Errorf("no request was answered in %.1f s", t.Seconds)
	}
	return t, nil
}

// trialText summarizes a trial in a line.
func trialText(t *recording.Trial) string {
	saved := t.Saved()
	if !saved.Known() {
		return "cannot tell"
	}
	return fmt.Sprintf("%d saves %.1f %% of CPU per request (%.1f to %.1f)", t.GOGC, 100*saved.Value, 100*saved.Low, 100*saved.High)
}
