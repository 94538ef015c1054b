package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
)

// busy sets how many cores the program used.
func busy(p *rule.Pass, cores float64) {
	for i := range p.Manifest.Phases {
		p.Manifest.Phases[i].CPUSeconds = cores * p.Manifest.Phases[i].Seconds
	}
}

// machine sets how many cores the program used, and how many all processes together.
func machine(p *rule.Pass, cores, all float64) {
	busy(p, cores)
	for i := range p.Manifest.Phases {
		p.Manifest.Phases[i].MachineCPUSeconds = all * p.Manifest.Phases[i].Seconds
	}
}

// children makes it a program that exits, and sets how many cores it and its children used.
func children(p *rule.Pass, cores, theirs float64) {
	busy(p, cores)
	p.Manifest.Target.Kind, p.Manifest.Load = "program", nil
	for i := range p.Manifest.Phases {
		p.Manifest.Phases[i].ChildCPUSeconds = theirs * p.Manifest.Phases[i].Seconds
	}
}

// traceOf returns a trace with that many requests, whose time has the given parts.
func traceOf(n int64, parts ...requests.PartTime) *analysis.Results {
	all := &requests.Route{Count: n, Parts: parts}
	for _, p := range parts {
		all.Time += p.Time
	}
	return &analysis.Results{Requests: &requests.Result{Count: n, All: all}}
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*rule.Pass)
		want   string
		why    string
	}{
		{"saturated", func(p *rule.Pass) {}, limitCPU, "1.7 of 2 usable cores busy"},
		{"a quota below GOMAXPROCS", func(p *rule.Pass) {
			p.Manifest.Machine.CgroupCPUs = 1
			busy(p, 0.9)
		}, limitCPU, "0.9 of 1 usable cores busy"},
		{"closed loop beside the generator", func(p *rule.Pass) { busy(p, 1.2) }, limitCPU, "load generator"},
		{"the same from elsewhere", func(p *rule.Pass) {
			busy(p, 1.2)
			p.Manifest.Load.Targets = []string{"GET http://10.1.2.3/"}
		}, limitLatency, "wait for something other than CPU"},
		{"requests of which the trace says that they compute", func(p *rule.Pass) {
			busy(p, 1.2)
			p.Manifest.Load.Targets = []string{"GET http://10.1.2.3/"}
			p.Trace = traceOf(200, requests.PartTime{Part: requests.Running, Time: 20}, requests.PartTime{Part: requests.ReadyWoken, Time: 40}, requests.PartTime{Part: requests.WaitNetwork, Time: 40})
		}, limitCPU, "60 % of their time running"},
		{"the same at a rate with room", func(p *rule.Pass) {
			busy(p, 0.3)
			p.Manifest.Load.Rate = 1000
			p.Trace = traceOf(200, requests.PartTime{Part: requests.Running, Time: 60}, requests.PartTime{Part: requests.WaitNetwork, Time: 40})
		}, limitNone, "leaves room"},
		{"requests of which it says that they wait", func(p *rule.Pass) {
			busy(p, 1.2)
			p.Manifest.Load.Targets = []string{"GET http://10.1.2.3/"}
			p.Trace = traceOf(200, requests.PartTime{Part: requests.Running, Time: 40}, requests.PartTime{Part: requests.WaitNetwork, Time: 60})
		}, limitLatency, "60 % of their time asleep or waiting for the network"},
		{"requests that sleep on a machine that others keep busy", func(p *rule.Pass) {
			machine(p, 0.4, 2)
			p.Trace = traceOf(40, requests.PartTime{Part: requests.Running, Time: 10}, requests.PartTime{Part: requests.ReadyWoken, Time: 13}, requests.PartTime{Part: requests.WaitSleep, Time: 77})
		}, limitLatency, "0.4 of 2 usable cores busy; requests spend 77 % of their time asleep or waiting for the network"},
		{"requests that wait for a processor there", func(p *rule.Pass) {
			machine(p, 0.4, 2)
			p.Trace = traceOf(40, requests.PartTime{Part: requests.Running, Time: 20}, requests.PartTime{Part: requests.ReadyWoken, Time: 60}, requests.PartTime{Part: requests.WaitSleep, Time: 20})
		}, limitCPU, "the machine has 2 of 2 cores busy, 1.6 of them by other processes"},
		{"a program that uses little of a machine that others keep busy", func(p *rule.Pass) { machine(p, 0.1, 2) }, limitNone, "the machine has 2 of 2 cores busy, 1.9 of them by other processes; the program uses little"},
		{"the same without load", func(p *rule.Pass) {
			machine(p, 0.1, 2)
			p.Manifest.Load = nil
		}, limitNone, "the program uses little"},
		{"a generator that takes the machine", func(p *rule.Pass) {
			machine(p, 0.1, 1.9)
			for i := range p.Manifest.Phases {
				p.Manifest.Phases[i].GeneratorCPUSeconds = 1.7 * p.Manifest.Phases[i].Seconds
			}
		}, limitNone, "the program uses little"},
		{"one that waits for a processor there", func(p *rule.Pass) {
			machine(p, 0.1, 2)
			p.Trace = traceOf(40, requests.PartTime{Part: requests.ReadyWoken, Time: 80}, requests.PartTime{Part: requests.WaitSleep, Time: 20})
		}, limitCPU, "1.9 of them by other processes"},
		{"one that waits for a lock", func(p *rule.Pass) {
			machine(p, 0.1, 2)
			s := at("main.f", "f.go", 1)
			s.Cost.MutexSeconds = 30
			p.Table.Sites = append(p.Table.Sites, s)
		}, limitLatency, "75 % of their time waiting"},
		{"one that few connections keep hardly busy", func(p *rule.Pass) {
			busy(p, 0.1)
			p.Trace = traceOf(40, requests.PartTime{Part: requests.Running, Time: 80}, requests.PartTime{Part: requests.WaitSleep, Time: 20})
		}, limitNone, "connections leave room for more"},
		{"requests that wait for a lock there", func(p *rule.Pass) {
			machine(p, 0.4, 2)
			s := at("main.f", "f.go", 1)
			s.Cost.MutexSeconds = 30
			p.Table.Sites = append(p.Table.Sites, s)
		}, limitLatency, "75 % of their time waiting"},
		{"too few requests to say", func(p *rule.Pass) {
			busy(p, 1.2)
			p.Manifest.Load.Targets = []string{"GET http://10.1.2.3/"}
			p.Trace = traceOf(5, requests.PartTime{Part: requests.Running, Time: 100})
		}, limitLatency, "wait for something other than CPU"},
		{"hardly busy beside the generator", func(p *rule.Pass) { busy(p, 0.2) }, limitLatency, ""},
		{"requests wait for a lock", func(p *rule.Pass) {
			busy(p, 1.2)
			s := at("main.f", "f.go", 1)
			s.Cost.MutexSeconds = 30
			p.Table.Sites = append(p.Table.Sites, s)
		}, limitLatency, "75 % of their time waiting"},
		{"the same on a machine that program and generator fill", func(p *rule.Pass) {
			machine(p, 1.2, 1.7)
			for i := range p.Manifest.Phases {
				p.Manifest.Phases[i].GeneratorCPUSeconds = 0.5 * p.Manifest.Phases[i].Seconds
			}
			s := at("main.f", "f.go", 1)
			s.Cost.MutexSeconds = 30
			p.Table.Sites = append(p.Table.Sites, s)
		}, limitCPU, "the machine has 1.7 of 2 cores busy"},
		{"the same at a rate", func(p *rule.Pass) {
			busy(p, 1.2)
			p.Manifest.Load.Rate = 1000
		}, limitLatency, ""},
		{"no load", func(p *rule.Pass) {
			busy(p, 0.2)
			p.Manifest.Load = nil
		}, limitNone, "no load"},
		{"a computing program", func(p *rule.Pass) {
			p.Manifest.Target.Kind = "program"
			p.Manifest.Load = nil
			busy(p, 0.98)
		}, limitCPU, "computes all the time"},
		{"a waiting program", func(p *rule.Pass) {
			p.Manifest.Target.Kind = "program"
			p.Manifest.Load = nil
			busy(p, 0.2)
		}, limitNone, "the program waits"},
		{"near the memory limit", func(p *rule.Pass) {
			p.Manifest.Runtime.GOMEMLIMIT = 1 << 30
			p.Metrics = map[string]float64{"/memory/classes/total:bytes": 1 << 30, "/memory/classes/heap/released:bytes": 50 << 20}
		}, limitMemory, "GOMEMLIMIT is 1.0 GiB"},
		{"a program whose children take the machine", func(p *rule.Pass) { children(p, 0.2, 1.6) }, limitCPU, "0.2 cores busy on average, and 1.6 by processes that it started: all 2"},
		{"one that waits for them", func(p *rule.Pass) { children(p, 0.2, 0.8) }, limitNone, "waits for those"},
		{"one that has hardly any", func(p *rule.Pass) { children(p, 1.7, 0.05) }, limitCPU, "computes all the time"},
		{"no process CPU, but a profile", func(p *rule.Pass) {
			p.Manifest.Phases = p.Manifest.Phases[1:2]
			busy(p, 0)
			p.Manifest.Runtime.GOMAXPROCS, p.Manifest.Machine.Cores = 0, 0
		}, limitCPU, "1.7 cores busy"},
		{"nothing known", func(p *rule.Pass) { p.Manifest.Phases = nil }, limitNone, "not known"},
	} {
		p := pass()
		c.change(p)
		got, why := newEngine(p, price).limit()
		if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got, why, c.want, c.why)
		}
	}
}

