package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

// The resources that can limit a program.
const (
	limitCPU     = "cpu"
	limitLatency = "latency"
	limitMemory  = "memory"
	limitNone    = "none"
)

// When a resource counts as the limit.
const (
	// busyShare of the CPUs that the program may use.
	busyShare = 0.85
	// sharedBusyShare is enough if a load generator that sends as fast as it can is on the same
	// machine and it is unknown how busy the whole machine was (outside Linux): what the program
	// leaves idle then goes to the generator, the kernel's network code and other processes. A
	// program that mostly waits stays below it, or its waits show.
	sharedBusyShare = 0.15
	// closedBusyShare of the whole machine is enough in a closed loop with the generator on it: at
	// each switch between the two a CPU is idle for a moment, and a program that used less CPU
	// would answer sooner anyway.
	closedBusyShare = 0.70
	// waitingShare of the requests' time in locks and channels is a visible wait.
	waitingShare = 0.5
	// fullMachineShare of the whole machine is enough even if requests wait in locks and channels,
	// if the program and the generator fill it: admitted requests have to wait for a CPU, and there
	// is at most a quarter more of those.
	fullMachineShare = 0.80
	// outsideShare of the requests' time asleep or waiting for the network limits them, however
	// busy the machine is: a faster CPU would not end those waits sooner.
	outsideShare = 0.5
	// quietShare is a share of the CPUs that the program may use: below it, its own CPU is not the
	// limit, however busy the machine is, unless the trace shows that requests run or wait for a
	// processor.
	quietShare = 0.15
	// computingShare of the requests' time, running or waiting for a processor, means that they do
	// not wait for something other than CPU; fewTraced requests are too few to know.
	computingShare = 0.5
	fewTraced      = 10
	// serialShare of a program's time with one goroutine running means that the serial part limits
	// its run time.
	serialShare = 0.5
	// manyChildren is the minimum number of cores that child processes keep busy that is reported.
	manyChildren = 0.1
	// fullShare of a memory limit, above which the collector works against the limit.
	fullShare = 0.85
)

// resources returns what the program spent and what limits it.
func (e *engine) resources() Resources {
	t := e.totals
	r := Resources{CPUSeconds: round(t.TotalSeconds), CPUSamples: t.CPUSamples}
	if t.TotalSeconds > 0 {
		r.GCCPUShare = round(t.Collecting() / t.TotalSeconds)
		r.MallocCPUShare = round(t.M / t.TotalSeconds)
	}
	if ph, ok := e.reference(); ok && ph.Seconds > 0 {
		r.Cores = round(ph.CPUSeconds / ph.Seconds)
		r.ChildCores = round(ph.ChildCPUSeconds / ph.Seconds)
		r.AllocRate = float64(ph.AllocBytes) / ph.Seconds
		r.PageFaultRate = float64(ph.PageFaults) / ph.Seconds
		if ph.CPUSeconds > 0 {
			r.SystemShare = round(ph.SystemCPUSeconds / ph.CPUSeconds)
		}
		if e.manifest.Target.Kind == "program" && ph.Runs > 0 {
			r.CPUPerRequest = ph.CPUSeconds / float64(ph.Runs)
			r.Run = runTime(ph)
			r.BytesPerRequest = float64(ph.AllocBytes) / float64(ph.Runs)
			r.ObjectsPerRequest = float64(ph.AllocObjects) / float64(ph.Runs)
		}
		if n := float64(ph.Requests); n > 0 {
			r.Throughput = n / ph.Seconds
			r.CPUPerRequest = ph.CPUSeconds / n
			r.BytesPerRequest = float64(ph.AllocBytes) / n
			r.ObjectsPerRequest = float64(ph.AllocObjects) / n
		}
	}
	r.Spent = spent(e.pass.Table)
	r.addBenchmarks(e)
	r.Limiting, r.LimitingWhy = e.limiting, e.why
	if all := e.traced(); all != nil {
		r.RequestTime = all.Main()
	}
	if _, others, ok := e.machineBusy(); ok && others >= othersShare*float64(e.manifest.Machine.Cores) {
		r.OtherCores = round(others)
	}
	return r
}

