package diagnose

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/rule"
)

// Schema is the version of Report's JSON form.
const Schema = "hone/findings/v2"

// Report is the result of a diagnosis.
type Report struct {
	Schema    string       `json:"schema"`
	Recording RecordingRef `json:"recording"`
	Resources Resources    `json:"resources"`
	// Findings are changes of code, best first; costs without a known mistake come after them.
	Findings []Finding `json:"findings"`
	// Settings are changes of how the program is built or run, best first. They have ranks and ties
	// of their own.
	Settings []Finding `json:"settings"`
	Hidden   Hidden    `json:"hidden"`
	// Silenced are findings that a comment or hone.json silences; rules in RulesOff did not run.
	Silenced []Silenced `json:"silenced,omitempty"`
	RulesOff []string   `json:"rules_off,omitempty"`
	Join     *Join      `json:"join,omitempty"` // absent when nothing was recorded
	Notes    []string   `json:"notes"`
}

// RecordingRef names the recording.
type RecordingRef struct {
	ID     string `json:"id"`               // of the recording, as in its manifest
	Path   string `json:"path,omitempty"`   // as on the command line
	Target string `json:"target"`           // package, program or URL that was measured
	Go     string `json:"go,omitempty"`     // release that built it
	Module string `json:"module,omitempty"` // main module
}

// Resources are what the program spent. Absent numbers are omitted.
type Resources struct {
	CPUSeconds     float64 `json:"cpu_seconds"` // in the CPU profile
	CPUSamples     int64   `json:"cpu_samples"`
	GCCPUShare     float64 `json:"gc_cpu_share"`     // of all CPU: mark workers, assists, sweeping, idle marking
	MallocCPUShare float64 `json:"malloc_cpu_share"` // of all CPU: allocating, without assists
	Cores          float64 `json:"cores,omitempty"`  // busy on average in the clean phase
	// ChildCores are the cores that child processes of the program kept busy.
	ChildCores float64 `json:"child_cores,omitempty"`
	// OtherCores are the cores that processes other than the program and the load generator kept
	// busy, while the CPU profile was taken; absent when they were few.
	OtherCores float64 `json:"other_cores,omitempty"`
	// CPUPerRequest is the CPU time per request, per operation of a benchmark, or per run of a
	// program that exits.
	CPUPerRequest     float64 `json:"cpu_seconds_per_request,omitempty"`
	SystemShare       float64 `json:"system_cpu_share,omitempty"` // part of the program's CPU in the kernel
	PageFaultRate     float64 `json:"page_faults_per_second,omitempty"`
	Throughput        float64 `json:"requests_per_second,omitempty"`
	AllocRate         float64 `json:"alloc_bytes_per_second,omitempty"`
	BytesPerRequest   float64 `json:"alloc_bytes_per_request,omitempty"`
	ObjectsPerRequest float64 `json:"alloc_objects_per_request,omitempty"`
	// Benchmarks has a row for each benchmark. A recording of one benchmark also has the figures
	// per request above.
	Benchmarks []Benchmark `json:"benchmarks,omitempty"`
	// Run is the run time of a program that exits, from the shortest to the longest of its runs in
	// the clean phase.
	Run         *RunTime `json:"run,omitempty"`
	Limiting    string   `json:"limiting"`               // cpu, latency, memory, none
	LimitingWhy string   `json:"limiting_why,omitempty"` // in words
	// Spent is where the CPU goes, by the owner of the lines; after the two kinds of lines, most
	// expensive first.
	Spent []Spent `json:"spent,omitempty"`
	// RequestTime is where most of the time of the requests in the execution trace goes.
	RequestTime []requests.PlaceTime `json:"request_time,omitempty"`
}

// Spent is the CPU of the lines of one kind, or of a part of the runtime or of net/http that no
// line owns.
type Spent struct {
	On    string  `json:"on"`        // "your lines", "dependencies", or the name of a part
	Share float64 `json:"cpu_share"` // of the CPU profile, from 0 to 1
}

