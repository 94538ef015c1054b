package queueing

import (
	"math"
	"testing"
)

// TestSavedAgainstSimulation simulates services request by request, gives the model what a
// recording would show, and compares its prediction with the simulation of the service whose lock
// is held for less time.
func TestSavedAgainstSimulation(t *testing.T) {
	cases := map[string]simulated{
		"sleep under the lock":             {clients: 16, outside: 0.1e-3, under: 1e-3, think: 0.1e-3, cores: 2},
		"sleep, fixed length":              {clients: 16, outside: 0.1e-3, under: 1e-3, think: 0.1e-3, cores: 2, fixed: true},
		"half of the work under the lock":  {clients: 16, outside: 0.5e-3, locked: 0.5e-3, think: 0.2e-3, cores: 4},
		"all work under the lock":          {clients: 32, outside: 0.05e-3, locked: 0.5e-3, cores: 2},
		"all work under it, one processor": {clients: 8, locked: 0.5e-3, outside: 0.1e-3, cores: 1},
		"few clients":                      {clients: 2, outside: 0.2e-3, under: 0.5e-3, think: 0.5e-3, cores: 4},
		"hardly contended":                 {clients: 8, outside: 0.5e-3, under: 0.05e-3, think: 2e-3, cores: 8},
		"behind it a delay":                {clients: 64, outside: 0.05e-3, under: 0.3e-3, think: 10e-3, cores: 4},
		"a rate":                           {rate: 700, outside: 0.1e-3, under: 1e-3, cores: 2},
		"a low rate":                       {rate: 300, outside: 0.1e-3, under: 1e-3, cores: 2},
		"a rate of work under the lock":    {rate: 1500, outside: 0.1e-3, locked: 0.5e-3, cores: 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now := c.run()
			for _, keep := range []float64{0, 0.1, 0.5} {
				shorter := c
				shorter.under, shorter.locked = c.under*keep, c.locked*keep
				shorter.outside += c.locked * (1 - keep)
				shorter.think += c.under * (1 - keep)
				if c.rate > 0 { // the work still waits, but its client waits for it
					shorter.think = 0
					shorter.besides = c.under * (1 - keep)
				}
				after := shorter.run()
				truth := 1 - after.response/now.response
				got := c.service(now).Saved(keep)
				t.Logf("held %g times as long: %.3f ms -> %.3f ms saves %.3f, foretold %.3f", keep, 1e3*now.response, 1e3*after.response, truth, got)
				if math.Abs(got-truth) > 0.1 {
					t.Errorf("held %g times as long saves %.3f, foretold %.3f", keep, truth, got)
				}
			}
		})
	}
}

// TestSavedIsBounded: nothing is saved where nobody waits; at a rate, at most the whole wait; in a
// closed loop, what the processors allow.
func TestSavedIsBounded(t *testing.T) {
	loop := Service{Clients: 16, Rate: 1000, Response: 16e-3, Wait: 14e-3, CPU: 1e-3, Cores: 2}
	if got := loop.Saved(0); math.Abs(got-0.5) > 0.01 { // 16 requests of 1 ms on two processors take 8 ms
		t.Errorf("behind the lock the processors: saves %.3f", got)
	}
	last := 1.0
	for i := range 21 {
		keep := float64(i) / 20
		got := loop.Saved(keep)
		if got > last+1e-9 || got < 0 {
			t.Errorf("held %.2f times as long saves %.3f, a little less %.3f", keep, got, last)
		}
		last = got
	}
	if last > 0.02 {
		t.Errorf("held as long as before saves %.3f", last)
	}
	rate := Service{Rate: 500, Response: 3e-3, Wait: 1e-3, CPU: 1e-4, Cores: 4}
	if got := rate.Saved(0); got > 1.0/3 || got < 0.32 {
		t.Errorf("at a rate a third is waiting: saves %.3f", got)
	}
	if got := rate.Less(0.5); math.Abs(got-1.0/6) > 1e-9 {
		t.Errorf("at a rate half of a third: %.3f", got)
	}
	for _, s := range []Service{{}, {Clients: 8, Rate: 100, Response: 0.08}, {Rate: 100, Wait: 1}} {
		if s.Saved(0) != 0 || s.Less(1) != 0 {
			t.Errorf("%+v saves %g, %g", s, s.Saved(0), s.Less(1))
		}
	}
	if got := loop.Less(1); math.Abs(got-0.5) > 0.02 {
		t.Errorf("no wait at all: saves %.3f", got)
	}
}
