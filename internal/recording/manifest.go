package recording

import (
	"cmp"
	"path"
	"path/filepath"
	"time"

	"github.com/hone-go/hone/load"
)

// Schema is the version of the manifest that this package writes.
const Schema = "hone/recording/v1"

// Names of the parts.
const (
	PartCPU          = "cpu.pprof"
	PartAllocs       = "allocs.pprof" // what was allocated in the cpu phase; its in-use columns are the growth of the live heap
	PartHeap         = "heap.pprof"
	PartGoroutine    = "goroutine.pprof"
	PartGoroutineTxt = "goroutine.txt"
	PartBlock        = "block.pprof"
	PartMutex        = "mutex.pprof"
	PartThreads      = "threadcreate.pprof"
	PartLeaks        = "goroutineleak.pprof"
	PartTrace        = "trace.out"
	PartMetrics      = "metrics.jsonl"
	PartLoad         = "load.json"
	PartLoadHDR      = "load.hdr"
	PartBuildInfo    = "buildinfo.txt"
	PartBench        = "bench.txt"
	PartStdout       = "stdout.txt"
	PartStderr       = "stderr.txt"
	PartAnswers      = "answers.json" // answers to a sample of the load's requests, before the load started: [][]load.Answer
	// PartCounts is the folder with the execution counters, in Go's coverage format.
	PartCounts = "counts"
	PartInputs = "inputs.json" // of functions: see package inputs
	// Profiles of the target with newer releases of dependencies: see Upgrade.
	PartUpgradeCPU    = "upgrade/" + PartCPU
	PartUpgradeAllocs = "upgrade/" + PartAllocs
)

// Names of the phases.
const (
	PhaseWarmup     = "warmup"
	PhaseClean      = "clean"
	PhaseCPU        = "cpu"
	PhaseContention = "contention"
	PhaseTrace      = "trace"
	PhaseRest       = "rest"
	PhaseGOGC       = "gogc"    // in which a setting of the collector is tried: see Trial
	PhaseLeaks      = "leaks"   // goroutines that nothing can wake; in a separate process if the runtime has that profile only as an experiment
	PhaseCounts     = "counts"  // executions, in a separate process with counters; not for URL targets
	PhaseInputs     = "inputs"  // of functions, in a separate process; not for URL targets
	PhaseUpgrade    = "upgrade" // in which newer releases of dependencies are tried: see Upgrade
)

// Apart reports whether a phase runs in a separate process, whose memory and goroutines are not
// those of the other phases.
func Apart(phase string) bool {
	return phase == PhaseLeaks || phase == PhaseCounts || phase == PhaseInputs || phase == PhaseUpgrade
}

// Manifest describes a recording: what ran, where, under which load, and which parts are available.
// Absent values are omitted, not zero.
type Manifest struct {
	Schema   string    `json:"schema"`
	ID       string    `json:"id"`
	Created  time.Time `json:"created"`
	Hone     string    `json:"hone"` // version of hone that recorded
	Complete bool      `json:"complete"`

	Target  Target    `json:"target"`
	Runtime Runtime   `json:"runtime"`
	Machine Machine   `json:"machine"`
	Load    *Load     `json:"load,omitempty"`
	Phases  []Phase   `json:"phases"`
	Trial   *Trial    `json:"gogc_trial,omitempty"`
	Upgrade *Upgrade  `json:"upgrade,omitempty"`
	Inits   []Init    `json:"inits,omitempty"` // of packages, in a run of a program that exits, longest first; absent in older recordings
	Parts   []Part    `json:"parts"`
	Missing []Missing `json:"missing,omitempty"`
	Notes   []string  `json:"notes,omitempty"`
}

// Init is the initialisation of a package, as the runtime traced it: its variables and init
// functions, without those of the packages that it imports.
type Init struct {
	Package      string  `json:"package"` // import path; "main"
	Seconds      float64 `json:"seconds"`
	AllocBytes   int64   `json:"alloc_bytes"`
	AllocObjects int64   `json:"alloc_objects"`
}

// Target is what was measured and how to find its code again.
type Target struct {
	Kind       string   `json:"kind"` // "service", "program", "bench", "url"
	Arg        string   `json:"arg"`  // as the user typed it
	ImportPath string   `json:"import_path,omitempty"`
	Dir        string   `json:"dir,omitempty"`     // absolute directory of the package
	RunDir     string   `json:"run_dir,omitempty"` // working directory of the program
	Args       []string `json:"args,omitempty"`
	Env        []string `json:"env,omitempty"`         // of the variables that the runtime and the compiler read: "GODEBUG=…"
	Stdin      string   `json:"stdin,omitempty"`       // the program's standard input: a file, or how many bytes of hone's own
	BuildFlags []string `json:"build_flags,omitempty"` // the user's, merged; without hone's own
	Bench      string   `json:"bench,omitempty"`
	URL        string   `json:"url,omitempty"`
	// LoadCommand is the command line of an external load generator, which hone started with each
	// phase.
	LoadCommand string `json:"load_command,omitempty"`
	Probe       bool   `json:"probe"` // profiled by the probe, else through endpoints
	PID         int    `json:"pid,omitempty"`
	ExitCode    *int   `json:"exit_code,omitempty"`
}