// spent returns where the CPU goes: lines of the main module, lines of other modules, then what no
// line owns.
func spent(t *site.Table) []Spent {
	if t == nil || t.Totals.TotalSeconds <= 0 {
		return nil
	}
	var yours, deps float64
	for _, x := range t.Sites {
		if x.Owner.Kind == gocode.Main {
			yours += x.Cost.CPUSeconds
		} else {
			deps += x.Cost.CPUSeconds
		}
	}
	all := []Spent{{"your lines", round(yours / t.Totals.TotalSeconds)}, {"dependencies", round(deps / t.Totals.TotalSeconds)}}
	for _, b := range t.Buckets {
		all = append(all, Spent{b.Name, round(b.Seconds / t.Totals.TotalSeconds)})
	}
	slices.SortStableFunc(all[2:], func(a, b Spent) int { return cmp.Compare(b.Share, a.Share) })
	return slices.DeleteFunc(all, func(s Spent) bool { return s.Share == 0 })
}

// runTime returns nil when the single runs of a phase are not known.
func runTime(ph recording.Phase) *RunTime {
	if len(ph.Windows) != ph.Runs {
		return nil
	}
	var s []float64
	for _, w := range ph.Windows {
		s = append(s, w.Seconds)
	}
	return &RunTime{Count: ph.Runs, Median: round(stats.Median(s)), Shortest: round(slices.Min(s)), Longest: round(slices.Max(s))}
}

// reference returns the phase whose figures describe the program: the clean one or, without it,
// that of the CPU profile.
func (e *engine) reference() (recording.Phase, bool) {
	if ph, ok := e.phase(recording.PhaseClean); ok {
		return ph, true
	}
	return e.phase(recording.PhaseCPU)
}

// profiled returns the phase of the CPU profile or, without it, the clean one.
func (e *engine) profiled() (recording.Phase, bool) {
	if ph, ok := e.phase(recording.PhaseCPU); ok {
		return ph, true
	}
	return e.reference()
}

func (e *engine) phase(name string) (recording.Phase, bool) {
	for _, ph := range e.manifest.Phases {
		if ph.Name == name {
			return ph, true
		}
	}
	return recording.Phase{}, false
}

