package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// leastCame is the number of goroutines that must have appeared during the recording, or remain
// when the benchmarks are over, for a search for leaked ones.
const leastCame = 10

// recordLeaks takes the profile of goroutines that nothing can wake, if the runtime has it only as
// an experiment. The program is built again with that experiment and runs in a separate process,
// because the experiment changes what the other phases measure: a hand-off through sync.Cond took
// 13 % longer with it (median of 10 pairs); for channels, mutexes and the collector no difference
// was significant (-5 to +1 %). The standard library is compiled for it once, which takes 16 s of
// CPU time, so the phase is left out if no goroutines appeared.
func (r *recorder) recordLeaks(ctx context.Context, addrs []string) error {
	m := r.out.Manifest()
	has := func(p recording.Part) bool { return p.Name == recording.PartLeaks }
	if !slices.Contains(r.o.Phases, recording.PhaseLeaks) || slices.ContainsFunc(m.Parts, has) || m.Target.Kind == kindProgram {
		return nil
	}
	if came, why := r.goroutinesCame(); came < leastCame {
		r.missing(recording.PartLeaks, fmt.Errorf("%s: there is nothing to look for", why))
		return nil
	}
	return r.runPhaseAgain(ctx, recording.PhaseLeaks, recording.PartLeaks, func() (string, error) { return r.takeLeaks(ctx, addrs) })
}

// goroutinesCame is by how many goroutines the program grew, in words too.
func (r *recorder) goroutinesCame() (int64, string) {
	if r.o.Bench != "" {
		n := goroutinesIn(r.profiles[recording.PartGoroutine])
		return n, fmt.Sprintf("%s after the last benchmark", count(int(n), "goroutine"))
	}
	first, last, ok := ends(r.metrics.Bytes(), recording.MetricGoroutines)
	if !ok {
		first, last = 0, 0
	}
	return int64(last - first), fmt.Sprintf("the program had %s at the start of the recording and %.0f at its end", count(int(first), "goroutine"), last)
}

// ends returns the first and the last value of a metric in a recording's metrics, of the process
// that the other phases measure.
func ends(metrics []byte, name string) (first, last float64, ok bool) {
	for line := range bytes.Lines(metrics) {
		var l struct {
			Phase   string `json:"phase"`
			Metrics map[string]struct {
				Value float64 `json:"v"`
			} `json:"m"`
		}
		if json.Unmarshal(line, &l) != nil || recording.Apart(l.Phase) {
			continue
		}
		m, has := l.Metrics[name]
		if !has {
			continue
		}
		if !ok {
			first = m.Value
		}
		last, ok = m.Value, true
	}
	return first, last, ok
}

// goroutinesIn is the number of goroutines of a profile.
func goroutinesIn(data []byte) (sum int64) {
	p, err := decode(data)
	if err != nil || len(p.SampleTypes) == 0 {
		return 0
	}
	for _, n := range p.Values(0) {
		sum += n
	}
	return sum
}

// takeLeaks returns the summary for the progress line.
func (r *recorder) takeLeaks(ctx context.Context, addrs []string) (string, error) {
	if r.o.Load == nil && r.o.Bench == "" {
		return "", fmt.Errorf("a service without -load has no unit of work to count for")
	}
	r.say(Event{Phase: r.phase, Text: "building with the experiment goroutineleakprofile"})
	bin, start, err := r.buildTarget(ctx, target.BuildSpec{Leaks: true})
	if err != nil {
		return "", err
	}
	defer bin.Remove()
	spec := r.specAgain()
	if r.o.Bench != "" {
		return r.leaksOfBench(ctx, start, spec, bin)
	}
	return r.leaksOfService(ctx, start, spec, addrs)
}

// leaksOfService takes the profile after one window of the load. The number of goroutines before it
// is known, so the phase reports how many appeared in it.
func (r *recorder) leaksOfService(ctx context.Context, start startFunc, spec target.RunSpec, addrs []string) (string, error) {
	var before int64
	take := func(ctx context.Context, p process) ([]byte, error) { return p.Profile(ctx, "goroutineleak", 0, false) }
	i := instrument{phase: recording.PhaseLeaks, windows: 1, read: take}
	i.clear = func(ctx context.Context, p process) error {
		data, err := take(ctx, p)
		before = goroutinesIn(data)
		return err
	}
	st, windows, err := r.runLoadedAgain(ctx, start, spec, addrs, i)
	if err != nil {
		return "", err
	}
	return r.keepLeaks(st, windows[0], before, 2)
}

// leaksOfBench takes what a fixed number of each benchmark's operations leaves.
func (r *recorder) leaksOfBench(ctx context.Context, start startFunc, spec target.RunSpec, bin *target.Binary) (string, error) {
	i := instrument{phase: recording.PhaseLeaks, collect: target.Collect{Leaks: true}, parts: []string{target.PartLeaks}}
	st, parts, err := r.runBenchAgain(ctx, start, spec, bin, i)
	if err != nil {
		return "", err
	}
	if dump := parts[target.PartDump]; len(dump) > 0 {
		if err := r.add(recording.PartGoroutineTxt, r.phase, dump); err != nil {
			return "", err
		}
	}
	return r.keepLeaks(st, parts[target.PartLeaks], 0, 1)
}

// keepLeaks writes the part.
func (r *recorder) keepLeaks(st stretch, data []byte, before, forced int64) (string, error) {
	if _, err := decode(data); err != nil {
		return "", err
	}
	if err := r.add(recording.PartLeaks, r.phase, data); err != nil {
		return "", err
	}
	n := goroutinesIn(data)
	came := n - before
	st.phase.Leaked = &came
	st.phase.ForcedGC = forced
	r.keep(st)
	m := r.out.Manifest()
	text := fmt.Sprintf("%s that nothing can wake", count(int(n), "goroutine"))
	if reqs := st.phase.Requests; reqs > 0 {
		text += fmt.Sprintf(", %d of them in %s", came, count(int(reqs), m.Unit()))
	}
	return text, nil
}
