package site

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/stats"
)

var (
	ablationReps       = flag.Int("ablation.reps", 5, "runs of each variant in TestAblation")
	ablationIterations = flag.Int("ablation.iterations", 150_000, "iterations of work a run in TestAblation, about 5 µs of CPU each")
)

// places are the functions of testdata/ablation that allocate.
var places = []string{"chain", "page", "names", "index"}

// TestAblation compares the price of garbage collection with the runtime, whose pacing it depends
// on. A program with four allocating places is run unchanged and with each place reusing memory,
// and the CPU time saved is compared with what one profile of the whole program predicts. The rule
// by bytes must err by far less than the rule by objects, and less than charging what was sampled
// below a place. A new collector with another pacing shows here first.
//
// It asserts no figure and no wall time, only which rule errs less in CPU time. How often it runs
// the program depends on how much the savings vary, never on which rule errs less. For a figure
// worth quoting, on a quiet machine:
//
//	go test -tags live ./internal/site -run TestAblation -v -ablation.reps=15 -ablation.iterations=1000000
func TestAblation(t *testing.T) {
	live.Only(t)
	program := buildAblation(t)
	rules := predictSavings(t, program)
	var saved savings
	for range *ablationReps {
		saved.measure(t, program)
	}
	for saved.noise() > rules.errorOf(rules.objects, &saved)/5 {
		if saved.runs == mostAblation**ablationReps {
			t.Fatalf("the savings scatter by %.3f s after %d runs of each variant, and the rules differ by %.3f s: run it where less else runs, or with more -ablation.iterations",
				saved.noise(), saved.runs, rules.errorOf(rules.objects, &saved))
		}
		saved.measure(t, program)
	}

	var table strings.Builder
	fmt.Fprintf(&table, "CPU-seconds of %d iterations, %d runs of each variant\n%-6s %22s %22s %8s %8s\n",
		*ablationIterations, saved.runs, "place", "saved when it reuses", "predicted by bytes", "objects", "samples")
	for _, place := range places {
		s, b := saved.of(place), rules.interval[place]
		fmt.Fprintf(&table, "%-6s %6.3f (%5.3f to %5.3f) %6.3f (%5.3f to %5.3f) %8.3f %8.3f\n", place,
			s.Value, s.Low, s.High, b.Value, b.Low, b.High, rules.objects[place], rules.samples[place])
	}
	bytes, objects, samples := rules.errorOf(rules.bytes, &saved), rules.errorOf(rules.objects, &saved), rules.errorOf(rules.samples, &saved)
	t.Logf("%stotal error: by bytes %.3f, by objects %.3f, by samples below the place %.3f; the savings scatter by %.3f",
		table.String(), bytes, objects, samples, saved.noise())
	if bytes > 0.6*objects {
		t.Errorf("the rule by bytes errs by %.3f s in all, by objects by %.3f s: does the runtime still pace the collector by bytes?", bytes, objects)
	}
	if bytes > 0.9*samples {
		t.Errorf("the rule by bytes errs by %.3f s in all, charging only samples below a place by %.3f s", bytes, samples)
	}
}

// mostAblation limits the runs of each variant, in multiples of -ablation.reps.
const mostAblation = 8

func buildAblation(t *testing.T) string {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to build the program with")
	}
	program := filepath.Join(t.TempDir(), "ablation")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	out, err := exec.Command("go", "build", "-o", program, "./testdata/ablation").CombinedOutput()
	if err != nil {
		t.Fatalf("build testdata/ablation: %v\n%s", err, out)
	}
	return program
}

