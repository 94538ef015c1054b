package diagnose

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// locking is a service whose requests wait that many milliseconds in 5 s of 8 connections: 40 s.
func locking(throughput int64, cores float64, ms int64) (*rule.Pass, rule.Rule) {
	p := pass()
	for i := range p.Manifest.Phases {
		ph := &p.Manifest.Phases[i]
		ph.Seconds, ph.Requests = 5, 5*throughput
		ph.CPUSeconds, ph.GeneratorCPUSeconds = 4*cores, cores
		ph.MachineCPUSeconds = 5 * cores
	}
	r := finds("lock", rule.Match{Site: at("main.locked", "f.go", 1), Mutex: []*site.Row{row(1000, ms*1e6, "sync.(*Mutex).Unlock", "main.locked")}})
	r.Kind = rule.Lock
	r = claiming(r, func(c *rule.Claim) { c.Fraction = rule.Fraction{Expect: 0.9, Low: 0.5, High: 1} })
	return p, r
}

// TestLockIsPricedByItsQueue: seven requests queue for a section that takes all of a request's
// time. Half the section is half the queue, whatever share of the waiting the rule says that its
// fix saves.
func TestLockIsPricedByItsQueue(t *testing.T) {
	p, r := locking(1000, 0.2, 34_000) // 8 ms per request, of which 6.8 ms waiting
	report := diagnose(t, p, r)
	if len(report.Findings) != 1 {
		t.Fatal("not found", report.Hidden)
	}
	s := report.Findings[0].Saving
	if s.Resource != limitLatency || s.Share < 0.75 || s.Share > 0.85 || s.Low < 0.4 || s.Low > 0.55 || s.High < 0.85 {
		t.Errorf("%+v", s)
	}
}

// TestLockBeforeFullProcessors: if the processors are fully used, no request is faster without the
// lock.
func TestLockBeforeFullProcessors(t *testing.T) {
	p, r := locking(10_000, 2, 20_000)
	if report := diagnose(t, p, r); len(report.Findings) != 0 || report.Hidden.BelowFloor != 1 {
		t.Errorf("%+v", report.Findings)
	}
}

// TestLockRanksBesideCPU: other processes fill the machine, so the limit is CPU. What a lock saves
// of latency is saved anyway, because the model includes the CPU that is available.
func TestLockRanksBesideCPU(t *testing.T) {
	p, lock := locking(1000, 0.4, 34_000)
	for i := range p.Manifest.Phases {
		p.Manifest.Phases[i].MachineCPUSeconds = 10
	}
	work := finds("work", rule.Match{Site: at("main.work", "f.go", 9), CPU: []*site.Row{cpu(200, "x", "main.work")}})
	report := diagnose(t, p, work, lock)
	if report.Resources.Limiting != limitCPU {
		t.Fatal(report.Resources.Limiting, report.Resources.LimitingWhy)
	}
	if got := order(report); got != "lock@main.locked work@main.work" {
		t.Error(got)
	}
}

// TestRateKeepsItsRequests: at a fixed rate only waiting can be saved.
func TestRateKeepsItsRequests(t *testing.T) {
	p, r := locking(1000, 0.2, 5_000)
	p.Manifest.Load.Rate = 1000
	for i := range p.Manifest.Phases {
		p.Manifest.Phases[i].Service = &recording.Quantiles{P50: 2e-3} // 10 s in all
	}
	report := diagnose(t, p, r)
	if len(report.Findings) != 1 {
		t.Fatal("not found")
	}
	if s := report.Findings[0].Saving; s.Share < 0.4 || s.High > 0.56 {
		t.Errorf("%+v", s)
	}
}

// TestTimeOf: savings of programs without requests are not said to be of latency.
func TestTimeOf(t *testing.T) {
	for want, m := range map[string]recording.Manifest{
		"the time of a run":        {Target: recording.Target{Kind: "program"}},
		"the time of an operation": {Target: recording.Target{Kind: "bench", Bench: "."}},
		"":                         {Target: recording.Target{Kind: "url"}},
	} {
		e := &engine{manifest: m}
		if got := e.timeOf(&saving{resource: limitLatency}); got != want {
			t.Errorf("%+v: %q, want %q", m.Target, got, want)
		}
		if got := e.timeOf(&saving{resource: limitCPU}); got != "" {
			t.Errorf("CPU: %q", got)
		}
	}
}
