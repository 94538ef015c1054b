package target

import (
	"context"
	"errors"
	"io"
	"time"
)

// ProbeFile is the base name of the overlay file that holds the probe, as it appears in profiles'
// frames. Its costs are hone's, not the program's.
const ProbeFile = "0hone_probe.go"

// probeTestFile is the same file in a package's test binary.
const probeTestFile = "0hone_probe_test.go"

// IsProbeFile reports whether a frame's file (its base name) is the probe.
func IsProbeFile(base string) bool { return base == ProbeFile || base == probeTestFile }

// ErrEnded is wrapped by the error for a request to a program that has exited.
var ErrEnded = errors.New("the program has exited")

// Missing is the error for something that a program does not offer.
type Missing struct {
	What string // "mutex profile"
	Why  string // "the service answers 404 at /debug/pprof/mutex"
	How  string // "mount net/http/pprof's Index handler"
}

func (m *Missing) Error() string {
	s := m.What + " is not available"
	if m.Why != "" {
		s += ": " + m.Why
	}
	if m.How != "" {
		s += " (" + m.How + ")"
	}
	return s
}

// Program is a running program under measurement: a Process that hone built with its probe, or a
// Remote behind pprof endpoints. A method returns a *Missing when the program does not offer what
// it asks for. Profiles are returned as the runtime writes them (gzip-compressed pprof, or text).
//
// Methods may be called concurrently: a Usage during a CPUProfile is answered at once. A ctx
// without a deadline gets one that no healthy program misses.
type Program interface {
	Info(ctx context.Context) (Info, error)
	// Profile takes a named profile ("heap", "allocs", "goroutine", "block", "mutex",
	// "threadcreate", "goroutineleak"); debug 0 is pprof, 1 and 2 are text. gc collects
	// first (heap only, where the endpoint decides).
	Profile(ctx context.Context, name string, debug int, gc bool) ([]byte, error)
	// CPUProfile profiles for d. A program that exits before delivers what it has.
	CPUProfile(ctx context.Context, d time.Duration) ([]byte, error)
	// Trace writes an execution trace with CPU samples in it, of at most d and about maxBytes (0:
	// no limit). truncated reports that maxBytes ended it.
	Trace(ctx context.Context, w io.Writer, d time.Duration, maxBytes int64) (truncated bool, err error)
	// SetRates sets the sampling rates of blocking (ns) and mutexes (1/n). 0 switches off, a
	// negative one is left alone; restore sets the old ones again. notes says what could not be
	// read or restored. A mutex that has waiters when its rate is raised yields no samples until
	// its queue has been empty once (runtime/sema.go: dequeue passes on the oldest waiter's missing
	// time); the block profile has those waits.
	SetRates(ctx context.Context, block, mutex int) (restore func(context.Context) error, notes []string, err error)
	// SetGC sets the GC percent (negative: off) and the memory limit (0: none); nil leaves a value
	// alone. It returns the old ones in the same form.
	SetGC(ctx context.Context, percent *int, limit *int64) (oldPercent int, oldLimit int64, err error)
	// Metrics reads runtime/metrics: float64, uint64 (as float64) or histograms reduced to
	// {p50,p99,max,count}.
	Metrics(ctx context.Context) (Metrics, error)
	// Usage is the process's CPU time and memory so far.
	Usage(ctx context.Context) (Usage, error)
	// Done is closed when the program is known to have ended.
	Done() <-chan struct{}
	// Exit returns how it ended, after Done; as an error it names the exit code or signal and the
	// last lines on stderr.
	Exit() Exit
	// Stop stops the program (a Process: terminate, then kill, including its children) or detaches
	// from it (a Remote).
	Stop(ctx context.Context) error
}

// Info is what a program reports about itself.
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
	Known      bool  // false: behind endpoints that report none of it
}

// Metrics are runtime/metrics by name.
type Metrics map[string]Metric

// Metric is a number, or a histogram's summary.
type Metric struct {
	Value float64     `json:"v"`
	Hist  *MetricHist `json:"h,omitempty"`
}

// MetricHist summarizes a runtime/metrics histogram since the program's start. The quantiles are
// upper bounds of buckets (the lower one where a bucket is open).
type MetricHist struct {
	Count uint64  `json:"n"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Usage is what a process has used so far.
type Usage struct {
	CPUSeconds float64 // user + system
	RSSBytes   int64   // now; 0 unknown
	MaxRSS     int64   // so far; 0 unknown
	// SystemSeconds is the part of CPUSeconds in the kernel, in steps of 10 ms; PageFaults counts
	// those that read nothing from a disk. ChildCPUSeconds is of the processes that it started and
	// has waited for, not in CPUSeconds. They are 0 where unknown: for a program that still runs
	// outside Linux, and where the probe did not see its exit.
	SystemSeconds   float64
	PageFaults      int64
	ChildCPUSeconds float64
}

// needProbe is the remedy for what only the probe offers.
const needProbe = "let hone build and start the program with Go 1.23 or newer"
