package capture

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// ran sums how often the blocks of a function ran, over all windows of a recording: by function
// name, the entry block first.
func ran(t *testing.T, r *recording.Recording) map[string][]uint64 {
	t.Helper()
	var meta *covdata.Meta
	var counts covdata.Counts
	for _, part := range r.Manifest.Parts {
		if !strings.HasPrefix(part.Name, recording.PartCounts+"/") {
			continue
		}
		data, err := r.Bytes(part.Name)
		if err != nil {
			t.Fatal(err)
		}
		if meta == nil {
			meta, err = covdata.ReadMeta(data)
		} else {
			counts, err = meta.ReadCounters(data, counts)
		}
		if err != nil {
			t.Fatalf("%s: %v", part.Name, err)
		}
	}
	if counts == nil {
		t.Fatalf("no counters: %+v", r.Manifest.Missing)
	}
	out := map[string][]uint64{}
	for i, p := range meta.Packages {
		for j, f := range p.Funcs {
			if counts[i][j] != nil {
				out[p.Path+"."+f.Name] = counts[i][j]
			}
		}
	}
	return out
}

// TestCountsOfAService counts a loop that makes 390 iterations for each request.
func TestCountsOfAService(t *testing.T) {
	o := realOptions(t, unpack(t, realService))
	addr := freeAddr(t)
	o.Args, o.Load = []string{"-addr", addr}, loadOn(addr)
	o.Phases = []string{recording.PhaseCPU, recording.PhaseCounts}
	if partial, err := Record(t.Context(), o); partial || err != nil {
		t.Fatal(partial, err)
	}
	r := openReal(t, o.Out)
	pad := ran(t, r)["example.com/service.pad"]
	ph, ok := r.Phase(recording.PhaseCounts)
	if !ok || len(ph.Windows) != countWindows || ph.Requests == 0 {
		t.Fatalf("phase %+v", ph)
	}
	// A window's counters are read while requests are under way: at either end, each connection may
	// be in the middle of a call.
	under := float64(2 * countWindows * o.Load.Connections)
	if pad == nil || math.Abs(float64(slices.Max(pad))/390-float64(pad[0])) > under {
		t.Errorf("pad ran %v: want 390 iterations for each call", pad)
	}
	// A few requests are counted before or after the window that they belong to.
	if calls := float64(pad[0]); math.Abs(calls/float64(ph.Requests)-1) > 0.2 {
		t.Errorf("pad was called %v times in %d requests", calls, ph.Requests)
	}
}

const countedProgram = `
-- go.mod --
module example.com/program

go 1.23
-- main.go --
package main

import "fmt"

func step(i int) (sum int) {
	for range 2_000 {
		sum += i
	}
	return sum
}

func main() {
	sum := 0
	for i := range 50_000 {
		sum += step(i)
	}
	fmt.Println(sum)
}
-- bench_test.go --
package main

import "testing"

func BenchmarkStep(b *testing.B) {
	for i := 0; i < b.N; i++ {
		step(i)
	}
}
`

// TestCountsOfPrograms counts one run of a program, and a benchmark's operations.
func TestCountsOfPrograms(t *testing.T) {
	dir := unpack(t, countedProgram)
	t.Run("program", func(t *testing.T) {
		o := realOptions(t, dir)
		o.Phases = []string{recording.PhaseCPU, recording.PhaseCounts}
		if partial, err := Record(t.Context(), o); partial || err != nil {
			t.Fatal(partial, err)
		}
		r := openReal(t, o.Out)
		if got := ran(t, r)["example.com/program.step"]; len(got) == 0 || got[0] != 50_000 || slices.Max(got) != 100_000_000 {
			t.Errorf("step ran %v, want 50000 calls of 2000 iterations", got)
		}
		if ph, _ := r.Phase(recording.PhaseCounts); ph.Runs != 1 || len(ph.Windows) != 1 {
			t.Errorf("phase %+v", ph)
		}
	})
	t.Run("benchmark", func(t *testing.T) {
		o := realOptions(t, dir)
		o.Bench = "Step"
		o.Phases = []string{recording.PhaseCPU, recording.PhaseCounts}
		if partial, err := Record(t.Context(), o); partial || err != nil {
			t.Fatal(partial, err)
		}
		r := openReal(t, o.Out)
		if got := ran(t, r)["example.com/program.step"]; len(got) == 0 || got[0] != countedOps+1 {
			t.Errorf("step ran %v, want %d calls", got, countedOps+1)
		}
		if ph, _ := r.Phase(recording.PhaseCounts); ph.Requests != countedOps {
			t.Errorf("phase %+v", ph)
		}
	})
}

