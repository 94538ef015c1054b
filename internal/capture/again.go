package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// instrument is what a phase counts in a further build of the target, which runs in a process of
// its own. Nothing that measures time runs there.
type instrument struct {
	phase   string
	collect target.Collect // of a program that exits
	parts   []string       // that it must hand over
	// Of a service: the number of windows. clear is called before each, read after it.
	windows int
	clear   func(context.Context, process) error
	read    func(context.Context, process) ([]byte, error)
}

// runPhaseAgain runs such a phase. A failure loses the part, not the recording; only the end of ctx
// is returned as an error.
func (r *recorder) runPhaseAgain(ctx context.Context, phase, part string, take func() (summary string, err error)) error {
	r.phase = phase
	began := time.Now()
	text, err := take()
	if ctx.Err() != nil {
		return r.interrupted(ctx)
	}
	if err != nil {
		r.missing(part, err)
		text = "not available: " + firstLine(err.Error())
	}
	r.say(Event{Phase: r.phase, Text: text, At: since(began), End: true})
	return r.checkpoint()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// again returns the path for the output of a further run, which is not kept.
func (r *recorder) again(part string) string { return filepath.Join(r.tmp, "again-"+part) }

// specAgain returns how to run the target once more.
func (r *recorder) specAgain() target.RunSpec {
	spec := r.spec()
	spec.Stdout, spec.Stderr = r.again(recording.PartStdout), r.again(recording.PartStderr)
	return spec
}

// runLoadedAgain runs a service under the recording's load and returns what was read after each
// window.
func (r *recorder) runLoadedAgain(ctx context.Context, start startFunc, spec target.RunSpec, addrs []string, i instrument) (all stretch, windows [][]byte, err error) {
	proc, err := start(ctx, spec)
	if err != nil {
		return all, nil, err
	}
	defer r.stop(ctx, proc)
	for _, a := range addrs {
		if err := r.ready(ctx, proc, a); err != nil {
			return all, nil, err
		}
	}
	s := &service{recorder: r, prog: proc, local: true, bodies: i.phase == recording.PhaseInputs}
	if err := s.beginLoad(ctx); err != nil {
		return all, nil, err
	}
	defer s.gen.Stop()
	r.phase = i.phase // beginLoad names its own
	if _, err := s.measure(ctx, r.world.tick, nil); err != nil {
		return all, nil, err // one-time work of the service is done in this warm-up
	}
	length := min(max(r.o.Duration/15, r.world.tick), 3*r.world.tick)
	for range i.windows {
		if err := i.clear(ctx, proc); err != nil {
			return all, nil, err
		}
		st, err := s.measure(ctx, length, nil)
		if err != nil {
			return all, nil, err
		}
		data, err := i.read(ctx, proc)
		if err != nil {
			return all, nil, err
		}
		windows = append(windows, data)
		st.phase.Windows = []recording.Window{{Seconds: st.phase.Seconds, Requests: st.phase.Requests, CPUSeconds: st.phase.CPUSeconds}}
		all.join(st)
	}
	all.phase.Name = i.phase
	return all, windows, nil
}

// At most countedOps operations of a benchmark are counted, and so few that all benchmarks together
// take about countedTime without counters, but at least fewestOps. Package testing does one more
// before.
const (
	countedOps  = 200
	fewestOps   = 3
	fewerOps    = 20  // how many times fewer, if that is too slow with counters
	countedTime = 1.0 // seconds
)

// opsAgain returns how many operations of each benchmark to count, and how many seconds they take
// without counters.
func (r *recorder) opsAgain() (ops int, seconds float64) {
	var each float64
	for _, b := range r.kept(recording.PhaseClean).phase.Benchmarks {
		fastest := math.Inf(1)
		for _, s := range b.Samples {
			fastest = min(fastest, s.SecondsPerOp)
		}
		if len(b.Samples) > 0 {
			each += fastest
		}
	}
	ops = countedOps
	if each > 0 {
		ops = max(fewestOps, int(min(countedOps, countedTime/each)))
	}
	return ops, float64(ops) * each
}

// runBenchAgain runs the same number of operations of each benchmark: fewer if they take too long
// with counters. Counts per operation are known only when there is one benchmark; of several, only
// counts per call are.
func (r *recorder) runBenchAgain(ctx context.Context, start startFunc, spec target.RunSpec, bin *target.Binary, i instrument) (stretch, map[string][]byte, error) {
	b := &benchmark{program: program{recorder: r}}
	ops, _ := r.opsAgain()
	spec.Dir, spec.Args = bin.Dir, b.args(fmt.Sprintf("%dx", ops))
	st, parts, err := r.runAgain(ctx, start, spec, i)
	var slow *slowError
	if fewer := max(fewestOps, ops/fewerOps); i.collect.Counters && errors.As(err, &slow) && fewer < ops {
		r.note("%s. It ran again with %d operations instead of %d", err, fewer, ops)
		spec.Args = b.args(fmt.Sprintf("%dx", fewer))
		st, parts, err = r.runAgain(ctx, start, spec, i)
	}
	if err != nil {
		return st, nil, err
	}
	text, err := os.ReadFile(spec.Stdout)
	if err != nil {
		return st, nil, fmt.Errorf("read what the benchmarks printed: %w", err)
	}
	if lines := parseBench(text); len(lines) == 1 {
		st.phase.Requests = lines[0].Iterations
		st.phase.Windows[0].Requests = lines[0].Iterations
	}
	return st, parts, nil
}

// A run with an instrument may take slowestAgain times as long as a run without, and freeAgain in
// any case. Most take 1.0 to 3 times as long (docs/overhead.md), a bytecode interpreter 70 times.
const (
	slowestAgain = 10
	freeAgain    = 30 * time.Second // see world
)

// slowError says that a run with an instrument was stopped because it took too long.
type slowError struct {
	plain, limit time.Duration
	// cut has what was counted until then; nil if the program did not say.
	cut *cutCounts
}

// cutCounts is what a run that was stopped had counted.
type cutCounts struct {
	stretch
	meta, counters []byte
}

func (e *slowError) Error() string {
	return fmt.Sprintf("a run with counters was stopped after %.3g s; without counters it takes %.3g s", e.limit.Seconds(), e.plain.Seconds())
}

// patienceAgain returns how long a run with an instrument may take: plain is how long a run of the
// clean phase took, or as many operations of its benchmark.
func (r *recorder) patienceAgain() *slowError {
	clean := r.kept(recording.PhaseClean).phase
	seconds := clean.Seconds / float64(max(clean.Runs, 1))
	if r.o.Bench != "" {
		_, counted := r.opsAgain()
		seconds = max(seconds, counted)
	}
	plain := time.Duration(seconds * float64(time.Second))
	return &slowError{plain: plain, limit: max(r.world.freeAgain, slowestAgain*plain)}
}

// runAgain runs the program to its end, unless it takes so long that a slowError says so.
func (r *recorder) runAgain(ctx context.Context, start startFunc, spec target.RunSpec, i instrument) (stretch, map[string][]byte, error) {
	spec.Collect = i.collect
	began := time.Now()
	proc, err := start(ctx, spec)
	if err != nil {
		return stretch{}, nil, err
	}
	slow := r.patienceAgain()
	limited, cancel := context.WithTimeout(ctx, slow.limit)
	_, err = r.watch(limited, proc, nil)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		slow.cut = readCut(ctx, proc, i, began)
		err = slow
	}
	cancel()
	r.stop(ctx, proc)
	if err != nil {
		return stretch{}, nil, err
	}
	one := run{began: began, exit: proc.Exit()}
	if why := one.exit.Failure(); why != "" && !one.finished() {
		return stretch{}, nil, errors.New("the program failed: " + why)
	}
	parts, missing := proc.Parts()
	for _, name := range i.parts {
		if len(parts[name]) == 0 {
			return stretch{}, nil, errors.New(cmp.Or(missing[name], "the program sent none"))
		}
	}
	st := stretch{phase: recording.Phase{
		Name: i.phase, Runs: 1, Start: began.UTC(), Seconds: one.wall(), CPUSeconds: one.cpu(),
		Windows: []recording.Window{{Seconds: one.wall(), CPUSeconds: one.cpu()}},
	}}
	return st, parts, nil
}

// readCut reads what a run has counted that has to be stopped; nil if that is not possible.
func readCut(ctx context.Context, proc process, i instrument, began time.Time) *cutCounts {
	c, ok := proc.(counter)
	if !ok || !i.collect.Counters {
		return nil
	}
	meta, err := c.CountersMeta(ctx)
	if err != nil {
		return nil
	}
	counters, err := c.Counters(ctx)
	if err != nil {
		return nil
	}
	seconds := time.Since(began).Seconds()
	return &cutCounts{
		stretch: stretch{phase: recording.Phase{
			Name: i.phase, Runs: 1, Cut: true, Start: began.UTC(), Seconds: seconds, Windows: []recording.Window{{Seconds: seconds}},
		}},
		meta: meta, counters: counters,
	}
}
