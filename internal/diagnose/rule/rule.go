package rule

import (
	"context"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// Kind groups findings by what they cost.
type Kind string

// The kinds of findings, as they stand in the report's JSON.
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

// Words is the heading that findings of a kind stand under.
func (k Kind) Words() string {
	words := map[Kind]string{
		Alloc: "allocations", CPU: "CPU", GC: "garbage collection", Leak: "memory that only grows", Lock: "locks",
		Block: "channels and waiting", Goroutine: "goroutines", Sched: "scheduling and cores", IO: "input and output",
		Dep: "dependencies", Config: "settings and builds",
	}
	return words[k]
}

// Confidence says how much evidence stands behind a finding.
type Confidence string

// The levels of confidence, strongest first. Proved: an experiment ran.
// Measured: profile, syntax and, where the compiler has a word in it, compiler
// agree. Likely: two of them do. Hint: one; a hint never ranks above the others.
const (
	Proved   Confidence = "proved"
	Measured Confidence = "measured"
	Likely   Confidence = "likely"
	Hint     Confidence = "hint"
)

// Need is something that a rule cannot do without, beside the profiles of CPU and allocations.
type Need string

// What rules need.
const (
	NeedTrace      Need = "an execution trace"
	NeedContention Need = "the profiles of waiting (mutex, block)"
	NeedMetrics    Need = "the metrics of the runtime"
	NeedBuild      Need = "how the program was built"
	NeedCounts     Need = "counts of executions"
	NeedInputs     Need = "counts of inputs"
)

// Rule is one known mistake: data, prose, and what finds it.
type Rule struct {
	ID    string // "concat-loop"
	Kind  Kind
	Title string // "String built by concatenation in a loop"
	Doc   string // for people: why it costs, when it is fine, a real-world reference
	Needs []Need // beside the profiles of CPU and allocations
	// Generic is for rules that know no mistake: they state what a line costs, and why as far as
	// profile and compiler tell. Their findings are hints, promise no saving and stand behind all
	// others; of a line that other rules explain for the most part they say nothing.
	Generic bool
	// Memory says that the rule is about memory that stays in use, as rules of the kinds GC and Leak always
	// are. Of all other rules what is live is told, but neither makes a finding nor a saving: most
	// of it was allocated before the recording, by code that runs once.
	Memory bool
	// Setting says that the fix changes how the program is built or run (a limit, a level, a toolchain), not its
	// code. Findings of such rules are in a list of their own.
	Setting bool
	// SkipsBenchmarks says that what the rule looks for follows, in a benchmark, from being one: a small heap, one
	// operation at a time. It is not run on recordings of benchmarks.
	SkipsBenchmarks bool
	// Urgent says that what the rule finds grows until the program fails. It stands before all that costs time, whatever
	// its share of the recording is, and needs no rows and no saving.
	Urgent bool
	Finder Finder
}

// Finder finds where a rule applies. Package finder has one type for each kind of rule: a line
// with a pattern in its source, a fact about the whole program, and a fact that the execution trace shows.
type Finder interface {
	Find(ctx context.Context, p *Pass) ([]Match, error)
	// Claims says how matches are priced.
	Claims() Claim
}

// Find finds where the rule applies.
func (r Rule) Find(ctx context.Context, p *Pass) ([]Match, error) { return r.Finder.Find(ctx, p) }

// Claims says how the rule's matches are priced. A rule without a finder claims nothing.
func (r Rule) Claims() Claim {
	if r.Finder == nil {
		return Claim{}
	}
	return r.Finder.Claims()
}

// Claim says how the rows of a match are priced, and which of several rules gets a row that all of them claim.
type Claim struct {
	// Fraction is the share of the matched cost that the fix is expected to save,
	// with its range, 0 to 1. The rule's source says where it comes from.
	Fraction Fraction
	// Beside is what code that the rule does not accuse saves on top, as a share of the matched
	// cost: caches that the fix leaves to it. Where it is zero, the diagnosis adds what
	// allocating and collecting cost others.
	Beside stats.Interval
	// Specificity decides between rules that claim the same row at the same depth:
	// the larger takes it. 0 is a rule about a named call; a rule that knows more
	// about the line stands above, a catch-all below 0.
	Specificity int
	// Removes says that the fix takes the matched calls away, and with them all that runs below: findings
	// in there go with this one. Not so where the call stays in another form, or runs on other data, and not
	// where the match is of the call's own work: what a concatenation joins is still computed.
	Removes bool
}

// OfMemory reports whether the rule may claim what is live: see Memory.
func (r Rule) OfMemory() bool { return r.Memory || r.Generic || r.Kind == GC || r.Kind == Leak }

// Fraction is an expected share with its range: 0 ≤ Low ≤ Expect ≤ High ≤ 1.
type Fraction struct{ Expect, Low, High float64 }

// Valid reports whether the range is in order.
func (f Fraction) Valid() bool {
	return 0 <= f.Low && f.Low <= f.Expect && f.Expect <= f.High && f.High <= 1
}

// Pass is what a rule sees. Rules read it and change nothing.
type Pass struct {
	Table    *site.Table
	Code     *gocode.Index
	Syntax   *gocode.Syntax // of the packages of Main and Dependency that own hot sites; nil when no source
	Facts    *gocode.Facts  // of the same packages; nil when not available
	Manifest *recording.Manifest
	Metrics  map[string]float64 // end-of-clean-phase runtime/metrics values by name
	Growth   []site.Grown       // of live memory in the window of the allocations, largest first; nil when not known
	// Parked are the goroutines at the end, by the line that they wait below, most first; nil when not known. Goroutines is
	// how many the runtime counted at the start and at the end.
	Parked []site.Parked
	// Leaked are the goroutines that nothing can wake, as the garbage collector found; nil when not known. They may be of a
	// process of their own (recording.PhaseLeaks).
	Leaked     []site.Parked
	Goroutines Change
	Trace      *analysis.Results // of the execution trace; nil when there is none, or it cannot be read
	Counts     *counts.Index     // of executions; nil when there are none
	Inputs     *inputs.Counts    // of functions; nil when there are none
	// RecordingPath is how the user names the recording: it stands in the commands of evidence.
	RecordingPath string
}

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
	// Callees are the patterns (see package funcname) of the calls that the rule recognised
	// leafward of the line; they decide how deep in each row the match stands.
	Callees []string
	// Callers says that the lines of the program that call the line's function belong to the finding: it is they that change.
	Callers bool
	// Cause and Fix are in words; matches of one rule in one function become one finding.
	Cause      string
	Fix        string
	Kind       Kind // overrides the rule's; "" for the rule's own
	Confidence Confidence
	Fraction   *Fraction // overrides the rule's
	Evidence   []Evidence
	// Saving, for matches that own no rows (configuration, what a trace shows): what a change saves, with bounds.
	Saving *Saving
}

// Saving is what a change would save: CPU seconds of the recording's window, or with a
// Latency seconds of another total.
type Saving struct {
	Seconds, Low, High float64
	// Latency, when not 0, says that the seconds are of waiting, not of CPU, and of how many in all: the
	// time of all requests in the trace or, of a program that ends, the trace's length.
	Latency float64
	// Cost is how much of the same total the site's line has; 0: what the match's rows cost.
	Cost float64
	// Collector is how much of Seconds is the garbage collector's work. Findings with some show what all of
	// that work costs; what they save and what allocating lines save do not add up.
	Collector float64
	// Modelled says that the seconds come from a model of the queue, which knows how much CPU there is.
	Modelled bool
}

// Evidence is one fact behind a finding and the command that shows it again.
type Evidence struct {
	What    string `json:"what"`
	Value   string `json:"value"`
	Command string `json:"command,omitempty"`
}
