package rule

import (
	"context"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/stats"
)

// Kind groups findings by what they cost.
type Kind string

// The kinds of findings, as in the report's JSON.
const (
	Alloc     Kind = "alloc"
	CPU       Kind = "cpu"
	GC        Kind = "gc"
	Lock      Kind = "lock"
	Block     Kind = "block"
	Goroutine Kind = "goroutine"
	Sched     Kind = "sched"
	IO        Kind = "io"
	Leak      Kind = "leak"
	Dep       Kind = "dep"
	Config    Kind = "config"
)

// Kinds lists all kinds in the order of a catalogue.
func Kinds() []Kind {
	return []Kind{Alloc, CPU, GC, Leak, Lock, Block, Goroutine, Sched, IO, Dep, Config}
}

// Words returns the heading for findings of a kind.
func (k Kind) Words() string {
	words := map[Kind]string{
		Alloc: "allocations", CPU: "CPU", GC: "garbage collection", Leak: "memory that only grows", Lock: "locks",
		Block: "channels and waiting", Goroutine: "goroutines", Sched: "scheduling and cores", IO: "input and output",
		Dep: "dependencies", Config: "settings and builds",
	}
	return words[k]
}

// Confidence is how much evidence supports a finding.
type Confidence string

// The levels of confidence, strongest first. Proved: an experiment ran. Measured: profile, syntax
// and, if the compiler decides about the mistake, compiler agree. Likely: two of them do. Hint:
// one; a hint never ranks above the others.
const (
	Proved   Confidence = "proved"
	Measured Confidence = "measured"
	Likely   Confidence = "likely"
	Hint     Confidence = "hint"
)

// Need is something that a rule requires in addition to the profiles of CPU and allocations.
// Without it, the rule finds nothing.
type Need string

// What rules need.
const (
	NeedTrace      Need = "an execution trace"
	NeedContention Need = "the profiles of waiting (mutex, block)"
	NeedMetrics    Need = "the metrics of the runtime"
	NeedBuild      Need = "how the program was built"
	NeedCounts     Need = "counts of executions"
	NeedInputs     Need = "counts of inputs"
	NeedInits      Need = "the trace of package initialisation"
	NeedUpgrade    Need = "a run with newer releases of dependencies"
)

// Rule is one known mistake: data, prose, and its finder.
type Rule struct {
	ID    string // "concat-loop"
	Kind  Kind
	Title string // "String built by concatenation in a loop"
	Doc   string // for people: why it costs, when it is fine, a real-world reference
	Needs []Need // in addition to the profiles of CPU and allocations
	Uses  []Need // with these it finds more
	// Generic is for rules that know no mistake: they state what a line costs, and why as far as
	// profile and compiler show. Their findings are hints, promise no saving and come after all
	// others. They do not report lines that other rules explain for the most part.
	Generic bool
	// Memory says that the rule is about memory that stays in use, as rules of the kinds GC and
	// Leak always are. Other rules report live memory, but it neither makes a finding nor a saving:
	// most of it was allocated before the recording, by code that runs once.
	Memory bool
	// Setting says that the fix changes how the program is built or run (a limit, a level, a
	// toolchain), not its code. Findings of such rules are in a list of their own.
	Setting bool
	// SkipsBenchmarks says that every benchmark has what the rule looks for, such as a small heap,
	// or one operation at a time. The rule does not run on recordings of benchmarks.
	SkipsBenchmarks bool
	// Urgent says that what the rule finds grows until the program fails. Its findings come before
	// all that cost time, whatever their share of the recording, and need no rows and no saving.
	Urgent bool
	Finder Finder
}

// Finder finds where a rule applies. Package finder has one type for each kind of rule: a line with
// a pattern in its source, a fact about the whole program, and a fact that the execution trace
// shows.
type Finder interface {
	Find(ctx context.Context, p *Pass) ([]Match, error)
	// Claims returns how matches are priced.
	Claims() Claim
}

// Find finds where the rule applies: nowhere, if p does not have what the rule needs.
func (r Rule) Find(ctx context.Context, p *Pass) ([]Match, error) {
	for _, n := range r.Needs {
		if !p.has(n) {
			return nil, nil
		}
	}
	return r.Finder.Find(ctx, p)
}

// Claims returns how the rule's matches are priced. A rule without a finder claims nothing.
func (r Rule) Claims() Claim {
	if r.Finder == nil {
		return Claim{}
	}
	return r.Finder.Claims()
}

// Claim says how the rows of a match are priced, and which of several rules gets a row that all of
// them claim.
type Claim struct {
	// Fraction is the share of the matched cost that the fix is expected to save, with its range, 0
	// to 1. A comment in the rule's source gives its origin.
	Fraction Fraction
	// Beside is what other code saves in addition, as a share of the matched cost: caches that the
	// fix leaves to it. Where it is zero, the diagnosis adds what allocating and collecting cost
	// others.
	Beside stats.Interval
	// Specificity decides between rules that claim the same row at the same depth: the larger takes
	// it. 0 is a rule about a named call. A rule that knows more about the line has a higher one, a
	// catch-all one below 0.
	Specificity int
	// Removes says that the fix removes the matched calls with everything below them, and so the
	// findings there. It is false if the call stays in another form, or runs on other data, and if
	// the match is of the call's own work: the operands of a concatenation are still computed.
	Removes bool
	// Sends says that the matched calls send messages that the fix combines into fewer: what
	// handles them at the other end, if that is in the process, is part of what the fix may save.
	Sends bool
	// Keeps says that the live memory of a match refers to more: entries of a map that only grows
	// to what is in them. If memory of other lines grows as well, the fix may release that, too.
	Keeps bool
}

