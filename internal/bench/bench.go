package bench

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"time"

	"github.com/hone-go/hone/internal/scratch"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/trial"
)

// Schema is the version of Result's JSON form.
const Schema = "hone/bench/v1"

// Spec says what to measure. The zero value of a number takes its default.
type Spec struct {
	Packages     []string // package patterns, as for go test; nil: "."
	Dir          string   // directory that the patterns are relative to; "": the working directory
	Bench        string   // regular expression of benchmark names, as for go test -bench; "": all
	Against      string   // git ref to compare with; "": none; Self: the same tree
	Tree         string   // git ref to measure instead of the working tree; "": the working tree
	BuildFlags   []string
	GoCommand    string
	WorkDir      string        // where binaries are written
	CPUs         []int         // values of GOMAXPROCS to run each benchmark with, as for go test -cpu; nil: this process's
	Layouts      int           // link layouts per side, in each set of samples
	Time         time.Duration // length of the timed region of a sample
	Budget       time.Duration // for the samples of one benchmark, both sides; half of it is reserved for the second set
	Least        int           // minimum of samples per side
	Most         int
	Instructions bool           // count instructions, too, with perf or valgrind
	Record       int            // number of benchmarks, the most expensive ones, to record for their findings
	Session      session.Config // where recordings are stored, and how they are diagnosed
	Width        float64        // stop when the interval of CPU time (or of its ratio) is at most ± this share
	Seed         uint64         // of the random order; 0: from the clock
	Progress     func(Progress)

	// SamplesOnly stops after the first set of samples: changes are not measured again, nothing is
	// profiled, and the first set gets the whole budget.
	SamplesOnly bool
}

// Defaults of Spec.
const (
	DefaultBudget = 60 * time.Second
	DefaultMost   = 100 // runs per side, in each set
	// DefaultLayouts weighs precision against the time for linking: four layouts per side estimate
	// the scatter between layouts with six degrees of freedom, and with fourteen when the second
	// set adds four others.
	DefaultLayouts = 4
)

// Self, as Spec.Against, compares the tree with itself, so that every difference is noise of the
// machine.
const Self = "self"

// Progress describes the current step.
type Progress struct {
	Text string
	Done float64 // share of the benchmarks that are done, 0 to 1
	Left time.Duration
	End  bool // the step that Text names is finished
}

func (s Spec) withDefaults() Spec {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	num := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	if len(s.Packages) == 0 {
		s.Packages = []string{"."}
	}
	if s.Bench == "" {
		s.Bench = "."
	}
	if s.GoCommand == "" {
		s.GoCommand = "go"
	}
	def(&s.Time, 100*time.Millisecond)
	def(&s.Budget, DefaultBudget)
	num(&s.Layouts, DefaultLayouts)
	if len(s.CPUs) == 0 {
		s.CPUs = []int{runtime.GOMAXPROCS(0)}
	}
	num(&s.Least, 6)
	num(&s.Most, DefaultMost)
	s.Most = max(s.Most, s.Least)
	if s.Width <= 0 {
		s.Width = 0.01
	}
	if s.Seed == 0 {
		s.Seed = uint64(time.Now().UnixNano())
	}
	if s.Progress == nil {
		s.Progress = func(Progress) {}
	}
	return s
}

// Result holds the samples and verdicts of a run.
type Result struct {
	Schema     string      `json:"schema"`
	Go         string      `json:"go"`
	CPUs       int         `json:"cpus"`
	Against    string      `json:"against,omitempty"` // the ref that the tree was compared with
	Commit     string      `json:"commit,omitempty"`
	Tree       string      `json:"tree,omitempty"`        // the ref that was measured instead of the working tree
	TreeCommit string      `json:"tree_commit,omitempty"` // the commit of Tree
	Files      *Files      `json:"files,omitempty"`       // set if files were compared
	Layouts    int         `json:"layouts"`               // link layouts per side
	Seconds    float64     `json:"seconds"`               // time that the run took
	Benchmarks []Benchmark `json:"benchmarks"`
	Geomeans   []Geomean   `json:"geomeans,omitempty"`
	OnlyOld    []string    `json:"only_old,omitempty"` // benchmarks that only the old side has
	OnlyNew    []string    `json:"only_new,omitempty"`
	Notes      []string    `json:"notes,omitempty"`
}

