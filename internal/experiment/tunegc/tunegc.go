package tunegc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/gogc"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
)

// Schema is the version of Result's JSON form.
const Schema = "hone/tunegc/v1"

// Spec says what to tune.
type Spec struct {
	Options  capture.Options // of one run
	Memory   int64           // memory that the process may use, bytes; 0: that of the machine or its cgroup
	Others   int             // number of neighbours of the choice that are measured too
	Also     []int           // values of GOGC that are measured too, percent
	Runs     int             // of each setting that is measured; 0: 6
	Budget   time.Duration   // adds runs until that time is over; 0: none
	Seed     uint64
	Progress func(capture.Event)
}

// Result is what was predicted and measured. CPU is per unit of work (a run, a request).
type Result struct {
	Schema      string  `json:"schema"`
	Target      string  `json:"target"`
	Unit        string  `json:"unit"`
	MemoryBytes int64   `json:"memory_bytes"` // the budget
	MemoryOf    string  `json:"memory_of"`    // its origin
	GOGC        int     `json:"gogc"`         // the target's own, percent; -1: off
	Limit       float64 `json:"gomemlimit_b,omitempty"`
	Cycles      float64 `json:"cycles"`   // observed, per unit of work
	GCShare     float64 `json:"gc_share"` // of its CPU, observed
	LiveBytes   float64 `json:"live_b"`   // the largest live heap that was observed
	// Drag is how many CPU seconds the program loses for each CPU second of the garbage collector,
	// because it runs slower while the collector marks. It comes from a trial in the observed
	// service and from its trace.
	Drag float64 `json:"drag"`
	// OtherCores is how many cores other processes kept busy while the program was observed.
	OtherCores float64 `json:"other_cores"`
	Rows       []Row   `json:"rows"`   // by GOGC
	Choice     *Choice `json:"choice"` // null: the target's own setting is as good
	Seconds    float64 `json:"seconds"`
	Keep       string  `json:"keep,omitempty"` // why there is no choice
}

// Row is a setting.
type Row struct {
	gogc.Setting
	CPUSeconds float64   `json:"cpu_s"`      // predicted
	GCShare    float64   `json:"gc_share"`   // predicted
	Resident   float64   `json:"resident_b"` // predicted peak
	Fits       bool      `json:"fits"`       // within the budget
	Own        bool      `json:"own,omitempty"`
	Measured   *Measured `json:"measured,omitempty"`
}

// Measured is the measurement of a setting.
type Measured struct {
	CPUSeconds float64 `json:"cpu_s"`
	// Ratio is CPU with the setting over that with the target's own, with 95 % bounds.
	Ratio    *float64        `json:"ratio,omitempty"`
	Low      *float64        `json:"low,omitempty"`
	High     *float64        `json:"high,omitempty"`
	Verdict  compare.Verdict `json:"verdict,omitempty"`
	Resident float64         `json:"resident_b"`
	Failed   string          `json:"failed,omitempty"`
}

// Choice is the setting to use.
type Choice struct {
	Row int      `json:"row"` // in Rows
	Env []string `json:"env"` // GOGC and a GOMEMLIMIT that guards the budget
	// GrownShare is the predicted share of CPU of the collector with this setting if live memory
	// doubles; -1: it exceeds the budget.
	GrownShare float64 `json:"gc_share_if_live_doubles"`
	// Grown is the same for other growth factors of live memory.
	Grown []Grown `json:"grown"`
}

// Grown is the predicted cost of the collector, with the chosen setting, when live memory grows.
type Grown struct {
	Factor  float64 `json:"factor"`   // of live memory
	GCShare float64 `json:"gc_share"` // of CPU; -1: it exceeds the budget
}

// growths returns the factors of Choice.Grown.
func growths() []float64 { return []float64{1.5, 2, 3, 4} }

const (
	// worthwhile is the minimum saving of CPU, as a share, for which a setting is changed.
	worthwhile = 0.02
	// knee is the share of CPU below which saving it does not justify more memory.
	knee = 0.02
	// guardUse is the part of the budget to which GOMEMLIMIT is set, and within which a setting
	// must stay.
	guardUse = 0.9
)

func candidates() []int { return []int{25, 50, 100, 200, 400, 800, 1600, 3200} }

