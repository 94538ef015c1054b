package capture

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// trialLab is a lab whose program spends much on collection, on a machine with free memory.
func trialLab(t *testing.T) *lab {
	l := newLab(t)
	l.prog.collects = true
	return l
}

func TestTrial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := trialLab(t)
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := l.open().Manifest
		if m.Trial == nil {
			t.Fatalf("no trial; notes %q", m.Notes)
		}
		var order []int
		for _, turn := range m.Trial.Turns {
			order = append(order, turn.GOGC)
			if turn.Requests == 0 || turn.CPUSeconds <= 0 || turn.Seconds < l.world.turnLength().Seconds() {
				t.Errorf("turn %+v", turn)
			}
		}
		if len(order) < leastTurns || len(order)%4 != 0 {
			t.Errorf("turns of %d", order)
		}
		for block := range slices.Chunk(order, 4) { // ABBA or BAAB
			if len(block) == 4 && (block[0] != block[3] || block[1] != block[2] || block[0] == block[1]) {
				t.Errorf("turns of %d", order)
			}
		}
		// Three quarters of a third: the clock and the load are fake, and exact.
		if saved := m.Trial.Saved(); m.Trial.GOGC != 400 || math.Abs(saved.Value-0.25) > 0.01 {
			t.Errorf("GOGC=%d saved %v, want 0.25", m.Trial.GOGC, saved)
		}
		if l.prog.gogc != 100 {
			t.Errorf("left with GOGC=%d", l.prog.gogc)
		}
		last := l.events[len(l.events)-1]
		if last.Phase != recording.PhaseGOGC || !last.End || !strings.HasPrefix(last.Text, "400 saves ") {
			t.Errorf("the last event is %+v", last)
		}
	})
}

func TestNoTrial(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*lab){
		"not asked for":      func(l *lab) { l.o.Phases = []string{"cpu"} },
		"little collection":  func(l *lab) { l.prog.collects = false },
		"no way to set it":   func(l *lab) { l.prog.refuse["gc"] = &target.Missing{What: "GC settings", Why: "no probe"} },
		"set by the program": func(l *lab) { l.prog.gogc = 800 },
		"no CPU time":        func(l *lab) { l.prog.refuse["usage"] = errors.New("no such file") },
		"the load had to end": func(l *lab) {
			l.world.patience, l.world.restLimit = 20*time.Millisecond, 60*time.Millisecond
			l.prog.hangs = "threadcreate"
		},
		"no request is answered": func(l *lab) { l.gen.cut = func() { l.gen.rate *= 0.5 } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := trialLab(t)
				change(l)
				before := l.prog.gogc
				partial, err := l.record(t.Context())
				if err != nil || partial {
					t.Fatal(partial, err)
				}
				if m := l.open().Manifest; m.Trial != nil {
					t.Errorf("%+v", m.Trial)
				}
				if own := l.prog.gogcs; len(own) > 0 && own[len(own)-1] != before {
					t.Errorf("set to %d, had %d", own, before)
				}
			})
		})
	}
}

// TestTrialCutShort: whatever interrupts the recording, the rest is kept and the setting restored.
func TestTrialCutShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := trialLab(t)
		n := 0
		l.prog.called = func(call string) {
			if call == "gc" {
				if n++; n == 4 {
					l.gen.end()
				}
			}
		}
		partial, err := l.record(t.Context())
		if !partial || err == nil || !strings.Contains(err.Error(), "the load stopped in phase gogc") {
			t.Fatal(partial, err)
		}
		m := l.open().Manifest
		if m.Trial != nil || l.prog.gogc != 100 {
			t.Errorf("trial %+v, left with GOGC=%d", m.Trial, l.prog.gogc)
		}
		if !slices.ContainsFunc(m.Parts, func(p recording.Part) bool { return p.Name == recording.PartHeap }) {
			t.Errorf("parts %+v", m.Parts)
		}
	})
}

func TestTurnsFitTheRecording(t *testing.T) {
	w := realWorld()
	for length, want := range map[time.Duration]int{time.Second: leastTurns, 20 * time.Second: 16, time.Hour: mostTurns} {
		s := &service{recorder: &recorder{o: Options{Duration: length}, world: w}}
		if got := s.turns(); got != want {
			t.Errorf("%s: %d turns, want %d", length, got, want)
		}
	}
}