// runAblation runs the program and returns the CPU time it used.
func runAblation(t *testing.T, program string, args ...string) float64 {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=4", "GOGC=100", "GOMEMLIMIT=off", "GODEBUG=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// savings are the CPU seconds that each place saves when it reuses memory, by run.
type savings struct {
	runs        int
	differences map[string][]float64
}

// measure runs each variant once, interleaved, so that other load on the machine affects all
// equally.
func (s *savings) measure(t *testing.T, program string) {
	iterations := fmt.Sprint(*ablationIterations)
	first, without := runAblation(t, program, "-iterations", iterations), map[string]float64{}
	for _, place := range places {
		without[place] = runAblation(t, program, "-iterations", iterations, "-without", place)
	}
	whole := (first + runAblation(t, program, "-iterations", iterations)) / 2
	if s.differences == nil {
		s.differences = map[string][]float64{}
	}
	for _, place := range places {
		s.differences[place] = append(s.differences[place], whole-without[place])
	}
	s.runs++
}

// of returns the median of a place's savings with its standard error, by the inner half of the
// values.
func (s *savings) of(place string) stats.Interval {
	d := slices.Sorted(slices.Values(s.differences[place]))
	median := d[len(d)/2]
	// The inner half of a normal distribution is 1.349 σ wide; the median's standard error is
	// 1.2533 σ/√n.
	e := 1.2533 / 1.349 * (d[len(d)-1-len(d)/4] - d[len(d)/4]) / math.Sqrt(float64(len(d)))
	return stats.Interval{Value: median, Low: median - e, High: median + e}
}

// noise returns the standard error of the savings of all places.
func (s *savings) noise() (e float64) {
	for _, place := range places {
		i := s.of(place)
		e = math.Hypot(e, (i.High-i.Low)/2)
	}
	return e
}

// rules has what rival rules predict for each place, in CPU seconds saved.
type rules struct {
	bytes, objects, samples map[string]float64
	interval                map[string]stats.Interval // of bytes
}

// errorOf returns how far a rule's predictions are from the savings, summed over all places.
func (r *rules) errorOf(predicted map[string]float64, saved *savings) (e float64) {
	for _, place := range places {
		e += math.Abs(predicted[place] - saved.of(place).Value)
	}
	return e
}

// predictSavings takes one profile of the whole program, with more iterations than a run, for
// precision.
func predictSavings(t *testing.T, program string) rules {
	const more = 5
	base := filepath.Join(t.TempDir(), "profile")
	runAblation(t, program, "-iterations", fmt.Sprint(more**ablationIterations), "-profiles", base)
	allocs, err := profile.Subtract(open(t, base+".after"), open(t, base+".before"), profile.Subtraction{})
	if err != nil {
		t.Fatal(err)
	}
	code, err := gocode.Open(t.Context(), gocode.Config{})
	if err != nil {
		t.Fatal(err)
	}
	table := mustJoin(t, Input{CPU: open(t, base+".cpu"), Allocs: allocs, Code: code})
	tot := &table.Totals
	t.Logf("profile of %d × the iterations: %.2f CPU-seconds: malloc %.2f, mark workers %.2f, assists %.2f, sweep and cycles %.2f, idle marking %.2f; notes %q",
		more, tot.TotalSeconds, tot.M, tot.D, tot.A, tot.W, tot.I, table.Notes)

	r := rules{map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]stats.Interval{}}
	for _, place := range places {
		function := "main." + place
		var malloc, allocated []*Row
		for _, s := range table.Sites {
			if s.Function != function {
				continue
			}
			allocated = append(allocated, s.Allocs...)
			for _, row := range s.CPU {
				if row.Class == Malloc {
					malloc = append(malloc, row)
				}
			}
		}
		cost, interval := table.Price(malloc, allocated)
		r.bytes[place] = interval.Value / more
		r.interval[place] = interval.Scale(1.0 / more)
		objects := float64(cost.AllocObjects) / float64(tot.AllocObjects+1)
		r.objects[place] = (cost.MallocSeconds + objects*table.GCWork().Value) / more
		r.samples[place] = (cost.MallocSeconds + assistsBelow(table, function)) / more
	}
	return r
}

// assistsBelow sums the mark assists that were sampled below a function.
func assistsBelow(table *Table, function string) (sum float64) {
	for _, b := range table.Buckets {
		for _, r := range b.Rows {
			if r.Class == Assist && slices.ContainsFunc(r.Stack, func(f *Frame) bool { return f.Function == function }) {
				sum += seconds(r)
			}
		}
	}
	return sum
}

func open(t *testing.T, name string) *profile.Profile {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Decode(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
