package bench

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/compare"
)

// simulated returns a run of many benchmarks whose times vary by a tenth, with some slow processes;
// those in the first part are slower by factor on the new side. The second set comes from the same
// distribution.
func simulated(rng *rand.Rand, benchmarks, samples int, changed int, factor float64) *runner {
	r := &runner{}
	draw := func(f float64) (s []Sample) {
		for range samples {
			v := 100 * f * math.Exp(0.1*rng.NormFloat64())
			if rng.IntN(10) == 0 {
				v *= 1.5
			}
			s = append(s, Sample{Values: map[string]float64{"ns/op": v, cpuUnit: v * (1 + 0.02*rng.NormFloat64()), "allocs/op": 3}})
		}
		return s
	}
	for i := range benchmarks {
		f := 1.0
		if i < changed {
			f = factor
		}
		x := &subject{Benchmark: &Benchmark{Old: draw(1), New: draw(f)}}
		x.second = [2][]Sample{draw(1), draw(f)}
		r.subjects = append(r.subjects, x)
	}
	return r
}

func (r *runner) verdicts() map[compare.Verdict]int {
	count := map[compare.Verdict]int{}
	r.judge()
	for _, x := range r.subjects {
		if x.suspect() {
			x.confirm()
		}
	}
	r.bound()
	for _, x := range r.subjects {
		for _, row := range x.Rows {
			count[row.Verdict]++
		}
	}
	return count
}

// TestNoFalseChanges: of 120 comparisons of a program with itself, at most 1 in 40 has a verdict.
func TestNoFalseChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	for range 120 {
		v := simulated(rng, 10, 10, 0, 1).verdicts()
		if v[compare.Better]+v[compare.Worse] > 0 {
			wrong++
		}
		if v[compare.Same] < 10 {
			t.Fatalf("allocations that are the same in every run: %v", v)
		}
	}
	if wrong > 3 {
		t.Errorf("%d of 120 comparisons of a program with itself called something changed", wrong)
	}
}

// TestChangesAreFound: a change of a fifth is the only one found, and its interval contains it.
func TestChangesAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	found, others, held := 0, 0, 0
	for range 20 {
		r := simulated(rng, 10, 24, 2, 1.2)
		r.verdicts()
		for i, x := range r.subjects {
			for _, row := range x.Rows {
				switch {
				case row.Exact || row.Verdict != compare.Worse && row.Verdict != compare.Better:
				case i >= 2:
					others++
				case row.Verdict == compare.Worse:
					found++
					if *row.Low <= 1.2 && 1.2 <= *row.High {
						held++
					}
				}
			}
		}
	}
	if found < 60 || float64(held) < 0.9*float64(found) || others > 2 {
		t.Errorf("%d of 80 changes found, the interval of %d holds the truth, %d others", found, held, others)
	}
}

func TestExact(t *testing.T) {
	for _, tt := range []struct {
		unit     string
		old, new []float64
		want     compare.Verdict
		exact    bool
	}{
		{"allocs/op", []float64{3, 3, 3, 3}, []float64{3, 3, 3, 3}, compare.Same, true},
		{"allocs/op", []float64{3, 3, 3, 3}, []float64{4, 4, 4, 4}, compare.Worse, true},
		{"allocs/op", []float64{0, 0, 0, 0}, []float64{1, 1, 1, 1}, compare.Worse, true},
		{"B/op", []float64{64, 64}, []float64{48, 48}, compare.Better, true},
		{"B/op", []float64{64, 65, 64, 65}, []float64{64, 64, 65, 64}, "", false}, // needs the family of rows
		{"ns/op", []float64{5, 5, 5, 5}, []float64{5, 5, 5, 5}, "", false},        // a time is never exact
	} {
		row, ok := newRow(tt.unit, tt.old, tt.new)
		if !ok || row.Exact != tt.exact || row.Verdict != tt.want {
			t.Errorf("%s %v %v: %+v", tt.unit, tt.old, tt.new, row)
		}
	}
	grows := func(unit string, grew bool) compare.Verdict { return (&Row{Unit: unit}).direction(grew) }
	if grows("MB/s", true) != compare.Better || grows("ns/op", true) != compare.Worse || grows("MB/s", false) != compare.Worse {
		t.Error("a rate is better when it grows, a time when it falls")
	}
}

func TestExactly(t *testing.T) {
	for name, want := range map[string]string{
		"BenchmarkX":              "^BenchmarkX$",
		"BenchmarkX/n=10/a.b":     `^BenchmarkX$/^n=10$/^a\.b$`,
		"BenchmarkX/size-4":       `^BenchmarkX$/^size-4$`,
		"BenchmarkX/with_(paren)": `^BenchmarkX$/^with_\(paren\)$`,
	} {
		if got := exactly(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	lines, err := parse([]byte("goos: linux\nBenchmarkA/x-2 \t 1000\t 12.5 ns/op\t 13 cpu-ns/op\t 8 B/op\t 1 allocs/op\t 80.00 MB/s\nPASS\n"))
	if err != nil || len(lines) != 1 {
		t.Fatal(lines, err)
	}
	for unit, want := range map[string]float64{"ns/op": 12.5, cpuUnit: 13, "B/op": 8, "allocs/op": 1, "MB/s": 80} {
		if got := lines[0].values[unit]; got != want {
			t.Errorf("%s is %v, want %v", unit, got, want)
		}
	}
	if lines[0].name != "BenchmarkA/x-2" {
		t.Error(lines[0].name)
	}
}

// TestTimer: the timer of the installed toolchain can be copied.
func TestTimer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system has no getrusage")
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	goroot := strings.TrimSpace(string(out))
	overlay, err := timerOverlay(goroot, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(overlay[filepath.Join(goroot, "src", "testing", "benchmark.go")])
	if err != nil || strings.Count(string(text), "hone0cpuStart(b)") != 2 {
		t.Error(err, "the copy does not call the clock")
	}
	other := t.TempDir()
	if err := os.MkdirAll(filepath.Join(other, "src", "testing"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "src", "testing", "benchmark.go"), []byte("package testing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := timerOverlay(other, t.TempDir()); err == nil || !strings.Contains(err.Error(), "does not support") {
		t.Errorf("an unknown timer: %v", err)
	}
}
