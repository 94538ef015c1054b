package bench

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/scratch"
	"github.com/hone-go/hone/stats"
)

// NoiseSchema is the version of Noise's JSON form.
const NoiseSchema = "hone/noise/v1"

// Noise describes how precisely a machine measures: the results of comparing programs with
// themselves.
type Noise struct {
	Schema     string        `json:"schema"`
	Made       time.Time     `json:"made"`
	Machine    string        `json:"machine"`
	Go         string        `json:"go"`
	Benchmarks int           `json:"benchmarks"`
	Budget     float64       `json:"budget_seconds"` // per benchmark
	Seconds    float64       `json:"seconds"`
	Metrics    []NoiseMetric `json:"metrics"`
	// Disturbances, in cores on average; absent if the system does not report them.
	Cores     int      `json:"cores"`
	Busy      *float64 `json:"busy_cores,omitempty"`        // of all processes, including this measurement, which keeps about one core busy
	Stolen    *float64 `json:"stolen_cores,omitempty"`      // ready to run while the hypervisor ran something else
	Throttled *float64 `json:"throttled_seconds,omitempty"` // time for which the CPU quota stopped it
	// The lowest and highest frequency of a core, read every second, and the governor that sets it.
	ClockLow  *float64 `json:"clock_low_mhz,omitempty"`
	ClockHigh *float64 `json:"clock_high_mhz,omitempty"`
	Governor  string   `json:"governor,omitempty"`
}

// NoiseMetric is one metric, over all benchmarks.
type NoiseMetric struct {
	Unit   string  `json:"unit"`
	Sees   float64 `json:"sees"`   // half the width of the interval of new / old, of the median benchmark; a smaller change is not seen
	Worst  float64 `json:"worst"`  // the same for the benchmark that varies most
	Called int     `json:"called"` // rows that were reported as changes, all of them wrongly
	Rows   int     `json:"rows"`
}

//go:embed noise_test.go.txt
var noiseBenchmarks []byte

// MeasureNoise compares benchmarks with themselves: those of s.Packages or, if there are none, some
// of hone's own (a loop over numbers, a map, a sort, strings, and two goroutines that wait for each
// other).
func MeasureNoise(ctx context.Context, s Spec) (*Noise, error) {
	if len(s.Packages) == 0 {
		if err := os.MkdirAll(s.WorkDir, 0o755); err != nil {
			return nil, err
		}
		dir, err := scratch.Make(s.WorkDir, dirPrefix)
		if err != nil {
			return nil, err
		}
		defer dir.Remove()
		for name, text := range map[string][]byte{"go.mod": []byte("module noise\n\ngo 1.23\n"), "noise_test.go": noiseBenchmarks} {
			if err := os.WriteFile(filepath.Join(dir.Path, name), text, 0o600); err != nil {
				return nil, err
			}
		}
		s.Dir, s.Packages = dir.Path, []string{"."}
	}
	s.Against, s.SamplesOnly = Self, true
	before, counted := recording.MachineCPU()
	held, bounded := recording.Throttled()
	began := time.Now()
	clocks := watchClocks(ctx)
	r, err := Run(ctx, s)
	seen := clocks()
	if err != nil {
		return nil, err
	}
	spent := time.Since(began).Seconds()
	m := recording.ThisMachine()
	n := noiseOf(r)
	n.Made, n.Machine, n.Cores, n.Budget = began, m.CPU, m.Cores, s.withDefaults().Budget.Seconds()
	if after, ok := recording.MachineCPU(); ok && counted && spent > 0 {
		busy, stolen := (after.Busy-before.Busy)/spent, (after.Stolen-before.Stolen)/spent
		n.Busy, n.Stolen = &busy, &stolen
	}
	if now, ok := recording.Throttled(); ok && bounded {
		held = now - held
		n.Throttled = &held
	}
	if seen != nil {
		n.ClockLow, n.ClockHigh, n.Governor = &seen.Low, &seen.High, seen.Governor
	}
	return n, nil
}

// watchClocks reads the frequencies of the cores every second, until the returned function is
// called. That function returns the lowest and highest, or nil if the system does not report them.
func watchClocks(ctx context.Context) (stop func() *recording.Clocks) {
	all, ok := recording.ReadClocks()
	if !ok {
		return func() *recording.Clocks { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if c, ok := recording.ReadClocks(); ok {
					all.Low, all.High = min(all.Low, c.Low), max(all.High, c.High)
				}
			}
		}
	}()
	return func() *recording.Clocks {
		cancel()
		<-done
		return &all
	}
}

// noiseOf computes the noise from a comparison of a tree with itself.
func noiseOf(r *Result) *Noise {
	n := &Noise{Schema: NoiseSchema, Go: r.Go, Benchmarks: len(r.Benchmarks), Seconds: r.Seconds, Metrics: []NoiseMetric{}}
	var units []string
	widths := map[string][]float64{}
	called, rows := map[string]int{}, map[string]int{}
	for _, b := range r.Benchmarks {
		for _, row := range b.Rows {
			if !slices.Contains(units, row.Unit) {
				units = append(units, row.Unit)
			}
			rows[row.Unit]++
			if row.Verdict == compare.Better || row.Verdict == compare.Worse {
				called[row.Unit]++
			}
			switch {
			case row.Exact:
				widths[row.Unit] = append(widths[row.Unit], 0)
			case row.Low != nil && row.High != nil:
				widths[row.Unit] = append(widths[row.Unit], (*row.High-*row.Low)/2)
			}
		}
	}
	for _, unit := range orderedUnits(units) {
		if w := widths[unit]; len(w) > 0 {
			n.Metrics = append(n.Metrics, NoiseMetric{unit, stats.Median(w), slices.Max(w), called[unit], rows[unit]})
		}
	}
	return n
}