// Name returns what the program is called in reports: as the user typed it, or the import path if
// that is only the way to a directory, such as ".".
func (t Target) Name() string {
	switch path.Base(filepath.ToSlash(t.Arg)) {
	case ".", "..":
		return cmp.Or(t.ImportPath, t.Arg)
	}
	return t.Arg
}

// Runtime is what the program reports about its runtime.
type Runtime struct {
	Go         string `json:"go,omitempty"`
	Module     string `json:"module,omitempty"`
	Version    string `json:"version,omitempty"`
	Revision   string `json:"revision,omitempty"`
	Dirty      bool   `json:"dirty,omitempty"`
	GOOS       string `json:"goos,omitempty"`
	GOARCH     string `json:"goarch,omitempty"`
	GOAMD64    string `json:"goamd64,omitempty"`
	GOMAXPROCS int    `json:"gomaxprocs,omitempty"`
	GOGC       int    `json:"gogc,omitempty"`       // percent; -1 = off
	GOMEMLIMIT int64  `json:"gomemlimit,omitempty"` // bytes; 0 = none
}

// Machine is what the program ran on.
type Machine struct {
	CPU         string  `json:"cpu,omitempty"`
	Cores       int     `json:"cores,omitempty"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	CgroupCPUs  float64 `json:"cgroup_cpus,omitempty"`         // quota; 0 = none known
	CgroupBytes int64   `json:"cgroup_memory_bytes,omitempty"` // limit; 0 = none known
	Throttled   float64 `json:"throttled_seconds,omitempty"`   // seen during the recording
	Kernel      string  `json:"kernel,omitempty"`
}

// Load is the load's specification.
type Load struct {
	Targets     []string `json:"targets"` // "GET http://…"
	Rate        float64  `json:"rate"`    // 0 = closed loop
	Connections int      `json:"connections"`
	Digest      string   `json:"digest,omitempty"` // SHA-256 of all requests' headers and bodies, in hexadecimal
	Expect      string   `json:"expect,omitempty"` // the statuses that are successes; "" = all below 400
}

// Quantiles are in seconds.
type Quantiles struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99.9"`
	Max  float64 `json:"max"`
}

// Window is a part of a phase, about a second long, so that figures have a spread.
type Window struct {
	Seconds      float64 `json:"seconds"`
	Requests     int64   `json:"requests,omitempty"`
	CPUSeconds   float64 `json:"cpu_seconds,omitempty"`
	AllocBytes   int64   `json:"alloc_bytes,omitempty"`
	AllocObjects int64   `json:"alloc_objects,omitempty"`
	// Failed requests: transport errors and statuses that are not expected. Recordings of hone
	// before this field have none.
	Failed int64 `json:"failed,omitempty"`
	// LagP99 is by how much the load generator was late, in seconds; absent in a closed loop.
	LagP99 float64 `json:"lag_p99,omitempty"`
	// Quantiles are of latency if the load has a schedule, otherwise of service time.
	Quantiles *Quantiles `json:"quantiles,omitempty"`
}

