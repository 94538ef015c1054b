package target

import (
	"context"
	"io"
	"time"
)

// ProbeFile is the base name of the overlay file that holds the probe, as it
// stands in profiles' frames. What it costs is hone's, not the program's.
const ProbeFile = "0hone_probe.go"

// Missing is the error for something that a program does not offer.
type Missing struct {
	What string // "mutex profile"
	Why  string // "the service answers 404 at /debug/pprof/mutex"
	How  string // "mount net/http/pprof's Index handler"
}

func (m *Missing) Error() string { panic("contract") }

// Program is a running program under measurement: a Process that hone built
// with its probe, or a Remote behind pprof endpoints. Every method answers a
// *Missing when the program does not offer the thing. Profiles are returned as
// the runtime writes them (gzip'd pprof, or text).
type Program interface {
	Info(ctx context.Context) (Info, error)
	// Profile takes a named profile ("heap", "allocs", "goroutine", "block", "mutex",
	// "threadcreate", "goroutineleak"); debug 0 is pprof, 1 and 2 are text. gc collects
	// first (heap only, where the endpoint decides).
	Profile(ctx context.Context, name string, debug int, gc bool) ([]byte, error)
	CPUProfile(ctx context.Context, d time.Duration) ([]byte, error)
	// Trace writes an execution trace with CPU samples in it, of at most d and about maxBytes.
	// truncated tells that maxBytes ended it.
	Trace(ctx context.Context, w io.Writer, d time.Duration, maxBytes int64) (truncated bool, err error)
	// SetRates sets block (ns) and mutex (1/n) sampling; it returns what restores the old ones.
	// notes says what could not be read or restored.
	SetRates(ctx context.Context, block, mutex int) (restore func(context.Context) error, notes []string, err error)
	// SetGC sets GC percent and memory limit; a nil leaves that one alone. It returns the old ones.
	SetGC(ctx context.Context, percent *int, limit *int64) (oldPercent int, oldLimit int64, err error)
	// Metrics reads runtime/metrics: float64, uint64 (as float64) or histograms reduced to {p50,p99,max,count}.
	Metrics(ctx context.Context) (Metrics, error)
	// Usage is the process's CPU time and memory so far.
	Usage(ctx context.Context) (Usage, error)
	// Done is closed when the program is known to have ended.
	Done() <-chan struct{}
	// Exit says how it ended, after Done; its error form names exit code or signal and the last stderr lines.
	Exit() Exit
	// Stop ends the program (a Process: interrupt, then kill, its children too) or lets go of it (a Remote).
	Stop(ctx context.Context) error
}

// Info is what a program says of itself.
type Info struct {
	PID        int
	Go         string // "go1.26.8"
	BuildInfo  string // text of debug.BuildInfo, "" when unknown
	GOOS       string
	GOARCH     string
	GOMAXPROCS int
	GOGC       int   // percent; -1 off
	GOMEMLIMIT int64 // bytes; 0 none
	Listening  bool  // a goroutine waits in Accept: a service
	Known      bool  // false: behind endpoints that tell none of it
}

// Metrics are runtime/metrics by name.
type Metrics map[string]Metric

// Metric is a number, or a histogram's summary.
type Metric struct {
	Value float64     `json:"v"`
	Hist  *MetricHist `json:"h,omitempty"`
}

// MetricHist summarises a runtime/metrics histogram.
type MetricHist struct {
	Count uint64  `json:"n"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Usage is a process's consumption so far.
type Usage struct {
	CPUSeconds float64 // user + system
	RSSBytes   int64   // now; 0 unknown
	MaxRSS     int64   // so far; 0 unknown
}

// Exit says how a program ended.
type Exit struct {
	Code   int    // -1 by signal
	Signal string // "killed"
	Wall   time.Duration
	Usage  Usage    // by the kernel, the whole process
	Stderr []string // last lines
}

// Failure describes a bad end in one line ("exit code 2; last lines on stderr: …"), "" for a good one.
func (e Exit) Failure() string { panic("contract") }

// BuildSpec says what to build.
type BuildSpec struct {
	Package    string   // "./cmd/server", an import path, a directory, or one in the module cache
	Dir        string   // where Package is looked up; "" = the working directory
	Bench      bool     // build the package's test binary instead of a main package
	BuildFlags []string // the user's -build flags, merged with GOFLAGS and hone's own
	WorkDir    string   // where hone may write (its cache); the user's tree is never written
	NoProbe    bool     // build plainly
}

// Binary is a built target.
type Binary struct {
	Path       string // of the executable, inside WorkDir
	ImportPath string
	Module     string
	Dir        string // of the package's sources
	Go         string // toolchain that built it
	GoCommand  string // the go command used
	Probe      bool   // has the probe (Go 1.23 or newer)
	BuildFlags []string
	Notes      []string // e.g. why there is no probe
	Took       time.Duration
}

// BuildError is a failed build, with the compiler's words.
type BuildError struct {
	Package string
	Output  string
	Err     error
}

func (e *BuildError) Error() string { panic("contract") }
func (e *BuildError) Unwrap() error { return e.Err }

// Build builds the package with the probe.
func Build(ctx context.Context, s BuildSpec) (*Binary, error) { panic("contract") }

// Collect is what the probe gathers from its start to the program's end, for
// programs that run and end.
type Collect struct {
	CPU        bool
	Allocs     bool // heap profile after a GC at start and at end
	Contention bool // block and mutex, rates raised from the start
	Trace      bool
	TraceBytes int64 // cap
}

// RunSpec says how to run a built target.
type RunSpec struct {
	Args    []string
	Dir     string   // working directory; "" = the caller's
	Env     []string // added to the caller's environment
	Stdout  string   // file that takes (the first OutputCap bytes of) the output
	Stderr  string
	Collect Collect
}

// OutputCap bounds the stdout and stderr files; what comes after is counted and dropped.
const OutputCap = 8 << 20

// Process is a started target.
type Process struct{}

var _ Program = (*Process)(nil)

// Start starts the binary. It does not wait for readiness.
func (b *Binary) Start(ctx context.Context, s RunSpec) (*Process, error) { panic("contract") }

// Parts are what Collect asked for, by name ("cpu", "allocs" (delta's two ends: "heap.start", "heap.end"),
// "block", "mutex", "trace"), after Done. missing says why one is not there.
func (p *Process) Parts() (parts map[string][]byte, missing map[string]string) { panic("contract") }

// WaitReady waits until the address answers (TCP connect), the program ends, or ctx does.
func WaitReady(ctx context.Context, p Program, addr string) error { panic("contract") }

// Remote is a service taken through its pprof endpoints.
type Remote struct{}

var _ Program = (*Remote)(nil)

// AttachOptions says how to reach the endpoints.
type AttachOptions struct {
	Prefix string // where net/http/pprof is mounted; "" = /debug/pprof/
	Header [][2]string
	// TLS etc. are added with the flags that need them.
}

// Attach checks that url answers with pprof profiles and says what it offers.
func Attach(ctx context.Context, url string, o AttachOptions) (*Remote, error) { panic("contract") }