// limit returns the resource that limits the program, and why.
func (e *engine) limit() (resource, why string) {
	if used, most, what := e.memory(); most > 0 && used >= fullShare*most {
		return limitMemory, fmt.Sprintf("%s of memory in use, %s is %s", units.Bytes(used), what, units.Bytes(most))
	}
	cores, ok := e.busyCores()
	if !ok {
		return limitNone, "how busy the CPUs were is not known"
	}
	m := e.manifest
	if m.Target.Kind == "program" || m.Target.Kind == "bench" {
		children := e.childCores()
		if both := cores + children; children >= manyChildren && both >= busyShare*float64(m.Machine.Cores) && m.Machine.Cores > 0 {
			return limitCPU, fmt.Sprintf("%s cores busy on average, and %s by processes that it started: all %d of the machine",
				units.Number(cores), units.Number(children), m.Machine.Cores)
		}
		if share, procs, ok := e.serial(); ok && share >= serialShare {
			return limitLatency, fmt.Sprintf("%s cores busy on average: for %s of the time one goroutine ran while %d other processors were idle",
				units.Number(cores), units.Percent(share), procs-1)
		}
		if cores >= busyShare {
			return limitCPU, fmt.Sprintf("%s cores busy on average: the program computes all the time", units.Number(cores))
		}
		if children >= manyChildren {
			return limitNone, fmt.Sprintf("%s cores busy on average, and %s by processes that it started: it waits for those, or for something other than CPU", units.Number(cores), units.Number(children))
		}
		return limitNone, fmt.Sprintf("%s cores busy on average: the program waits, or shares the CPUs with other processes", units.Number(cores))
	}
	may := e.usableCores()
	busy := fmt.Sprintf("%s of %s usable cores busy", units.Number(cores), units.Number(may))
	if may == 0 {
		may, busy = 1, units.Number(cores)+" cores busy"
	}
	machine, others, measured := e.machineBusy()
	enough := fullMachineShare
	if m.Load != nil && m.Load.Rate == 0 && e.generatorHere() {
		enough = closedBusyShare
	}
	full := fmt.Sprintf("%s; with everything else on it the machine has %s of %d cores busy%s", busy, units.Number(machine), m.Machine.Cores, othersWords(others, m.Machine.Cores))
	shared := !measured && m.Load != nil && m.Load.Rate == 0 && e.generatorHere()
	waits := e.requestsWait()
	outside := e.requestsSpend(func(p requests.Part) bool { return p == requests.WaitSleep || p == requests.WaitNetwork })
	computing := e.requestsSpend(requests.Part.Computes)
	quiet := cores < quietShare*may && computing < computingShare
	machineFull := measured && machine-others >= fullMachineShare*float64(m.Machine.Cores)
	machineEnough := measured && machine >= enough*float64(m.Machine.Cores)
	switch {
	case m.Load != nil && outside >= outsideShare:
		return limitLatency, fmt.Sprintf("%s; requests spend %s of their time asleep or waiting for the network", busy, units.Percent(outside))
	case cores >= busyShare*may:
		return limitCPU, busy
	case machineFull && !quiet:
		return limitCPU, full
	case m.Load != nil && waits >= waitingShare:
		return limitLatency, fmt.Sprintf("%s; requests spend %s of their time waiting for locks and channels", busy, units.Percent(math.Min(1, waits)))
	case machineEnough && !quiet:
		return limitCPU, full
	case shared && cores >= sharedBusyShare*may:
		return limitCPU, busy + " with the load generator, in a closed loop, on the same machine"
	case m.Load != nil && computing >= computingShare:
		why = fmt.Sprintf("%s; requests spend %s of their time running or waiting for a processor", busy, units.Percent(computing))
		if m.Load.Rate > 0 {
			return limitNone, why + ", and the rate leaves room for more"
		}
		if cores < quietShare*may && !machineEnough {
			return limitNone, why + ", and the connections leave room for more"
		}
		return limitCPU, why
	case quiet && machineEnough:
		return limitNone, full + "; the program uses little of that, and nothing shows that requests wait for a CPU"
	case m.Load != nil:
		return limitLatency, busy + " under load: requests wait for something other than CPU"
	}
	return limitNone, busy + " and no load given"
}

// childCores returns the cores that child processes kept busy, in the same phase as busyCores.
func (e *engine) childCores() float64 {
	ph, ok := e.profiled()
	if !ok || ph.Seconds <= 0 {
		return 0
	}
	return ph.ChildCPUSeconds / ph.Seconds
}

// serial returns the share of the trace's time in which one goroutine ran and none was ready, and
// the number of processors.
func (e *engine) serial() (share float64, procs int, ok bool) {
	if e.pass.Trace == nil || e.pass.Trace.Parallelism == nil {
		return 0, 0, false
	}
	p := e.pass.Trace.Parallelism
	return p.Serial.Share, p.Procs, p.Procs > 1
}

// machineBusy returns the CPU time per second of everything on the machine in the program's phase,
// and how much of it was neither the program nor the generator.
func (e *engine) machineBusy() (all, others float64, ok bool) {
	ph, ok := e.profiled()
	if !ok || ph.Seconds <= 0 || ph.MachineCPUSeconds <= 0 || e.manifest.Machine.Cores == 0 {
		return 0, 0, false
	}
	all = ph.MachineCPUSeconds / ph.Seconds
	return all, math.Max(0, all-(ph.CPUSeconds+ph.ChildCPUSeconds+ph.GeneratorCPUSeconds)/ph.Seconds), true
}

// othersShare of the machine taken by other processes disturbs the measurement.
const othersShare = 0.15

func othersWords(others float64, cores int) string {
	if others < othersShare*float64(cores) {
		return ""
	}
	return fmt.Sprintf(", %s of them by other processes", units.Number(others))
}

