package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
)

// service is a recording of a program that keeps running.
type service struct {
	*recorder
	prog    target.Program
	gen     generator       // nil: observed without load
	local   bool            // runs on this machine
	noUsage bool            // its CPU time is not available
	silence silence         // of its answers
	answers [][]load.Answer // to a sample of the requests
	bodies  bool            // the load looks at the bodies of answers
}

// recordURL records a service that hone did not start.
func (r *recorder) recordURL(ctx context.Context) error {
	r.phase = phaseAttach
	began := time.Now()
	r.say(Event{Phase: r.phase, Text: r.o.URL})
	prog, err := r.world.attach(ctx, r.o.URL, r.o.Attach)
	if err != nil {
		return err
	}
	defer r.stop(ctx, prog)
	r.say(Event{Phase: r.phase, Text: r.o.URL + " answers", At: since(began), End: true})

	s := &service{recorder: r, prog: prog, local: isLocal(r.o.URL)}
	if s.local {
		r.onThisMachine()
	} else {
		r.note("the machine of the service is unknown: %s is not this one", r.o.URL)
	}
	return s.record(ctx)
}

// isLocal reports whether a URL's host is this machine's loopback.
func isLocal(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// record runs all phases of a service that is up.
func (s *service) record(ctx context.Context) error {
	s.describeTarget(ctx, s.prog)
	if s.o.Load != nil {
		if err := s.beginLoad(ctx); err != nil {
			return err
		}
		defer s.gen.Stop()
		if err := s.warmUp(ctx); err != nil {
			return err
		}
	}
	if err := s.begin(); err != nil {
		return err
	}
	var before target.Metrics
	if s.tries() {
		before = s.pollMetrics(ctx, s.prog)
	}
	for _, st := range plan(s.o.Duration, s.o.Phases) {
		if st.phase == recording.PhaseTrace {
			st.length = traceLength(st.length, s.o.Duration, s.slowRequest())
		}
		if err := s.runPhase(ctx, st); err != nil {
			return err
		}
	}
	if _, err := s.driven(ctx, func() (stretch, error) { return stretch{}, s.rest(ctx) }); err != nil || before == nil {
		return err
	}
	return s.trial(ctx, before)
}

// slowRequest returns how long the slowest tenth of the requests takes at least, in the last phase
// that shows it; 0 when that is not known.
func (s *service) slowRequest() time.Duration {
	for _, name := range []string{recording.PhaseCPU, recording.PhaseClean} {
		if q := s.kept(name).phase.Service; q != nil {
			return time.Duration(q.P90 * float64(time.Second))
		}
	}
	return 0
}

// beginLoad tries the targets once and starts the one load of the recording.
func (s *service) beginLoad(ctx context.Context) error {
	s.phase = phaseLoad
	// The generator's own bounds are not the recording's.
	o := *s.o.Load
	o.MaxRequests, o.MaxDuration, o.Timeout = 0, 0, s.o.requestTimeout()
	o.Bodies = s.bodies
	if err := s.tryLoad(ctx, o); err != nil {
		if end := s.ended(ctx, s.prog, nil); end != nil {
			return end
		}
		return fmt.Errorf("the load would only get errors: %w%s", err, s.lastWords())
	}
	for range 2 * min(1, s.o.Answers) {
		a, err := s.world.answers(ctx, o, s.o.Answers)
		if err != nil {
			return fmt.Errorf("ask for answers to compare: %w", err)
		}
		s.answers = append(s.answers, a)
	}
	gen, err := s.world.startLoad(ctx, o)
	if err != nil {
		return fmt.Errorf("start the load: %w", err)
	}
	s.gen = gen
	return nil
}

// runPhase runs one of clean, cpu, contention and trace.
func (s *service) runPhase(ctx context.Context, st step) error {
	s.phase = st.phase
	began := time.Now()
	s.say(Event{Phase: st.phase, Text: "", Of: st.length})
	seen, err := s.driven(ctx, func() (stretch, error) {
		switch st.phase {
		case recording.PhaseCPU:
			return s.cpuPhase(ctx, st.length)
		case recording.PhaseContention:
			return s.contentionPhase(ctx, st.length)
		case recording.PhaseTrace:
			return s.tracePhase(ctx, st.length)
		}
		return s.measure(ctx, st.length, nil)
	})
	if seen.phase.Seconds > 0 {
		all := s.kept(st.phase)
		all.join(seen)
		s.keep(all)
	}
	if st.phase == recording.PhaseClean {
		if lerr := s.addLoadParts(); err == nil {
			err = lerr
		}
		if aerr := s.addAnswers(); err == nil {
			err = aerr
		}
	}
	if cerr := s.checkpoint(); err == nil {
		err = cerr
	}
	s.say(Event{Phase: st.phase, Text: s.summary(seen), At: since(began), Of: st.length, End: true})
	return err
}

// addAnswers writes what the service answered to a sample of the requests.
func (s *service) addAnswers() error {
	if len(s.answers) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(s.answers, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", recording.PartAnswers, err)
	}
	return s.add(recording.PartAnswers, s.phase, append(text, '\n'))
}

// summary puts a phase into a line.
func (s *service) summary(st stretch) string {
	p := st.phase
	if p.Seconds <= 0 {
		return "could not be had"
	}
	var words []string
	if s.gen != nil {
		words = append(words, answered(p.Requests, p.Seconds))
		if p.Failed > 0 {
			words = append(words, fmt.Sprintf("%d failed", p.Failed))
		}
		if p.Outcome != nil && p.Outcome.Trouble() != "" {
			words = append(words, p.Outcome.Trouble())
		}
		if p.CPUSeconds > 0 && p.Requests > 0 {
			words = append(words, perRequest(p.CPUSeconds/float64(p.Requests))+" CPU per request")
		}
	}
	if p.CPUSeconds > 0 {
		words = append(words, fmt.Sprintf("%.2f CPUs", p.CPUSeconds/p.Seconds))
	}
	if p.Verdict != "" && p.Verdict != load.VerdictOK {
		words = append(words, string(p.Verdict))
	}
	return strings.Join(words, ", ")
}

// warmUp waits until the throughput is steady.
func (s *service) warmUp(ctx context.Context) error {
	if s.o.Warmup < 0 {
		return nil
	}
	s.phase = recording.PhaseWarmup
	began := time.Now()
	s.say(Event{Phase: s.phase, Of: s.o.Warmup})
	var st stretch
	s.gen.Cut()
	first := s.read(ctx)
	last := first
	steady := false
	for !steady && time.Since(began) < s.o.Warmup {
		due := minTime(last.at.Add(s.world.tick), began.Add(s.o.Warmup))
		if _, err := s.wait(ctx, due, nil, nil); err != nil {
			return err
		}
		last = s.addWindow(ctx, &st, last, true)
		if err := s.hangs(); err != nil {
			return err
		}
		steady = isSteady(st.samples)
		s.say(Event{Phase: s.phase, Text: s.describe(&st), At: since(began), Of: s.o.Warmup})
	}
	first.figures(&st.phase, last)
	st.phase.Name = s.phase
	st.addLoad()
	s.keep(st)
	text := "steady"
	if !steady {
		text = fmt.Sprintf("not steady after %s (%s); going on", s.o.Warmup, spread(st.samples))
		s.note("the throughput did not become steady within %s of warm-up (%s)", s.o.Warmup, spread(st.samples))
	}
	s.say(Event{Phase: s.phase, Text: text + ", " + s.summary(st), At: since(began), Of: s.o.Warmup, End: true})
	if why := overload(s.o.Load, st.loads); why != "" {
		s.note("%s", why)
		s.say(Event{Phase: s.phase, Text: why, At: since(began), Of: s.o.Warmup, End: true})
	}
	return nil
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

const (
	steadyWindows = 3    // so many windows in a row
	steadySpread  = 0.05 // within this share of their mean
)

// isSteady reports whether the throughputs of the last windows are close together.
func isSteady(samples []sample) bool {
	if len(samples) < steadyWindows {
		return false
	}
	share, ok := spreadOf(samples)
	return ok && share <= steadySpread
}

// spreadOf returns the range of the last windows' throughputs divided by their mean.
func spreadOf(samples []sample) (float64, bool) {
	xs := known(samples[max(0, len(samples)-steadyWindows):], func(s sample) float64 { return s.throughput })
	if len(xs) < 2 {
		return 0, false
	}
	lo, hi, sum := xs[0], xs[0], 0.0
	for _, x := range xs {
		lo, hi, sum = min(lo, x), max(hi, x), sum+x
	}
	if sum == 0 {
		return 0, false
	}
	return (hi - lo) / (sum / float64(len(xs))), true
}

func spread(samples []sample) string {
	share, ok := spreadOf(samples)
	if !ok {
		return "too few answers to tell"
	}
	return fmt.Sprintf("the last windows differ by %.0f %%", 100*share)
}

// only turns the error of a part into the reason why it is missing, and passes on an error that
// ends the recording.
func (s *service) only(ctx context.Context, part string, err error) error {
	if err == nil {
		return nil
	}
	if end := s.ended(ctx, s.prog, s.gen); end != nil {
		return end
	}
	var end *endError
	if errors.As(err, &end) {
		return end
	}
	s.missing(part, err)
	return nil
}