// Benchmark is one benchmark's samples and figures.
type Benchmark struct {
	Table      string    `json:"table,omitempty"` // in a comparison of files: the keys and values of its table
	Package    string    `json:"package"`
	Name       string    `json:"name"`       // with the -procs suffix
	Iterations int64     `json:"iterations"` // per sample
	Old        []Sample  `json:"old,omitempty"`
	New        []Sample  `json:"new"`
	Rows       []Row     `json:"rows"`
	Grown      []Grown   `json:"grown,omitempty"`    // if it regressed: the functions whose cost grew
	Findings   []Finding `json:"findings,omitempty"` // if it regressed: those that only the new side has; otherwise those of its recording
	Recording  string    `json:"recording,omitempty"`
}

// Sample is the result of one process: one value per metric, by unit ("ns/op", "cpu-ns/op", "B/op",
// "allocs/op", and those that the benchmark itself reports).
type Sample struct {
	Layout  int                `json:"layout"`
	Seconds float64            `json:"seconds,omitempty"` // run time of the process
	Values  map[string]float64 `json:"values"`
}

// Indices of the sides.
const (
	oldSide = 0
	newSide = 1
)

// dirPrefix starts the names of the directories that Run makes in WorkDir.
const dirPrefix = "bench-"

// Run measures benchmarks. If ctx is cancelled, Run stops the processes that it started and returns
// the error of ctx.
func Run(ctx context.Context, s Spec) (*Result, error) {
	s = s.withDefaults()
	if err := os.MkdirAll(s.WorkDir, 0o755); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	scratch.Sweep(s.WorkDir, time.Now(), dirPrefix)
	dir, err := scratch.Make(s.WorkDir, dirPrefix)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer dir.Remove()
	began := time.Now()
	r := &runner{Spec: s, work: dir.Path}
	defer r.remove()
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	if len(r.subjects) == 0 {
		return nil, fmt.Errorf("no benchmark matches %q in %v", s.Bench, s.Packages)
	}
	if err := r.measure(ctx); err != nil {
		return nil, err
	}
	if err := r.countAll(ctx); err != nil {
		return nil, err
	}
	r.judge()
	if r.SamplesOnly {
		r.widenAll()
	} else {
		if err := r.confirm(ctx); err != nil {
			return nil, err
		}
		if err := r.blame(ctx); err != nil {
			return nil, err
		}
		if err := r.record(ctx); err != nil {
			return nil, err
		}
	}
	for _, x := range r.subjects {
		r.result.Benchmarks = append(r.result.Benchmarks, *x.Benchmark)
	}
	r.result.Seconds = time.Since(began).Seconds()
	return &r.result, nil
}

// subject is a benchmark that is being measured.
type subject struct {
	*Benchmark
	pkgs     [2]*testPackage
	cpus     int // GOMAXPROCS
	trial    *trial.Trial
	spent    time.Duration
	second   [2][]Sample // second set, for changes that must be confirmed
	layouts  [2][]layout // of the current set
	finished bool
}

// setPackage sets the package of one side.
func (x *subject) setPackage(side int, pkg *testPackage) {
	x.pkgs[side], x.layouts[side] = pkg, pkg.layouts
}

// firstBudget is the budget of the first set of samples.
func (s Spec) firstBudget() time.Duration {
	if s.Against == "" || s.SamplesOnly {
		return s.Budget
	}
	return s.Budget / 2
}