// OfMemory reports whether the rule may claim live memory: see Memory.
func (r Rule) OfMemory() bool { return r.Memory || r.Generic || r.Kind == GC || r.Kind == Leak }

// Fraction is an expected share with its range: 0 ≤ Low ≤ Expect ≤ High ≤ 1.
type Fraction struct{ Expect, Low, High float64 }

// Valid reports whether the range is in order.
func (f Fraction) Valid() bool {
	return 0 <= f.Low && f.Low <= f.Expect && f.Expect <= f.High && f.High <= 1
}

// Pass is the input of a rule. Rules only read it.
type Pass struct {
	Table    *site.Table
	Code     *gocode.Index
	Syntax   *gocode.Syntax // of the packages of Main and Dependency that own hot sites; nil when no source
	Facts    *gocode.Facts  // of the same packages; nil when not available
	Manifest *recording.Manifest
	Metrics  map[string]float64 // end-of-clean-phase runtime/metrics values by name
	Growth   []site.Grown       // of live memory in the window of the allocations, largest first; nil when not known
	// Parked are the goroutines at the end, by the line that they wait below, most first; nil when
	// not known. Goroutines is how many the runtime counted at the start and at the end.
	Parked []site.Parked
	// OpenBodies are the connections of HTTP clients, at the end, that wait for the body of a
	// response to be read or closed.
	OpenBodies int64
	// Leaked are the goroutines that nothing can wake, as the garbage collector found; nil when not
	// known. They may be of another process (recording.PhaseLeaks).
	Leaked     []site.Parked
	Goroutines Change
	Trace      *analysis.Results // of the execution trace; nil when there is none, or it cannot be read
	Counts     *counts.Index     // of executions; nil when there are none
	Inputs     *inputs.Counts    // of functions; nil when there are none
	Upgraded   Upgraded          // with newer releases of dependencies: see recording.Upgrade
	// RequestBytes is the mean size of a request of the load, with its head; 0 when not known.
	RequestBytes float64
	// RecordingPath is the recording's name in the commands of evidence.
	RecordingPath string
}

// Upgraded are the profiles of the target with newer releases of dependencies; nil when there are
// none.
type Upgraded struct{ CPU, Allocs *profile.Profile }

// Change is a figure at the start and at the end of a recording.
type Change struct{ First, Last float64 }

// Match is one site where a rule applies.
type Match struct {
	Site   *site.Site  // nil for a match that is about no line (configuration)
	CPU    []*site.Row // the part of the site's rows that the fix would touch
	Allocs []*site.Row
	Mutex  []*site.Row
	Block  []*site.Row
	Live   []*site.Row
	// Uncertain are rows that the fix may save too, or not: work that only prepares or reads what
	// the line makes, and that some fixes of it need no longer. They are no part of the cost, and
	// only widen the saving upwards.
	Uncertain Uncertain
	// Callees are the patterns (see package funcname) of the calls leafward of the line that the
	// rule recognised; they decide the depth of the match in each row.
	Callees []string
	// Callers says that the lines of the program that call the line's function belong to the
	// finding, because the fix changes them.
	Callers bool
	// Creator is the go statement of the goroutines that wait at the site; nil if that is not
	// known.
	Creator *site.Frame
	// Cause and Fix are sentences; matches of one rule in one function become one finding.
	Cause      string
	Fix        string
	Kind       Kind // overrides the rule's; "" for the rule's own
	Confidence Confidence
	Fraction   *Fraction // overrides the rule's
	Evidence   []Evidence
	// Saving is what a change saves, with bounds, for matches without rows (configuration, what a
	// trace shows).
	Saving *Saving
	// Around are rows whose lines belong to the finding of a match without rows of its own: the
	// lines that call the site's and those inside. They are no part of the cost.
	Around []*site.Row
	// Patch is what a newer release of the module changed there.
	Patch *Patch
	// InCode says, in a rule about a setting, that the site's line sets it: the finding is one in
	// code.
	InCode bool
}

// Patch is how another release of a module differs in a function: the parts of a diff that changed
// most.
type Patch struct {
	Release string      `json:"release"`
	Lines   []PatchLine `json:"lines"`
}

// PatchLine is a line of a diff.
type PatchLine struct {
	Op   string `json:"op"`             // "-" is gone, "+" is new, " " is in both
	Line int    `json:"line,omitempty"` // in the release that the program is built with; absent of new lines
	Text string `json:"text"`
}

// Uncertain are rows of the profiles of CPU and allocations.
type Uncertain struct{ CPU, Allocs []*site.Row }

// Saving is what a change would save: CPU seconds of the recording's window, or with a
// Latency seconds of another total.
type Saving struct {
	Seconds, Low, High float64
	// Latency, when not 0, says that the seconds are of waiting, not of CPU, and gives their total:
	// the time of all requests in the trace or, for a program that exits, the trace's length.
	Latency float64
	// Cost is how much of the same total the site's line has; 0: what the match's rows cost.
	Cost float64
	// Collector is how much of Seconds is the garbage collector's work. Findings with some show the
	// cost of all of that work; their savings and those of allocating lines do not add up.
	Collector float64
	// Modelled says that the seconds come from a model of the queue, which takes the available CPU
	// into account.
	Modelled bool
}

// Evidence is one fact behind a finding and the command that shows it again.
type Evidence struct {
	What    string `json:"what"`
	Value   string `json:"value"`
	Command string `json:"command,omitempty"`
}
