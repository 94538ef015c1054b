package capture

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
)

// readLimit bounds one reading of metrics or usage, so that a program that hangs does not hold up
// the windows.
const readLimit = 5 * time.Second

// reading is the state of the program at one moment. What could not be read is
// unknown, not zero.
type reading struct {
	at        time.Time
	usage     target.Usage
	hasUsage  bool
	metrics   target.Metrics // nil: unknown
	throttled float64        // seconds so far
	canThrot  bool
	machine   recording.CPUTime // so far
	canBusy   bool
}

// read takes a reading and logs the metrics.
func (s *service) read(ctx context.Context) reading {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	r := reading{at: time.Now()}
	if !s.noUsage {
		u, err := s.prog.Usage(ctx)
		r.usage, r.hasUsage = u, err == nil
		s.noUsage = s.refused(err, "CPU time and memory of the process are unknown")
	}
	if s.local {
		r.throttled, r.canThrot = s.world.throttled()
		r.machine, r.canBusy = s.world.machineCPU()
	}
	r.metrics = s.pollMetrics(ctx, s.prog)
	return r
}

// refused reports whether err means that the program never offers a value, and records that.
func (r *recorder) refused(err error, what string) bool {
	var gone *target.Missing
	if !errors.As(err, &gone) {
		return false
	}
	text := what + ": " + gone.Why
	if gone.How != "" {
		text += " (" + gone.How + ")"
	}
	r.note("%s", text)
	return true
}

// logMetrics appends a line to metrics.jsonl.
func (r *recorder) logMetrics(at time.Time, m target.Metrics) {
	line, err := json.Marshal(struct {
		T     time.Time      `json:"t"`
		Phase string         `json:"phase"`
		M     target.Metrics `json:"m"`
	}{at.UTC(), r.phase, m})
	if err != nil {
		// JSON has no infinities and no NaN; a metric with such a value loses only this line.
		r.note("a line of %s was left out: %v", recording.PartMetrics, err)
		return
	}
	r.metrics.Write(append(line, '\n'))
}

// window is what happened between two readings.
func (s *service) window(from, to reading, res *load.Result) (recording.Window, sample) {
	w := recording.Window{Seconds: to.at.Sub(from.at).Seconds()}
	if from.hasUsage && to.hasUsage {
		w.CPUSeconds = max(0, to.usage.CPUSeconds-from.usage.CPUSeconds)
	}
	w.AllocBytes = from.grown(to, recording.MetricAllocBytes)
	w.AllocObjects = from.objects(to)

	sm := sample{throughput: unknown, cpu: unknown}
	known := from.hasUsage && to.hasUsage
	if res == nil {
		if known && w.Seconds > 0 {
			sm.cpu = w.CPUSeconds / w.Seconds
		}
		return w, sm
	}
	w.Requests, w.Failed = res.Requests, res.Failed()
	if lag := quantiles(res.Lag); lag != nil {
		w.LagP99 = lag.P99
	}
	w.Quantiles = quantiles(res.Latency)
	if w.Quantiles == nil {
		w.Quantiles = quantiles(res.Service)
	}
	if s := res.Elapsed.Seconds(); s > 0 {
		sm.throughput = float64(res.Requests) / s
	}
	if known && res.Requests > 0 {
		sm.cpu = w.CPUSeconds / float64(res.Requests)
	}
	return w, sm
}

// grown is the growth of a counting metric; 0 when it is unknown.
func (r reading) grown(to reading, name string) int64 {
	a, ok := r.metrics[name]
	b, ok2 := to.metrics[name]
	if !ok || !ok2 {
		return 0
	}
	return max(0, int64(b.Value-a.Value))
}

// spent returns the growth of a metric in seconds, minus that of others that are parts of it; nil
// if it is unknown.
func (r reading) spent(to reading, name string, less ...string) *float64 {
	a, ok := r.metrics[name]
	b, ok2 := to.metrics[name]
	if !ok || !ok2 {
		return nil
	}
	seconds := b.Value - a.Value
	for _, part := range less {
		seconds -= to.metrics[part].Value - r.metrics[part].Value
	}
	seconds = max(0, seconds)
	return &seconds
}

// objects returns how many objects were allocated. The runtime packs objects of less than 16 bytes
// without pointers into blocks. It counts a block as one object, and separately the objects that
// went into an existing block (runtime/malloc.go, mallocgcTiny).
func (r reading) objects(to reading) int64 {
	return r.grown(to, recording.MetricAllocObjects) + r.grown(to, recording.MetricTinyObjects)
}

// figures fills in what the readings at both ends of a phase show.
func (from reading) figures(p *recording.Phase, to reading) {
	p.Start = from.at.UTC()
	p.Seconds = to.at.Sub(from.at).Seconds()
	if from.hasUsage && to.hasUsage {
		p.CPUSeconds = max(0, to.usage.CPUSeconds-from.usage.CPUSeconds)
		p.SystemCPUSeconds = min(p.CPUSeconds, max(0, to.usage.SystemSeconds-from.usage.SystemSeconds))
		p.PageFaults = max(0, to.usage.PageFaults-from.usage.PageFaults)
		p.ChildCPUSeconds = max(0, to.usage.ChildCPUSeconds-from.usage.ChildCPUSeconds)
		p.RSSBytes, p.PeakRSSBytes = to.usage.RSSBytes, to.usage.MaxRSS
	}
	p.AllocBytes = from.grown(to, recording.MetricAllocBytes)
	p.AllocObjects = from.objects(to)
	p.GCCycles = from.grown(to, recording.MetricCycles)
	p.GCSeconds = from.spent(to, recording.MetricCPUGC, recording.MetricCPUGCIdle)
	p.BusySeconds = from.spent(to, recording.MetricCPU, recording.MetricCPUIdle, recording.MetricCPUGCIdle)
	p.LockSeconds = from.spent(to, recording.MetricLockWait)
	if from.canThrot && to.canThrot {
		p.Throttled = max(0, to.throttled-from.throttled)
	}
	if from.canBusy && to.canBusy {
		addMachine(p, from.machine, to.machine)
	}
}

// addMachine adds the machine's activity between two moments to a phase.
func addMachine(p *recording.Phase, from, to recording.CPUTime) {
	p.MachineCPUSeconds += max(0, to.Busy-from.Busy)
	p.StolenCPUSeconds += max(0, to.Stolen-from.Stolen)
}