// TestOneDecision: where requests spend their time is shown only if it also decides what limits
// them.
func TestOneDecision(t *testing.T) {
	for n, want := range map[int64]string{5: limitCPU, 50: limitLatency} {
		p := pass()
		machine(p, 1.2, 1.7)
		p.Trace = traceOf(n, requests.PartTime{Part: requests.WaitSleep, Time: 100})
		p.Trace.Requests.All.Places = []requests.PlaceTime{{Share: 1}}
		r := newEngine(p, price).resources()
		if r.Limiting != want || (len(r.RequestTime) > 0) != (want == limitLatency) || r.OtherCores != 0.5 {
			t.Errorf("%d requests that sleep: %s is the limit, shown %v, %v cores by others", n, r.Limiting, r.RequestTime, r.OtherCores)
		}
	}
}

func TestRequestTime(t *testing.T) {
	p := pass()
	if got := newEngine(p, price).requestSeconds; got != 40 {
		t.Errorf("8 connections for 5 s: %g", got)
	}
	p.Manifest.Load.Rate = 10_000
	if got := newEngine(p, price).requestSeconds; got != 0 {
		t.Errorf("without service times: %g", got)
	}
	p.Manifest.Phases[2].Service = &recording.Quantiles{P50: 0.001}
	if got := newEngine(p, price).requestSeconds; math.Abs(got-50) > 1e-9 {
		t.Errorf("50,000 requests of 1 ms: %g", got)
	}
}

