package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
)

// Options describes what to record.
type Options struct {
	// Exactly one of Package and URL.
	Package  string // with Dir; a main package, or with Bench any package
	URL      string
	Bench    string
	Dir      string
	RunDir   string // working directory of the program; "" = the caller's. A benchmark runs in its package's directory
	Args     []string
	Env      []string // added to the environment of this process
	Settings []string // of that environment what the runtime and the compiler read, for the manifest: "GODEBUG=…"
	// Stdin is a file that every run of the program reads as its standard input; "" = none.
	// StdinFrom, when set, is first read to its end and kept for all runs, since a program that
	// exits is run several times.
	Stdin      string
	StdinFrom  io.Reader
	BuildFlags []string
	BuildEnv   []string // added to the environment of the go command: "GOTOOLCHAIN=go1.27.1"
	Attach     target.AttachOptions

	Load *load.Options // nil: observe
	// LoadCommand is a shell command line that drives the service in place of Load. It is started
	// and stopped with each phase.
	LoadCommand string
	// Answers is how many targets of the load are requested before it starts, twice each, to keep
	// the service's answers: the status and a hash of the body. 0: none.
	Answers int
	// PeakOperations is, by name of a benchmark, the number of operations that run again in a
	// separate process, to measure peak memory. A run of a given time has a different number of
	// operations each time, on which peak memory depends. Other benchmarks do not run again.
	PeakOperations map[string]int64
	// Output, when set, receives what the program and the load command print, as it comes. Writes
	// come one at a time.
	Output   io.Writer
	Duration time.Duration // of clean to trace together; 0 = 30 s. Phase gogc comes after and takes up to half as long
	Warmup   time.Duration // longest; 0 = 10 s, negative = none
	Phases   []string      // of cpu, contention, trace, gogc; nil = all, empty = the clean phase alone
	Timeout  time.Duration // for building, readiness, an answer to a request, and runs of programs that exit; 0 = 10 min

	Out      string // path of the recording
	WorkDir  string // hone's cache
	Version  string // hone's, for the manifest
	Arg      string // the target as the user typed it
	Progress func(Event)
}

// Event reports the progress of a recording. Events come one at a time.
type Event struct {
	Phase string        // "build", "start", "warmup", "clean", "cpu", …
	Text  string        // "12,400 requests/s"
	At    time.Duration // since the phase started
	Of    time.Duration // the phase's expected length; 0 unknown
	End   bool          // the phase is over; Text is its summary

	// For a service, with each finished window; else nil and 0.
	Window   *recording.Window
	HeapLive int64 // bytes that the last collection found in use; 0 unknown
}

const (
	defaultDuration = 30 * time.Second
	defaultWarmup   = 10 * time.Second
	defaultTimeout  = 10 * time.Minute

	// readyLimit bounds the wait for a service's port. One that needs longer has to be started by
	// hand and recorded through its URL.
	readyLimit = 2 * time.Minute
	// stopLimit bounds what happens after the caller's context ended.
	stopLimit = 20 * time.Second
	// maxTraceBytes ends the execution trace.
	maxTraceBytes = 64 << 20
)

// withDefaults checks o and fills in what was left open.
func (o Options) withDefaults() (Options, error) {
	switch {
	case (o.Package == "") == (o.URL == ""):
		return o, errors.New("record: exactly one of a package and a URL is the target")
	case o.URL != "" && o.Bench != "":
		return o, errors.New("record: benchmarks need a package, not a URL")
	case o.Bench != "" && o.Load != nil:
		return o, errors.New("record: a benchmark is its own load")
	case o.LoadCommand != "" && (o.Load != nil || o.Bench != ""):
		return o, errors.New("record: give only one of a load command, a load, and benchmarks")
	case o.Out == "":
		return o, errors.New("record: no file to record into")
	case o.Stdin != "" && (o.URL != "" || o.Bench != ""):
		return o, errors.New("record: only a program that hone starts reads standard input")
	case o.Stdin != "" && o.StdinFrom != nil:
		return o, errors.New("record: the program has one standard input")
	case o.Duration < 0:
		return o, fmt.Errorf("record: duration %s is negative", o.Duration)
	case o.Timeout < 0:
		return o, fmt.Errorf("record: timeout %s is negative", o.Timeout)
	}
	if o.Phases == nil {
		o.Phases = Phases()
	}
	for i, p := range o.Phases {
		if !slices.Contains(Phases(), p) {
			return o, fmt.Errorf("record: no phase %q; there are %s", p, strings.Join(Phases(), ", "))
		}
		if slices.Contains(o.Phases[:i], p) {
			return o, fmt.Errorf("record: phase %s is named twice", p)
		}
	}
	if o.Duration == 0 {
		o.Duration = defaultDuration
	}
	if o.Warmup == 0 {
		o.Warmup = defaultWarmup
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Arg == "" {
		o.Arg = o.Package + o.URL
	}
	return o, nil
}

// kind returns the manifest's word for the target, as far as the options determine it.
func (o Options) kind() string {
	switch {
	case o.URL != "":
		return kindURL
	case o.Bench != "":
		return kindBench
	case o.Load != nil:
		return kindService
	}
	return "" // decided by running it
}

// Values of the manifest's target kind.
const (
	kindService = "service"
	kindProgram = "program"
	kindBench   = "bench"
	kindURL     = "url"
)

// Record makes a recording and writes it to Options.Out. On an error after the recording started
// (the target died, ctx ended) the recording up to there is kept, partial is true and the error
// says what happened. When nothing was recorded, nothing is left at Out. A recording starts with
// its clean phase.
func Record(ctx context.Context, o Options) (partial bool, err error) {
	return record(ctx, o, realWorld())
}