// Run observes, predicts and measures.
func Run(ctx context.Context, cfg session.Config, s Spec) (*Result, error) {
	if s.Options.Bench != "" || s.Options.URL != "" {
		return nil, errors.New("tune gc: name a program or, with -load, a service that hone starts: a benchmark's heap says nothing about a program's")
	}
	began := time.Now()
	dir, err := workDir(cfg)
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	o, m, err := observe(ctx, cfg, s, dir.Path)
	if err != nil {
		return nil, err
	}
	if err := weigh(ctx, cfg, s, dir.Path, o); err != nil {
		return nil, err
	}
	r, err := predict(o, m, s)
	if err != nil {
		return nil, err
	}
	if err := r.measure(ctx, cfg, s, o); err != nil {
		return nil, err
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// predict computes the rows, and chooses one.
func predict(o *gogc.Observed, m *recording.Manifest, s Spec) (*Result, error) {
	ph, _ := m.Phase(recording.PhaseClean)
	units := float64(max(ph.Requests, int64(ph.Runs)))
	if units <= 0 || o.CPUSeconds <= 0 {
		return nil, errors.New("tune gc: the target did no work while it was observed: a service needs -load")
	}
	r := &Result{Schema: Schema, Target: m.Target.Arg, Unit: m.Unit(), GOGC: o.GOGC, Limit: o.Limit, LiveBytes: o.Live(), Drag: o.Drag, Rows: []Row{}}
	if ph.Seconds > 0 && ph.MachineCPUSeconds > 0 {
		r.OtherCores = max(0, ph.MachineCPUSeconds-ph.CPUSeconds-ph.GeneratorCPUSeconds) / ph.Seconds
	}
	r.MemoryBytes, r.MemoryOf = s.Memory, "-memory"
	if r.MemoryBytes <= 0 {
		memory, of := m.Memory()
		r.MemoryBytes, r.MemoryOf = int64(memory), of
	}
	if r.MemoryBytes <= 0 {
		return nil, errors.New("tune gc: the amount of memory is unknown; set it with -memory 1GiB")
	}
	own := gogc.Setting{GOGC: max(0, o.GOGC), Limit: o.Limit}
	seen := o.Predict(own)
	r.Cycles, r.GCShare = seen.Cycles/units, seen.GCSeconds/o.CPUSeconds
	budget := guardUse * float64(r.MemoryBytes)
	settings := []gogc.Setting{own}
	for _, g := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(candidates(), s.Also)))) {
		if g != own.GOGC || own.Limit > 0 {
			settings = append(settings, gogc.Setting{GOGC: g})
		}
	}
	settings = append(settings, gogc.Setting{Limit: budget})
	for i, set := range settings {
		p := o.Predict(set)
		r.Rows = append(r.Rows, Row{Setting: set, CPUSeconds: p.CPUSeconds / units, GCShare: share(p), Resident: p.Resident, Own: i == 0,
			Fits: p.Feasible && p.Resident <= budget})
	}
	slices.SortStableFunc(r.Rows, func(a, b Row) int { return order(a.GOGC) - order(b.GOGC) })
	r.choose(o, budget)
	return r, nil
}

// order is the sort key of a GOGC: off comes last.
func order(g int) int {
	if g <= 0 {
		return math.MaxInt32
	}
	return g
}

func share(p gogc.Predicted) float64 {
	if p.CPUSeconds <= 0 {
		return 0
	}
	return p.GCSeconds / p.CPUSeconds
}

// choose chooses, among the settings within the budget that come near the least CPU, the one with
// the least memory.
func (r *Result) choose(o *gogc.Observed, budget float64) {
	own := slices.IndexFunc(r.Rows, func(x Row) bool { return x.Own })
	best := math.Inf(1)
	for _, x := range r.Rows {
		if x.Fits && x.GOGC > 0 {
			best = min(best, x.CPUSeconds)
		}
	}
	if math.IsInf(best, 1) {
		r.Keep = fmt.Sprintf("no setting stays within %.0f %% of the budget: live memory alone is %.0f MiB", 100*guardUse, o.Live()/(1<<20))
		return
	}
	choice := -1
	for i, x := range r.Rows {
		if x.Fits && x.GOGC > 0 && x.CPUSeconds <= best+knee*r.Rows[own].CPUSeconds && (choice < 0 || x.Resident < r.Rows[choice].Resident) {
			choice = i
		}
	}
	if saved := 1 - r.Rows[choice].CPUSeconds/r.Rows[own].CPUSeconds; choice == own || r.Rows[own].Fits && saved < worthwhile {
		r.Keep = fmt.Sprintf("no other setting saves %.0f %% of CPU within the budget", 100*worthwhile)
		return
	}
	limit := (gogc.Heap{Memory: float64(r.MemoryBytes) * guardUse / 0.75}).Guard()
	c := &Choice{Row: choice, Env: []string{fmt.Sprintf("GOGC=%d", r.Rows[choice].GOGC), fmt.Sprintf("GOMEMLIMIT=%dMiB", limit>>20)}, GrownShare: -1}
	if p := o.Grown(2).Predict(gogc.Setting{GOGC: r.Rows[choice].GOGC, Limit: float64(limit)}); p.Feasible {
		c.GrownShare = share(p)
	}
	for _, by := range growths() {
		g := Grown{Factor: by, GCShare: -1}
		if p := o.Grown(by).Predict(gogc.Setting{GOGC: r.Rows[choice].GOGC, Limit: float64(limit)}); p.Feasible {
			g.GCShare = share(p)
		}
		c.Grown = append(c.Grown, g)
	}
	r.Choice = c
}
