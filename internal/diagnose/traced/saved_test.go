package traced

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// loaded is a recording of a service under load on a machine with two cores.
func loaded(connections int, rate, throughput, cpu, generator, machine float64) *rule.Pass {
	table := &site.Table{Buckets: []site.Bucket{{Name: site.BucketScheduler, Seconds: 0.1}}}
	table.Totals.TotalSeconds = 1
	return &rule.Pass{Table: table, Manifest: &recording.Manifest{
		Machine: recording.Machine{Cores: 2},
		Runtime: recording.Runtime{GOMAXPROCS: 2},
		Load:    &recording.Load{Targets: []string{"GET http://127.0.0.1:8080/"}, Connections: connections, Rate: rate},
		Phases: []recording.Phase{{
			Name: recording.PhaseClean, Seconds: 10, Requests: int64(10 * throughput),
			CPUSeconds: 10 * cpu, GeneratorCPUSeconds: 10 * generator, MachineCPUSeconds: 10 * machine,
			Service: &recording.Quantiles{P50: 3e-3},
		}},
	}}
}

// TestUnlocked compares promises with services whose lock was removed.
func TestUnlocked(t *testing.T) {
	some := rule.Fraction{Expect: 0.9, Low: 0.5, High: 1}.Interval()
	exactly := func(x float64) stats.Interval { return stats.Interval{Value: x, Low: x, High: x} }
	for name, c := range map[string]struct {
		p           *rule.Pass
		waited      float64
		least, most float64 // the expected saving
		truth       float64
	}{
		// Without its lock it answered six times as many requests, in 1.73 ms.
		"sleeps under the lock": {loaded(16, 0, 1390, 0.23, 0.08, 0.35), 0.93, 0.75, 0.9, 0.85},
		// 574 requests per second became 6996, while other processes used 1.8 cores.
		"sleeps, on a busy machine": {loaded(16, 0, 574, 0.13, 0.033, 2), 0.93, 0.6, 0.93, 0.91},
		"computes under the lock":   {loaded(16, 0, 4000, 1.0, 0.2, 1.25), 0.9, 0.3, 0.45, 0.4},
		// 10.6 ms became 1.5 ms: the CPU time of a request decreased from 396 µs to 68 µs.
		"sleeps, alone": {loaded(8, 0, 745, 0.30, 0.12, 0.45), 0.865, 0.7, 0.86, 0.859},
		// The processors are the limit: nothing can be saved.
		"all processors busy": {loaded(16, 0, 6000, 1.7, 0.28, 2), 0.5, 0, 0.05, 0.01},
		"at a rate":           {loaded(64, 600, 600, 0.1, 0.05, 0.2), 0.5, 0.4, 0.5, 0.48},
	} {
		i, ok := Unlocked(c.p, exactly(c.waited), some)
		if !ok || i.Value < c.least || i.Value > c.most || i.Low > c.truth || i.High < c.truth || i.Low > i.Value || i.High < i.Value {
			t.Errorf("%s: saves %.3f (%.3f to %.3f), want %.2f to %.2f and %.2f held", name, i.Value, i.Low, i.High, c.least, c.most, c.truth)
		}
	}
	for name, p := range map[string]*rule.Pass{
		"no manifest": {}, "no load": {Manifest: &recording.Manifest{}}, "no requests": loaded(16, 0, 0, 1, 1, 2), "no CPU": loaded(16, 0, 100, 0, 0, 0),
	} {
		if i, ok := Unlocked(p, exactly(0.9), some); ok {
			t.Errorf("%s: %v", name, i)
		}
	}
}

// TestOverloadedRate: a service that does not keep up with its rate has as many requests under way
// as wait for it.
func TestOverloadedRate(t *testing.T) {
	p := loaded(64, 600, 450, 0.1, 0.05, 0.2)
	p.Manifest.Phases[0].Service.P50 = 0.5
	if s := ServiceOf(p); s.Clients != 225 || s.Response != 0.5 {
		t.Errorf("%+v", s)
	}
	if s := ServiceOf(loaded(64, 600, 599, 0.1, 0.05, 0.2)); s.Clients != 0 || s.Response != 3e-3 {
		t.Errorf("%+v", s)
	}
}

// TestRemoteLoad: a generator on another machine uses none of the program's processors.
func TestRemoteLoad(t *testing.T) {
	p := loaded(16, 0, 1000, 0.5, 0.5, 0.5)
	near := ServiceOf(p).CPU
	p.Manifest.Load.Targets = []string{"GET http://192.0.2.1/"}
	if far := ServiceOf(p).CPU; near != 1e-3 || far != 0.5e-3 {
		t.Errorf("%g and %g CPU seconds a request", near, far)
	}
}
