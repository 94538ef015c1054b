package traced

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// shortestTrace is the minimum length of a trace, in seconds, for counts per second.
const shortestTrace = 0.05

// Long reports whether there is a trace that is long enough.
func Long(p *rule.Pass) bool {
	return p.Trace != nil && p.Trace.Parallelism != nil && p.Trace.Blocking != nil && p.Trace.Parallelism.Length >= shortestTrace
}

// SiteAt returns the site of a line of the trace: that of the table, or one without rows when the
// profiles do not have the line. It is nil for lines outside of modules: of the standard library,
// of hone's probe, and unknown ones.
func SiteAt(p *rule.Pass, l exectrace.Line) *site.Site {
	if l.File == "" || l.OfProbe() {
		return nil
	}
	if p.Table != nil {
		for _, s := range p.Table.Sites {
			if s.Line == l.Line && s.File == l.File && Generic(s.Function) == Generic(l.Function) {
				return s
			}
		}
	}
	if p.Code == nil {
		return nil
	}
	owner := p.Code.Owner(l.Function, l.File)
	if owner.Kind != gocode.Main && owner.Kind != gocode.Dependency {
		return nil
	}
	return &site.Site{Frame: site.Frame{Function: l.Function, File: l.File, Line: l.Line, Owner: owner}}
}

// Generic returns the name of a function with dots for its type arguments, which profiles write
// out and traces do not.
func Generic(function string) string {
	from, to := strings.IndexByte(function, '['), strings.LastIndexByte(function, ']')
	if from < 0 || to < from {
		return function
	}
	return function[:from] + "[...]" + function[to+1:]
}

// sleepers returns the lines at which goroutines sleep most of the time, at most a given number.
func sleepers(g *wall.Goroutines, most int) (lines []exectrace.Line) {
	for i := range g.Groups {
		for _, s := range g.Groups[i].Stacks {
			if s.Why == "sleep" && 2*s.Seconds >= g.Groups[i].Seconds && len(lines) < most {
				lines = append(lines, s.Line)
			}
		}
	}
	return lines
}

// Requesting returns the lines that wait in the trace for the answers of HTTP servers: goroutines
// of the client's connections wake them. The longest wait is first.
func Requesting(p *rule.Pass) []exectrace.Line {
	if !Long(p) {
		return nil
	}
	var lines []exectrace.Line
	for _, w := range p.Trace.Blocking.Waits {
		woken := slices.ContainsFunc(w.Wakers, func(by wall.Waker) bool {
			return funcname.Match(by.Line.Function, "net/http.(*persistConn).*", "net/http.(*wantConn).*")
		})
		if woken && !w.Line.Standard() && !w.Line.OfProbe() && !slices.Contains(lines, w.Line) {
			lines = append(lines, w.Line)
		}
	}
	return lines
}

// Packages returns the packages of lines with much time in the trace, at most a given number. They
// may hardly show in a CPU profile, and rules need their source.
func Packages(p *rule.Pass, most int) []string {
	var pkgs []string
	if !Long(p) {
		return nil
	}
	add := func(l exectrace.Line) {
		if s := SiteAt(p, l); s != nil && s.Owner.Package != "" && len(pkgs) < most && !slices.Contains(pkgs, s.Owner.Package) {
			pkgs = append(pkgs, s.Owner.Package)
		}
	}
	const each = 10 // of a kind, the first
	b := p.Trace.Blocking
	for _, l := range b.Locks[:min(each, len(b.Locks))] {
		for _, h := range l.Holders[:min(1, len(l.Holders))] {
			add(h.Line)
		}
	}
	for _, h := range b.Handoffs[:min(each, len(b.Handoffs))] {
		add(h.Waker)
		add(h.Waiter)
	}
	for _, l := range b.Polls[:min(each, len(b.Polls))] {
		add(l.Line)
	}
	for _, s := range p.Trace.Spawns[:min(each, len(p.Trace.Spawns))] {
		add(s.Line)
	}
	if r := p.Trace.Requests; r != nil && r.All != nil {
		for i := range r.All.Places[:min(each, len(r.All.Places))] {
			if l := cmp.Or(r.All.Places[i].Caller, r.All.Places[i].Waiter); l != nil {
				add(*l)
			}
		}
	}
	if p.OpenBodies > 0 {
		clients := Requesting(p)
		for _, l := range clients[:min(each, len(clients))] {
			add(l)
		}
	}
	if g := p.Trace.Goroutines; g != nil && len(pkgs) < most {
		for _, l := range sleepers(g, each) {
			add(l)
		}
	}
	serial := p.Trace.Parallelism.Serial.Stacks
	for _, s := range serial[:min(each, len(serial))] {
		for _, f := range s.Frames {
			add(f.At())
		}
	}
	return pkgs
}

