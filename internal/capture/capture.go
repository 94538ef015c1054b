package capture

import (
	"context"
	"time"

	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
)

// Options says what to record.
type Options struct {
	// Exactly one of Package and URL.
	Package    string // with Dir; a main package, or with Bench any package
	URL        string
	Bench      string
	Dir        string
	RunDir     string // working directory of the program; "" = the caller's
	Args       []string
	Env        []string
	BuildFlags []string
	Attach     target.AttachOptions

	Load     *load.Options // nil: observe
	Duration time.Duration // of clean to trace together; 0 = 30 s
	Warmup   time.Duration // longest; 0 = 10 s
	Phases   []string      // of cpu, contention, trace; nil = all
	Timeout  time.Duration // for building, readiness and programs that end; 0 = 10 min

	Out      string // path of the recording
	WorkDir  string // hone's cache
	Version  string // hone's, for the manifest
	Arg      string // the target as the user typed it
	Progress func(Event)
}

// Event tells how far a recording is.
type Event struct {
	Phase string        // "build", "start", "warmup", "clean", "cpu", …
	Text  string        // "12,400 requests/s"
	At    time.Duration // since the phase began
	Of    time.Duration // the phase's expected length; 0 unknown
	End   bool          // the phase is over; Text is its summary
}

// Record records and writes Options.Out. On an error after the recording began (the target died,
// ctx ended) the recording up to there is kept, partial is true and the error says what happened;
// nothing is left at Out when nothing was recorded.
func Record(ctx context.Context, o Options) (partial bool, err error) { panic("contract") }