const endlessCounted = `
-- go.mod --
module example.com/program

go 1.23
-- main.go --
package main

import (
	"fmt"
	"os"
	"runtime/coverage"
	"time"
)

//go:noinline
func step(i int) (sum int) {
	for range 20_000 {
		sum += i
	}
	return sum
}

func main() {
	sum := 0
	for i := range 20_000 {
		sum += step(i)
	}
	fmt.Println(sum)
	if coverage.WriteMetaDir(os.Args[1]) == nil {
		time.Sleep(time.Hour) // it has counters
	}
}
`

// TestCountsOfARunThatIsStopped: what a run has counted that takes too long is kept, with a note.
func TestCountsOfARunThatIsStopped(t *testing.T) {
	o := realOptions(t, unpack(t, endlessCounted))
	o.Args = []string{t.TempDir()}
	o.Phases = []string{recording.PhaseCPU, recording.PhaseCounts}
	w := realWorld()
	w.freeAgain = 2 * time.Second
	if partial, err := record(t.Context(), o, w); partial || err != nil {
		t.Fatal(partial, err)
	}
	r := openReal(t, o.Out)
	ph, ok := r.Phase(recording.PhaseCounts)
	if !ok || !ph.Cut || ph.Runs != 1 || len(ph.Windows) != 1 {
		t.Errorf("phase %+v", ph)
	}
	if got := ran(t, r)["example.com/program.step"]; len(got) == 0 || got[0] == 0 || slices.Max(got) < 10_000*got[0] {
		t.Errorf("step ran %v, want 20000 iterations for each call", got)
	}
	if notes := strings.Join(r.Manifest.Notes, "\n"); !strings.Contains(notes, "The counts are of the part until then") {
		t.Errorf("notes: %q", notes)
	}
}

const slowCounted = `
-- go.mod --
module example.com/program

go 1.23
-- step.go --
package program

//go:noinline
func step(i int) (sum int) {
	for range 20_000 {
		sum += i
	}
	return sum
}
-- bench_test.go --
package program

import (
	"testing"
	"time"
)

func BenchmarkStep(b *testing.B) {
	if b.N == 200 {
		time.Sleep(time.Hour) // as many are counted first
	}
	for i := 0; i < b.N; i++ {
		step(i)
	}
}
`

// TestCountsOfFewerOperations: a benchmark that is too slow with counters is counted for fewer
// operations, with a note.
func TestCountsOfFewerOperations(t *testing.T) {
	o := realOptions(t, unpack(t, slowCounted))
	o.Bench, o.Phases = "Step", []string{recording.PhaseCPU, recording.PhaseCounts}
	w := realWorld()
	w.freeAgain = 2 * time.Second
	if partial, err := record(t.Context(), o, w); partial || err != nil {
		t.Fatal(partial, err)
	}
	r := openReal(t, o.Out)
	if ph, _ := r.Phase(recording.PhaseCounts); ph.Requests != countedOps/fewerOps {
		t.Errorf("phase %+v", ph)
	}
	if got := ran(t, r)["example.com/program.step"]; len(got) == 0 || got[0] != countedOps/fewerOps+1 {
		t.Errorf("step ran %v", got)
	}
	if notes := strings.Join(r.Manifest.Notes, "\n"); !strings.Contains(notes, "It ran again with 10 operations instead of 200") {
		t.Errorf("notes: %q", notes)
	}
}

// TestHotPackages: packages that cost little, and those that cannot be counted, are left out.
func TestHotPackages(t *testing.T) {
	stack := func(functions ...string) (frames []profile.FrameSpec) {
		for _, f := range functions {
			frames = append(frames, profile.FrameSpec{Function: f, File: "x.go", Line: 1})
		}
		return frames
	}
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add(stack("runtime.memmove", "strings.(*Builder).WriteString", "text/template.(*Template).Execute", "main.work", "net/http.(*conn).serve"), 50, 50e7)
	b.Add(stack("example.com/dep.Do[...]", "main.work", "net/http.(*conn).serve"), 49, 49e7)
	b.Add(stack("encoding/json.Marshal", "example.com/cmd/app/store.Load", "main.work", "net/http.(*conn).serve"), 1, 1e7)
	want := []string{"example.com/cmd/app", "text/template", "example.com/dep", "example.com/cmd/app/store"} // the last waits
	if got := hotPackages(map[string][]byte{recording.PartCPU: built(b)}, "example.com/cmd/app", "example.com/cmd/app"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