// busyCores returns the CPU time of the program per second in the phase of the CPU profile, for
// which findings are ranked: that of the process if it is known, else that of the profile. Without
// such a phase it is that of the clean one.
func (e *engine) busyCores() (float64, bool) {
	if ph, ok := e.phase(recording.PhaseCPU); ok && ph.Seconds > 0 {
		if s := cmp.Or(ph.CPUSeconds, e.totals.TotalSeconds); s > 0 {
			return s / ph.Seconds, true
		}
	}
	if ph, ok := e.reference(); ok && ph.Seconds > 0 && ph.CPUSeconds > 0 {
		return ph.CPUSeconds / ph.Seconds, true
	}
	return 0, false
}

// requestsWait returns the waiting at the modules' own lines as a share of the time of all
// requests. It may include goroutines that are idle by design, so it can exceed 1.
func (e *engine) requestsWait() float64 {
	if e.requestSeconds <= 0 || e.pass.Table == nil {
		return 0
	}
	var mutex, block float64
	for _, s := range e.pass.Table.Sites {
		mutex += s.Cost.MutexSeconds
		block += s.Cost.BlockSeconds
	}
	return math.Max(mutex, block) / e.requestSeconds
}

// traced returns where the time of the requests in the execution trace went; nil when there were
// too few. Both the report of their time and the limiting resource follow from it.
func (e *engine) traced() *requests.Route {
	t := e.pass.Trace
	if t == nil || t.Requests == nil || t.Requests.All == nil || t.Requests.Count < fewTraced {
		return nil
	}
	return t.Requests.All
}

// requestsSpend returns the share of the requests' time in the execution trace that went to some
// parts; 0 when there were too few requests.
func (e *engine) requestsSpend(in func(requests.Part) bool) float64 {
	all := e.traced()
	if all == nil {
		return 0
	}
	var ns int64
	for _, p := range all.Parts {
		if in(p.Part) {
			ns += p.Time
		}
	}
	return float64(ns) / float64(max(1, all.Time))
}

// usableCores returns how many CPUs the program may use; 0 when unknown.
func (e *engine) usableCores() float64 {
	least := math.Inf(1)
	for _, n := range []float64{
		float64(e.manifest.Runtime.GOMAXPROCS), e.manifest.Machine.CgroupCPUs, float64(e.manifest.Machine.Cores),
	} {
		if n > 0 {
			least = math.Min(least, n)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// generatorHere reports whether the load came from the machine that the program ran on.
func (e *engine) generatorHere() bool { return e.manifest.Load.Local() }

// memory returns what the program uses and its limit; most is 0 when there is none.
func (e *engine) memory() (used, most float64, what string) {
	used = e.pass.Metrics[recording.MetricTotal] - e.pass.Metrics[recording.MetricReleased]
	if used <= 0 {
		if ph, ok := e.reference(); ok {
			used = float64(ph.RSSBytes)
		}
	}
	if used <= 0 {
		return 0, 0, ""
	}
	if limit := e.manifest.Runtime.GOMEMLIMIT; limit > 0 && limit < math.MaxInt64 {
		most, what = float64(limit), "GOMEMLIMIT"
	}
	if limit := float64(e.manifest.Machine.CgroupBytes); limit > 0 && (most == 0 || limit < most) {
		most, what = limit, "the cgroup's limit"
	}
	return used, most, what
}

// requestTime returns the total time of all requests in the contention window, to which waiting is
// compared; 0 when it is unknown. In a closed loop every connection always has one request in
// flight.
func (e *engine) requestTime() float64 {
	ph, ok := e.phase(recording.PhaseContention)
	if !ok || e.manifest.Load == nil {
		return 0
	}
	if e.manifest.Load.Rate == 0 {
		return float64(e.manifest.Load.Connections) * ph.Seconds
	}
	if ph.Service == nil {
		return 0
	}
	return ph.Service.P50 * float64(ph.Requests) // the median instead of the mean: too small when the tail is long
}