// Serves reports whether the program answers requests, as far as load and trace show. Requests then
// run in parallel, and their latency counts.
func Serves(p *rule.Pass) bool {
	if p.Manifest != nil && (p.Manifest.Load != nil || p.Manifest.Target.Kind == "service") {
		return true
	}
	r := p.Trace.Requests
	return r != nil && (r.Count > 0 || r.Cut > 0 || len(r.Open) > 0)
}

// LatencyTotal returns the time, in seconds, that waiting in the trace is a part of: the time of
// all requests that started and finished in it or, for a program that exits, the trace's length. 0
// when a service had too few requests.
func LatencyTotal(p *rule.Pass) float64 {
	if !Serves(p) {
		return p.Trace.Parallelism.Length
	}
	const fewest = 20
	r := p.Trace.Requests
	if r == nil || r.All == nil || r.Count < fewest {
		return 0
	}
	return requestsTime(p, r)
}

// requestsTime returns the time of all requests of a trace, in seconds. A closed loop has no more
// of them under way than connections: what exceeds that are requests that the program sends to
// itself, whose time is part of that of others.
func requestsTime(p *rule.Pass, r *requests.Result) float64 {
	all := float64(r.All.Time) / 1e9
	if m := p.Manifest; m != nil && m.Load != nil && m.Load.Rate == 0 && m.Load.Connections > 0 && p.Trace.Parallelism.Length > 0 {
		return min(all, float64(m.Load.Connections)*p.Trace.Parallelism.Length)
	}
	return all
}

// Procs returns how many processors the program could use: GOMAXPROCS, or the number of the machine
// or the cgroup when that is less.
func Procs(p *rule.Pass) float64 {
	n := float64(p.Trace.Parallelism.Procs)
	if m := p.Manifest; m != nil {
		for _, most := range []float64{float64(m.Machine.Cores), m.Machine.CgroupCPUs} {
			if most > 0 {
				n = min(n, most)
			}
		}
	}
	return n
}

// OthersBusy returns the share of the machine that other processes took during the measurement; 0
// when it is not known.
func OthersBusy(p *rule.Pass) float64 {
	if p.Manifest == nil || p.Manifest.Machine.Cores == 0 {
		return 0
	}
	most := 0.0
	for _, ph := range p.Manifest.Phases {
		if ph.Seconds > 0 && ph.MachineCPUSeconds > 0 {
			others := ph.MachineCPUSeconds - ph.CPUSeconds - ph.GeneratorCPUSeconds
			most = max(most, others/ph.Seconds/float64(p.Manifest.Machine.Cores))
		}
	}
	return most
}

// Busy returns the share of the machine's CPUs that the program and its load generator used in the
// trace; the CPU of other processes does not count. If that is unknown, it is the share of the
// program's processors that ran its goroutines: one in a system call may leave its CPU to others.
func Busy(p *rule.Pass) float64 {
	if ph, ok := p.Phase(recording.PhaseTrace); ok && ph.Seconds > 0 && ph.CPUSeconds > 0 && p.Manifest.Machine.Cores > 0 {
		return min(1, (ph.CPUSeconds+ph.ChildCPUSeconds+ph.GeneratorCPUSeconds)/ph.Seconds/float64(p.Manifest.Machine.Cores))
	}
	return min(1, p.Trace.Parallelism.MeanRunning/max(1, Procs(p)))
}

// Switching returns the cost of starting, parking and waking goroutines at some lines: the CPU
// samples of the lines' own calls of the named functions of the runtime, and a part of the
// scheduler's CPU, by the share of all wake-ups in the trace that belong to the lines. A fix also
// saves a fraction of that part.
func Switching(p *rule.Pass, times int64, sites []*site.Site, callees ...string) stats.Interval {
	var ns, samples int64
	for _, s := range sites {
		value, n := stacks.Sum(stacks.Select(s.CPU, func(r *site.Row) bool { return stacks.Calls(r, callees...) }))
		ns, samples = ns+value, samples+n
	}
	if p.Trace.Sched != nil && p.Trace.Sched.Count > 0 && p.Table != nil {
		share := min(1, float64(times)/float64(p.Trace.Sched.Count))
		for i := range p.Table.Buckets {
			if b := &p.Table.Buckets[i]; b.Name == site.BucketScheduler {
				value, n := stacks.Sum(b.Rows)
				ns += int64(share * float64(value))
				samples += int64(share * float64(n))
			}
		}
	}
	if samples == 0 {
		return stats.Interval{}
	}
	return stats.Poisson(samples).Scale(float64(ns) / 1e9 / float64(samples))
}

// Mean returns how long a wait at a place takes in the mean, in seconds.
func Mean(p *rule.Pass, at *requests.PlaceTime) (float64, bool) {
	for _, w := range p.Trace.Blocking.Waits {
		if w.Line == *at.Waiter && w.Count > w.Open {
			return w.Seconds / float64(w.Count), true
		}
	}
	return 0, false
}