// Benchmark is the figures of one benchmark per operation: medians of the runs of the clean phase,
// each a process. Absent figures are not known, such as CPU in a recording of several benchmarks.
type Benchmark struct {
	Name       string   `json:"name"` // without "Benchmark"
	Runs       int      `json:"runs"`
	Seconds    float64  `json:"seconds_per_operation"` // wall time
	Shortest   float64  `json:"shortest_seconds"`
	Longest    float64  `json:"longest_seconds"`
	CPUSeconds *float64 `json:"cpu_seconds_per_operation,omitempty"`
	Bytes      *float64 `json:"alloc_bytes_per_operation,omitempty"`
	Objects    *float64 `json:"alloc_objects_per_operation,omitempty"`
}

// RunTime is the run time of several runs of a program, in seconds.
type RunTime struct {
	Count    int     `json:"count"`
	Median   float64 `json:"median_seconds"`
	Shortest float64 `json:"shortest_seconds"`
	Longest  float64 `json:"longest_seconds"`
}

// All returns the findings in code, then the settings.
func (r *Report) All() iter.Seq[*Finding] {
	return func(yield func(*Finding) bool) {
		for _, list := range [][]Finding{r.Findings, r.Settings} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// Finding is one rule in one function, or one setting.
type Finding struct {
	Rank     int       `json:"rank"`              // in its list, from 1; 0 under Also
	Setting  bool      `json:"setting,omitempty"` // it is in the list of settings
	Rule     string    `json:"rule"`              // its ID: hone rules ID explains it
	Generic  bool      `json:"generic,omitempty"` // a cost without a known mistake; no saving is promised
	Kind     rule.Kind `json:"kind"`              // alloc, cpu, gc, lock, block, goroutine, sched, io, leak, dep, config
	Title    string    `json:"title"`             // of the rule
	Cause    string    `json:"cause"`             // what happens and what it costs, in sentences
	Fix      string    `json:"fix"`               // the fix, in sentences
	Function string    `json:"function"`          // of the most expensive line; "" for the program as a whole
	File     string    `json:"file"`              // relative to its module
	Line     int       `json:"line"`              // 0 for the program as a whole
	Source   string    `json:"source,omitempty"`  // the most expensive line's text
	Sites    []SiteRef `json:"sites"`             // its lines, most expensive first
	Module   string    `json:"module"`            // module that owns the line
	Version  string    `json:"version"`           // of that module; "" for the main module
	Entry    *Place    `json:"entry,omitempty"`   // line of the main module that calls it, directly or not
	Cost     Cost      `json:"cost"`
	Saving   *Saving   `json:"saving,omitempty"` // absent when unknown
	// Includes are the ranks of findings that the fix of this one removes too, because they are
	// inside the calls that it removes. Cost and Saving leave them out; CostWith and SavingWith
	// include them.
	Includes   []int `json:"includes,omitempty"`    // ranks of findings that the fix of this one removes too
	IncludedIn []int `json:"included_in,omitempty"` // ranks of findings that include this one
	// IncludesPart are findings of which a part is inside the calls: the fix removes that part.
	IncludesPart []Part          `json:"includes_part,omitempty"`
	SavingWith   *Saving         `json:"saving_with,omitempty"` // what the fix saves, including those findings
	CostWith     *Cost           `json:"cost_with,omitempty"`   // cost, including those findings
	TiedWith     []int           `json:"tied_with,omitempty"`   // ranks of the neighbours in the list whose intervals overlap
	Confidence   rule.Confidence `json:"confidence"`            // proved (tried), measured, likely, hint
	Evidence     []rule.Evidence `json:"evidence"`
	Patch        *rule.Patch     `json:"patch,omitempty"` // what a newer release of the module changed there
	Tried        *Tried          `json:"tried,omitempty"` // absent unless a trial was requested
	// Also are findings of other rules in the same function that are below the floor alone: not
	// worth an hour, but a change of this function can fix them too. Their rank is 0, and of all
	// totals only that of Together contains them.
	Also []Finding `json:"also,omitempty"`
}

// Part is a finding of which the fix of another removes a part.
type Part struct {
	Rank  int     `json:"rank"`
	Share float64 `json:"share"` // of its cost; below 1
}

// Whole returns what the fix saves with everything that it removes; nil when that is unknown.
func (f *Finding) Whole() *Saving {
	if f.SavingWith != nil {
		return f.SavingWith
	}
	return f.Saving
}

// Label returns the name of the finding on a page: its rank, "S1" in the list of settings.
func (f *Finding) Label() string { return label(f.Rank, f.Setting) }

// Ties returns the labels of the findings that it is tied with.
func (f *Finding) Ties() []string {
	labels := make([]string, 0, len(f.TiedWith))
	for _, rank := range f.TiedWith {
		labels = append(labels, label(rank, f.Setting))
	}
	return labels
}

func label(rank int, setting bool) string {
	if setting {
		return fmt.Sprintf("S%d", rank)
	}
	return strconv.Itoa(rank)
}

// Place is a line in a function.
type Place struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// SiteRef is one line of a finding with its share of the limiting resource.
type SiteRef struct {
	Place
	Role   Role    `json:"role,omitempty"` // caller, inside or creator; absent for the lines that the rule reports
	Share  float64 `json:"share"`          // of the resource that the finding is ranked by
	Source string  `json:"source,omitempty"`
	// Executions of the line for each request, operation or run; absent when they were not counted.
	Executions *float64 `json:"executions_per_request,omitempty"`
}

// Cost is a finding's cost as shares of the recording's totals.
type Cost struct {
	CPUShare          *float64 `json:"cpu_share,omitempty"`               // of all CPU: its lines and everything below them
	GCShare           *float64 `json:"gc_share,omitempty"`                // of all CPU: its part of the garbage collector's work
	WithGC            *Range   `json:"cpu_and_gc,omitempty"`              // both together
	AllocBytesShare   *float64 `json:"alloc_bytes_share,omitempty"`       // of all bytes allocated
	AllocObjectsShare *float64 `json:"alloc_objects_share,omitempty"`     // of all objects that the runtime counted
	BytesPerRequest   *float64 `json:"alloc_bytes_per_request,omitempty"` // absent when no requests were counted
	ObjectsPerRequest *float64 `json:"alloc_objects_per_request,omitempty"`
	// ObjectsAtLeast says that there are more objects: several of less than 16 bytes share a block,
	// which the profile counts once.
	ObjectsAtLeast bool     `json:"alloc_objects_at_least,omitempty"`
	WaitShare      *float64 `json:"wait_share,omitempty"` // of the contention recorded
	LiveBytes      *int64   `json:"live_bytes,omitempty"` // live at the end, allocated by its lines
}

// Range is a share with its 95 % interval of sampling.
type Range struct {
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Tried is the result of running the program with only a finding's fix, interleaved with the
// unchanged program.
type Tried struct {
	Gain   bool    `json:"gain"`             // better somewhere, worse nowhere
	Metric string  `json:"metric,omitempty"` // resource of Share: cpu, or what else was measured
	Share  float64 `json:"share"`            // saved; below 0 it costs more
	Low    float64 `json:"low"`              // 95 %
	High   float64 `json:"high"`
	Runs   int     `json:"runs,omitempty"` // of each side
	Why    string  `json:"why,omitempty"`  // why there is no gain, or nothing was measured
}

// Saving is the share of a resource that the fix is expected to save.
type Saving struct {
	Resource string `json:"resource"` // cpu, latency, memory
	// Of says which time Share is of, for latency that is not that of requests: "the time of a
	// run", "the time of an operation".
	Of    string  `json:"of,omitempty"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// OfCollector is the part of Share that is the garbage collector's work, for findings that
	// state their saving: it does not add up with the savings of allocating lines.
	OfCollector float64 `json:"of_collector,omitempty"`
}

// Hidden is the number of findings that are not shown.
type Hidden struct {
	BelowFloor int     `json:"below_floor"`     // findings that cost too little to be shown
	Floor      float64 `json:"floor,omitempty"` // share of CPU
}