// measure cycles through the benchmarks and runs one block of each, so that the samples of every
// benchmark are spread over the whole time.
func (r *runner) measure(ctx context.Context) error {
	variants := 1
	if r.Against != "" {
		variants = 2
	}
	for _, x := range r.subjects {
		x.trial = trial.New(variants, r.Seed^hash(x.Package+x.Name), trial.Limits{Least: r.Least, Most: r.Most, Budget: r.firstBudget(), Width: r.Width})
	}
	left := len(r.subjects)
	began := time.Now()
	for left > 0 {
		for _, x := range r.subjects {
			if x.finished {
				continue
			}
			r.Progress(Progress{Text: x.Name, Done: r.done(), Left: r.left(time.Since(began))})
			if err := r.block(ctx, x, func(side int, sm Sample) {
				if side == oldSide && variants == 2 {
					x.Old = append(x.Old, sm)
				} else {
					x.New = append(x.New, sm)
				}
			}); err != nil {
				return err
			}
			if x.trial.Over(x.spent, x.HalfWidth()) {
				x.finished = true
				left--
			}
		}
	}
	r.Progress(Progress{Text: fmt.Sprintf("%d benchmarks measured", len(r.subjects)), Done: 1, End: true})
	return nil
}

// block runs one block of a benchmark. The runs of each side cycle through its layouts.
func (r *runner) block(ctx context.Context, x *subject, take func(side int, s Sample)) error {
	began := time.Now()
	run := x.trial.Runs()
	var runs [2]int
	for _, side := range x.trial.Block() {
		if r.Against == "" {
			side = newSide
		}
		of := x.layouts[side]
		sm, err := r.sample(ctx, x, of[(run+runs[side])%len(of)])
		if err != nil {
			return err
		}
		runs[side]++
		take(side, sm)
	}
	x.spent += time.Since(began)
	return nil
}

// done returns the share of the work that is done, 0 to 1.
func (r *runner) done() float64 {
	var done float64
	for _, x := range r.subjects {
		if x.finished {
			done++
		} else {
			done += min(0.99, max(x.spent.Seconds()/r.firstBudget().Seconds(), float64(x.trial.Runs())/float64(r.Most)))
		}
	}
	return done / float64(len(r.subjects))
}

// left returns about how long the rest will take, at most; 0 if unknown.
func (r *runner) left(spent time.Duration) time.Duration {
	done := r.done()
	if done < 0.02 {
		return 0
	}
	return time.Duration(float64(spent) * (1 - done) / done).Round(time.Second)
}

// confirm measures benchmarks that seem to have changed a second time, with other link layouts and
// as many runs as before. A change that this second set does not show is not reported.
func (r *runner) confirm(ctx context.Context) error {
	var suspects []*subject
	for _, x := range r.subjects {
		if x.suspect() {
			suspects = append(suspects, x)
		}
	}
	for i, x := range suspects {
		r.Progress(Progress{Text: "again: " + x.Name, Done: float64(i) / float64(len(suspects))})
		if err := r.otherLayouts(ctx, x); err != nil {
			return err
		}
		first := len(values(x.New, "ns/op"))
		x.trial = trial.New(2, r.Seed+hash(x.Package+x.Name), trial.Limits{Most: first})
		for len(x.second[newSide]) < first {
			if err := r.block(ctx, x, func(side int, sm Sample) { x.second[side] = append(x.second[side], sm) }); err != nil {
				return err
			}
		}
		if r.counter != nil {
			if err := r.instructions(ctx, x, func(side int, s Sample) { x.second[side] = append(x.second[side], s) }); err != nil {
				return err
			}
		}
	}
	if len(suspects) > 0 {
		r.Progress(Progress{Text: fmt.Sprintf("%d measured again", len(suspects)), Done: 1, End: true})
	}
	for _, x := range suspects {
		x.confirm()
	}
	r.bound()
	return nil
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// errFailed is returned for a benchmark that fails.
var errFailed = errors.New("the benchmark fails")