// Phase is a part of the recording under one kind of observation. The clean phase is two parts,
// before and after the others, added up. For a program that exits, a phase is one or more runs of
// it, one window each.
type Phase struct {
	Name    string    `json:"name"`
	Start   time.Time `json:"start"`
	Seconds float64   `json:"seconds"`
	Runs    int       `json:"runs,omitempty"`
	// Cut says that the run was stopped before its end, because it took too long with counters.
	Cut      bool          `json:"cut,omitempty"`
	Requests int64         `json:"requests,omitempty"`
	Failed   int64         `json:"failed,omitempty"`
	Missed   int64         `json:"missed,omitempty"`  // scheduled, but not sent or not answered in time
	Outcome  *load.Outcome `json:"outcome,omitempty"` // outcomes of the requests; absent in older recordings
	// Bodies sums up the bodies of the answers in phase inputs; absent in older recordings.
	Bodies *load.Bodies `json:"bodies,omitempty"`

	Latency *Quantiles   `json:"latency,omitempty"` // from the schedule; absent in a closed loop
	Service *Quantiles   `json:"service,omitempty"`
	Lag     *Quantiles   `json:"lag,omitempty"`
	Verdict load.Verdict `json:"verdict,omitempty"` // the load generator's

	CPUSeconds float64 `json:"cpu_seconds,omitempty"` // of the process, user + system
	// SystemCPUSeconds is the part of CPUSeconds in the kernel, PageFaults the number of faults
	// that read nothing from a disk. ChildCPUSeconds is the CPU time of processes that the program
	// started and waited for, which CPUSeconds excludes. All three are known for services on Linux
	// and for programs that exit; else absent.
	SystemCPUSeconds float64 `json:"system_cpu_seconds,omitempty"`
	PageFaults       int64   `json:"page_faults,omitempty"`
	ChildCPUSeconds  float64 `json:"child_cpu_seconds,omitempty"`
	RSSBytes         int64   `json:"rss_bytes,omitempty"`      // at the end; for programs that run and exit, the most of any run
	PeakRSSBytes     int64   `json:"peak_rss_bytes,omitempty"` // of a service, since it started; absent in older recordings
	AllocBytes       int64   `json:"alloc_bytes,omitempty"`    // during the phase, by runtime/metrics
	AllocObjects     int64   `json:"alloc_objects,omitempty"`
	GCCycles         int64   `json:"gc_cycles,omitempty"` // within the phase's seconds
	// GCSeconds is the CPU time of the collector during the phase, without its work on CPUs that
	// were idle, by runtime/metrics: the time for which it held CPUs, which exceeds its CPU time if
	// other processes took them. BusySeconds is that of everything by the same clock, until the
	// last collection. LockSeconds is the total time for which goroutines waited for mutexes. They
	// are absent if the runtime does not count them, and in older recordings.
	GCSeconds   *float64 `json:"gc_seconds,omitempty"`
	BusySeconds *float64 `json:"busy_seconds,omitempty"`
	LockSeconds *float64 `json:"lock_wait_seconds,omitempty"`
	// Leaked is the number of goroutines that nothing can wake that appeared in phase leaks; absent
	// if the phase did not run.
	Leaked    *int64  `json:"leaked_goroutines,omitempty"`
	ForcedGC  int64   `json:"forced_gc,omitempty"` // forced by hone, before and after those seconds; not in GCCycles
	Throttled float64 `json:"throttled_seconds,omitempty"`

	// What else kept the machine busy: CPU seconds of the load generator, and of everything on the
	// machine, including the program and the generator. StolenCPUSeconds is the part of
	// MachineCPUSeconds that the hypervisor gave to other guests while something here was ready to
	// run.
	GeneratorCPUSeconds float64 `json:"generator_cpu_seconds,omitempty"`
	MachineCPUSeconds   float64 `json:"machine_cpu_seconds,omitempty"`
	StolenCPUSeconds    float64 `json:"stolen_cpu_seconds,omitempty"`

	// Benchmarks are those of a recording with -bench, in the order in which they ran. Their
	// iterations are not Requests: operations of different benchmarks do not add up.
	Benchmarks []Benchmark `json:"benchmarks,omitempty"`

	Windows  []Window  `json:"windows,omitempty"`
	Observer *Observer `json:"observer,omitempty"`
}

// Observer is the overhead of a phase against the clean phase: shares, with the 95 % interval that
// the spread of the windows gives. Without load, or at a rate that the program keeps up with, the
// loss of throughput says nothing and the growth of CPU does.
type Observer struct {
	// NoThroughput and NoCPU report that the figures of that name are not known: no load, no way to
	// read the CPU time, or too few windows.
	NoThroughput bool `json:"no_throughput,omitempty"`
	NoCPU        bool `json:"no_cpu,omitempty"`

	ThroughputLoss float64 `json:"throughput_loss"` // 0.02 = 2 % fewer requests/s (or longer wall)
	ThroughputLow  float64 `json:"throughput_low"`
	ThroughputHigh float64 `json:"throughput_high"`
	CPUGrowth      float64 `json:"cpu_growth"` // CPU per request (per run; without load per second)
	CPUGrowthLow   float64 `json:"cpu_growth_low"`
	CPUGrowthHigh  float64 `json:"cpu_growth_high"`
}

// Part is one file of the recording.
type Part struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Phase  string `json:"phase,omitempty"`
}

// Missing is a part that is not available, why, and how to get it.
type Missing struct {
	Part string `json:"part"`
	Why  string `json:"why"`
	How  string `json:"how,omitempty"`
}

// Trouble is the outcome of all requests of the clean phase when none of them succeeded; see
// load.Outcome.
func (m *Manifest) Trouble() string {
	ph, ok := m.Phase(PhaseClean)
	if !ok || ph.Outcome == nil {
		return ""
	}
	return ph.Outcome.Trouble()
}

// CPUFactor returns how many times the CPU per unit of work (see [Manifest.Unit]) of the clean
// phase a phase took; 0 if one of them has no CPU time, or is not counted in such units.
func (m *Manifest) CPUFactor(p *Phase) float64 {
	clean, ok := m.Phase(PhaseClean)
	each := func(p *Phase) float64 {
		units := max(p.Requests, int64(p.Runs))
		if units == 0 || m.Target.Bench != "" {
			return 0
		}
		return p.CPUSeconds / float64(units)
	}
	if !ok || each(&clean) <= 0 {
		return 0
	}
	return each(p) / each(&clean)
}

// PerUnit is the unit of figures in words: "per request", "per operation", "per run"; "" for a
// service that is observed without load, whose figures are per second.
func (m *Manifest) PerUnit() string {
	if m.Load == nil && m.Target.Bench == "" && m.Target.Kind != "program" {
		return ""
	}
	return "per " + m.Unit()
}

// Unit is what figures are divided by: "request" for a service under load, "operation" for
// benchmarks, "run" for a program that exits.
func (m *Manifest) Unit() string {
	switch {
	case m.Target.Bench != "":
		return "operation"
	case m.Load != nil:
		return "request"
	}
	return "run"
}