func TestNotes(t *testing.T) {
	p := pass()
	m := p.Manifest
	m.Phases[0].Verdict = "generator-limited"
	m.Phases[2].Verdict = "generator-limited"
	m.Phases[0].Failed = 1000
	m.Phases[1].Throttled = 0.5
	m.Phases[1].CPUSeconds = 100
	m.Phases[1].Observer = &recording.Observer{ThroughputLoss: 0.2, ThroughputLow: 0.1, ThroughputHigh: 0.3}
	m.Phases[2].Observer = &recording.Observer{ThroughputLoss: 0.2, ThroughputLow: -0.1, ThroughputHigh: 0.5}
	m.Phases = append(m.Phases, recording.Phase{Name: recording.PhaseRest, Observer: &recording.Observer{ThroughputLoss: -0.5, ThroughputLow: -0.6, ThroughputHigh: -0.4}})
	m.Missing = []recording.Missing{
		{Part: recording.PartMutex, Why: "its rate is 0", How: "call runtime.SetMutexProfileFraction"},
		{Part: recording.PartTrace, Why: "not asked for"},
	}
	p.Table.Notes = []string{"2 % of CPU has no owner"}
	r := diagnose(t, p)
	for _, want := range []string{
		"phases clean and contention: the load generator was the bottleneck; the program could have served more",
		"phase clean: 2.0 % of the requests failed",
		"phase cpu: the CPU quota throttled the program for 500 ms of 6 s; latencies reflect CPU throttling, CPU shares still hold",
		"phase rest: throughput was 50 % higher than in the clean phase: the machine was not idle, so figures per second and latencies are uncertain",
		"phase cpu: high overhead of the phase (throughput −20 %, CPU per request +0 %)",
		"nothing is known about lock waits: no mutex.pprof (its rate is 0); call runtime.SetMutexProfileFraction",
		"the syntax of the program is not available: rules that read it were skipped",
		"2 % of CPU has no owner",
	} {
		if !slices.Contains(r.Notes, want) {
			t.Errorf("no note %q", want)
		}
	}
	if !slices.ContainsFunc(r.Notes, func(n string) bool {
		return strings.HasPrefix(n, "phase cpu: the profile holds ") && strings.Contains(n, " of the 100 s of CPU time")
	}) {
		t.Error("no note of the CPU time that the profile lacks")
	}
	for _, n := range r.Notes {
		if strings.HasPrefix(n, "phase contention") || strings.Contains(n, "trace.out") {
			t.Errorf("wrong note %q", n)
		}
	}
	if t.Failed() {
		t.Logf("%q", r.Notes)
	}
}

// TestUnsampled: if a profile lacks much, the report says why, as far as that is known.
func TestUnsampled(t *testing.T) {
	for _, c := range []struct {
		runs int
		cpu  float64
		want string
	}{
		{0, 100, "The kernel samples at its ticks"},
		{40, 4, "A run takes 100 ms. The profile misses"},
		{4, 4, "The kernel samples at its ticks"},
	} {
		if got := unsampled(recording.Phase{Runs: c.runs, CPUSeconds: c.cpu}); !strings.HasPrefix(got, c.want) {
			t.Errorf("%d runs of %v s: %q, want %q", c.runs, c.cpu, got, c.want)
		}
	}
}

// TestChildren: CPU time of a program's children is reported if it is large, and not as that of
// other processes.
func TestChildren(t *testing.T) {
	for _, c := range []struct {
		cores, theirs float64
		want          string
	}{
		{0.2, 1.6, "child processes took 89 % of the total CPU time"},
		{1.5, 0.12, ""},
		{0.2, 0.05, ""},
	} {
		p := pass()
		children(p, c.cores, c.theirs)
		for i := range p.Manifest.Phases {
			p.Manifest.Phases[i].MachineCPUSeconds = (c.cores + c.theirs) * p.Manifest.Phases[i].Seconds
		}
		e := newEngine(p, price)
		if got := strings.Join(e.childNotes(), " "); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%v cores and %v: %q, want %q", c.cores, c.theirs, got, c.want)
		}
		if _, others, ok := e.machineBusy(); !ok || others > 1e-9 {
			t.Errorf("%v cores and %v: others have %v (%t)", c.cores, c.theirs, others, ok)
		}
	}
}

// TestRuns: the cost of a program that exits is reported per run, and only if all runs are known.
func TestRuns(t *testing.T) {
	p := pass()
	p.Manifest.Target.Kind = "program"
	p.Manifest.Load = nil
	clean := &p.Manifest.Phases[slices.IndexFunc(p.Manifest.Phases, func(ph recording.Phase) bool { return ph.Name == recording.PhaseClean })]
	clean.Runs, clean.Requests, clean.CPUSeconds = 3, 0, 6
	clean.Windows = []recording.Window{{Seconds: 1.5}, {Seconds: 1}, {Seconds: 1.25}}
	r := newEngine(p, price).resources()
	if want := (RunTime{3, 1.25, 1, 1.5}); r.Run == nil || *r.Run != want || r.CPUPerRequest != 2 {
		t.Errorf("runs %+v, CPU %v; want %+v and 2", r.Run, r.CPUPerRequest, want)
	}
	clean.Windows = clean.Windows[:2]
	if r := newEngine(p, price).resources(); r.Run != nil {
		t.Errorf("two of three runs are reported as %+v", r.Run)
	}
	clean.AllocBytes, clean.AllocObjects = 300, 30
	if r := newEngine(p, price).resources(); r.BytesPerRequest != 100 || r.ObjectsPerRequest != 10 {
		t.Errorf("%v bytes in %v objects a run, want 100 in 10", r.BytesPerRequest, r.ObjectsPerRequest)
	}
	p.Manifest.Target.Kind = "service"
	if r := newEngine(p, price).resources(); r.CPUPerRequest != 0 {
		t.Errorf("a service without requests has CPU per request: %v", r.CPUPerRequest)
	}
}
