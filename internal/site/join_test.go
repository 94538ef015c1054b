package site

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile"
)

// pieces are the parts of random stacks: leaf parts and root parts.
var (
	leaves = []string{
		"main.a:1", "main.a:2", "main.b:1", "github.com/go-chi/chi.r:4", "runtime.mallocgc < main.a:1",
		"runtime.gcDrainN < runtime.gcAssistAlloc < runtime.mallocgc < main.b:1", "runtime.gcStart < runtime.mallocgc < main.a:2",
		"strings.Repeat inlined < main.a:1 inlined", "runtime.memmove", "sort.insertionSort", "encoding/json.Marshal",
	}
	roots = []string{
		"main.main:9 < runtime.main", "main.handle:3 < net/http.(*conn).serve", "net/http.(*conn).serve",
		"runtime.gcDrainMarkWorkerIdle < runtime.gcBgMarkWorker", "runtime.gcDrainMarkWorkerDedicated < runtime.gcBgMarkWorker",
		"runtime.bgsweep", "runtime.findRunnable < runtime.schedule", "runtime/pprof.profileWriter", "github.com/go-chi/chi.loop:1",
		"net/http/pprof.Index < net/http.(*conn).serve",
	}
)

func drawProfile(t *rapid.T, k kind, name string) (samples []sample) {
	for range rapid.IntRange(0, 30).Draw(t, name) {
		stack := rapid.SampledFrom(leaves).Draw(t, "leaf") + " < " + rapid.SampledFrom(roots).Draw(t, "root")
		n := rapid.Int64Range(0, 40).Draw(t, "n")
		if k == allocs || k == heap {
			samples = append(samples, objects(n, rapid.SampledFrom([]int64{16, 48, 4096, 1 << 20}).Draw(t, "size"), stack))
		} else {
			samples = append(samples, ticks(n, stack))
		}
	}
	return samples
}

func TestEveryCostIsChargedExactlyOnce(t *testing.T) {
	code := testIndex(t)
	rapid.Check(t, func(rt *rapid.T) {
		var drawn [kinds][]sample
		var built [kinds]*profile.Profile
		for k := range kinds {
			drawn[k] = drawProfile(rt, k, columns[k].profile)
			built[k] = build(t, k, drawn[k]...)
		}
		table := mustJoin(t, Input{CPU: built[cpu], Allocs: built[allocs], Heap: built[heap], Block: built[block], Mutex: built[mutex], Code: code})
		seen := map[*Row]bool{}
		var sum [kinds]int64
		take := func(where string, k kind, rows []*Row, owned bool) {
			for _, r := range rows {
				if seen[r] {
					rt.Fatalf("%s: a row has two owners", where)
				}
				seen[r] = true
				sum[k] += r.Value
				if owned != (r.Owner >= 0) || r.Class == Probe {
					rt.Fatalf("%s: a row with owner %d and class %d", where, r.Owner, r.Class)
				}
			}
		}
		for _, s := range table.Sites {
			for k := range kinds {
				take(s.Function, k, *s.rows(k), true)
				for _, r := range *s.rows(k) {
					if f := r.Stack[r.Owner]; f.Function != s.Function || f.File != s.File || f.Line != s.Line {
						rt.Fatalf("site %v owns a row that blames %v", s.Frame, *f)
					}
				}
			}
		}
		for i := range table.Buckets {
			for k := range kinds {
				take(table.Buckets[i].Name, k, *table.Buckets[i].rows(k), false)
			}
		}
		for k := range kinds {
			var want, probe int64
			for _, s := range drawn[k] {
				if strings.Contains(s.stack, "pprof.") {
					probe += s.values[1]
				}
				want += s.values[1]
			}
			if sum[k]+probe != want {
				rt.Fatalf("%s: sites and buckets hold %d, the probe %d, the profile %d", columns[k].profile, sum[k], probe, want)
			}
			if k == allocs && table.Totals.ProbeBytes != probe {
				rt.Fatalf("the probe is said to allocate %d bytes, it did %d", table.Totals.ProbeBytes, probe)
			}
		}
		checkTotals(rt, table)
	})
}

// checkTotals checks that the totals are the sums that they should be.
func checkTotals(t *rapid.T, table *Table) {
	tot := table.Totals
	var c Cost
	var bucketSeconds float64
	add := func(x Cost) {
		c.Samples += x.Samples
		c.CPUSeconds += x.CPUSeconds
		c.MallocSeconds += x.MallocSeconds
		c.GCSeconds += x.GCSeconds
		c.AllocBytes += x.AllocBytes
		c.AllocObjects += x.AllocObjects
		c.LiveBytes += x.LiveBytes
		c.BlockSeconds += x.BlockSeconds
		c.MutexSeconds += x.MutexSeconds
	}
	for _, s := range table.Sites {
		add(s.Cost)
	}
	siteSeconds := c.CPUSeconds
	for _, b := range table.Buckets {
		add(b.Cost)
		bucketSeconds += b.Seconds
	}
	if c.Samples != tot.Samples || c.AllocBytes != tot.AllocBytes || c.AllocObjects != tot.AllocObjects || c.LiveBytes != tot.LiveBytes {
		t.Fatalf("counts of the parts %+v, of the whole %+v", c, tot.Cost)
	}
	work := tot.D + tot.A + tot.W + tot.I
	charged := work
	if all := float64(tot.AllocBytes + tot.ProbeBytes); all > 0 {
		charged = work * float64(tot.AllocBytes) / all
	} else {
		charged = 0
	}
	for what, pair := range map[string][2]float64{
		"CPU":                   {c.CPUSeconds, tot.CPUSeconds},
		"malloc":                {c.MallocSeconds, tot.M},
		"GC":                    {c.GCSeconds, tot.GCSeconds},
		"GC by bytes":           {charged, tot.GCSeconds},
		"block":                 {c.BlockSeconds, tot.BlockSeconds},
		"mutex":                 {c.MutexSeconds, tot.MutexSeconds},
		"all CPU":               {tot.CPUSeconds + work, tot.TotalSeconds},
		"all CPU by owners":     {siteSeconds + bucketSeconds, tot.TotalSeconds},
		"all CPU by samples":    {float64(tot.CPUSamples) * 0.01, tot.TotalSeconds},
		"the collector's price": {table.GCWork().Value, work},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Fatalf("%s: %v of the parts, %v of the whole", what, pair[0], pair[1])
		}
	}
}

func TestOneLineIsOneSite(t *testing.T) {
	p := build(t, allocs,
		objects(3, 64, "runtime.concatstrings < main.f:5 < main.main:3 < runtime.main"),
		objects(2, 32, "strconv.Itoa inlined < main.f:5 < main.main:3 < runtime.main"),
		objects(1, 32, "main.f:5 inlined < main.g:8 < main.main:3 < runtime.main"),
		objects(7, 16, "main.f:6 < main.main:3 < runtime.main"))
	table := mustJoin(t, Input{Allocs: p})
	var got []string
	for _, s := range table.Sites {
		got = append(got, fmt.Sprintf("%s:%d %d rows, %d objects", s.Function, s.Line, len(s.Allocs), s.Cost.AllocObjects))
	}
	slices.Sort(got)
	if want := []string{"main.f:5 3 rows, 6 objects", "main.f:6 1 rows, 7 objects"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEntryIsTheMostExpensive(t *testing.T) {
	lead := func(from string) string { return "github.com/go-chi/chi.r:4 < " + from + " < runtime.main" }
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"by CPU", Input{CPU: build(t, cpu, ticks(1, lead("main.a:1")), ticks(2, lead("main.b:2")))}, "main.b"},
		{"by the collector's work on its bytes", Input{
			CPU:    build(t, cpu, ticks(9, "runtime.bgsweep"), ticks(2, lead("main.b:2"))),
			Allocs: build(t, allocs, objects(9, 1000, lead("main.a:1")), objects(1, 1000, lead("main.b:2"))),
		}, "main.a"},
		{"by waiting", Input{Block: build(t, block, ticks(1, lead("main.a:1")), ticks(2, lead("main.b:2")))}, "main.b"},
		{"by live memory", Input{Heap: build(t, heap, objects(2, 64, lead("main.a:1")), objects(1, 64, lead("main.b:2")))}, "main.a"},
	} {
		table := mustJoin(t, c.in)
		if got := table.Sites[0].Entry; got == nil || got.Function != c.want {
			t.Errorf("%s: entry %v, want %s", c.name, got, c.want)
		}
	}
}

func TestSamplesThatDifferInLabelsOnlyAreOneRow(t *testing.T) {
	b := profile.NewBuilder(sampleTypes[cpu]...)
	for _, id := range []string{"1", "2"} {
		b.AddLabeled(frames("main.f:5 < runtime.main"), []profile.Label{{Key: "request", Str: id}}, 1, 10_000_000)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	table := mustJoin(t, Input{CPU: p})
	if len(table.Sites) != 1 || len(table.Sites[0].CPU) != 1 || table.Sites[0].CPU[0].Count != 2 {
		t.Errorf("got %+v", table.Sites[0])
	}
}

func TestBelow(t *testing.T) {
	table := mustJoin(t, Input{CPU: build(t, cpu, ticks(1, "runtime.memmove < runtime.concatstring2 < main.f:5 < runtime.concatstring3 < runtime.main"))})
	r := table.Sites[0].CPU[0]
	for name, want := range map[string]bool{
		"runtime.memmove": true, "runtime.concatstring*": true, "runtime.concatstring": false,
		"runtime.concatstring3": false, "main.f": false, "*": true, "": false,
	} {
		if got := r.Below(name); got != want {
			t.Errorf("Below(%q) = %v", name, got)
		}
	}
	bucket := mustJoin(t, Input{CPU: build(t, cpu, ticks(1, "runtime.futex < runtime.findRunnable < runtime.schedule"))})
	if r := bucket.Buckets[0].Rows[0]; !r.Below("runtime.schedule") {
		t.Error("in a bucket's row all of the stack is below")
	}
}

func TestBadInputIsNamed(t *testing.T) {
	wrong := build(t, heap, objects(1, 1, "main.f:1"))
	unit := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "instructions"})
	p, err := unit.Profile()
	if err != nil {
		t.Fatal(err)
	}
	code := testIndex(t)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		in   Input
		want string
	}{
		{"no index", context.Background(), Input{}, "no code index"},
		{"another profile", context.Background(), Input{CPU: wrong, Code: code}, "cpu profile: no sample type cpu/nanoseconds, only inuse_objects/count, inuse_space/bytes"},
		{"another unit", context.Background(), Input{CPU: p, Code: code}, "cpu/instructions"},
		{"ended", ended, Input{Heap: wrong, Code: code}, "context canceled"},
	} {
		if _, err := Join(c.ctx, c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestCountsOfAForeignProfileComeFromItsPeriod(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add(frames("main.f:5"), 30_000_000)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	p.PeriodType, p.Period = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, 5_000_000
	if got := mustJoin(t, Input{CPU: p}).Totals.CPUSamples; got != 6 {
		t.Errorf("%d samples, want 6", got)
	}
}

func TestNotesSayWhatLimits(t *testing.T) {
	gc := ticks(5, "runtime.bgsweep")
	busy := ticks(2000, "main.f:1")
	some := objects(1, 64, "main.f:1")
	for _, c := range []struct {
		name string
		in   Input
		want string // "" for none
	}{
		{"nothing", Input{}, "no CPU profile"},
		{"empty", Input{CPU: build(t, cpu), Allocs: build(t, allocs, some)}, "no samples of the program"},
		{"few", Input{CPU: build(t, cpu, ticks(100, "main.f:1")), Allocs: build(t, allocs, some)}, "only 100 CPU samples (1.0 CPU-seconds): a line measured at 5 % takes 2.2 to 11.2 %"},
		{"enough", Input{CPU: build(t, cpu, busy), Allocs: build(t, allocs, some)}, ""},
		{"no allocs", Input{CPU: build(t, cpu, busy, gc)}, "no allocs profile: the collector's 0.05 CPU-seconds"},
		{"empty allocs", Input{CPU: build(t, cpu, busy, gc), Allocs: build(t, allocs)}, "the allocs profile is empty"},
		{"little collection", Input{CPU: build(t, cpu, busy, gc), Allocs: build(t, allocs, some)}, "only 5 samples of garbage collection: its work is 0.02 to 0.12"},
		{"below zero", Input{CPU: build(t, cpu, busy), Allocs: build(t, allocs, objects(-3, 64, "main.g:1"), some)}, "allocs profile: 1 stacks below zero"},
		{"lost", Input{CPU: build(t, cpu, busy), Allocs: build(t, allocs, some), UsageSeconds: 26}, "holds 20.00 CPU-seconds, the kernel counted 26.00"},
		{"nearly none lost", Input{CPU: build(t, cpu, busy), Allocs: build(t, allocs, some), UsageSeconds: 20.5}, ""},
		{"an old runtime", Input{CPU: build(t, cpu, ticks(2000, "runtime.gcDrain < runtime.gcBgMarkWorker.func2 < runtime.gcBgMarkWorker")), Allocs: build(t, allocs, some)}, "does not distinguish idle marking"},
	} {
		notes := strings.Join(mustJoin(t, c.in).Notes, "\n")
		if !strings.Contains(notes, c.want) || c.want == "" && notes != "" {
			t.Errorf("%s: notes %q, want %q", c.name, notes, c.want)
		}
	}
}

func TestProbeDrivesTheCollectorToo(t *testing.T) {
	table := mustJoin(t, Input{
		CPU:    build(t, cpu, ticks(100, "runtime.bgsweep"), ticks(7, "runtime/pprof.profileWriter")),
		Allocs: build(t, allocs, objects(3, 1000, "main.f:1"), objects(1, 1000, "runtime/pprof.profileWriter")),
	})
	if got := table.Sites[0].Cost.GCSeconds; math.Abs(got-0.75) > 1e-12 {
		t.Errorf("three quarters of the bytes are charged %v of 1 s", got)
	}
	if tot := table.Totals; math.Abs(tot.ProbeSeconds-0.07) > 1e-12 || tot.ProbeBytes != 1000 || tot.CPUSamples != 100 {
		t.Errorf("totals %+v", tot)
	}
}

var _ owners = (*gocode.Index)(nil)

// TestTinyObjectsAreAtLeast: a profile counts the blocks of tiny objects, the runtime counts the
// objects.
func TestTinyObjectsAreAtLeast(t *testing.T) {
	in := Input{Allocs: build(t, allocs,
		objects(10, 16, "main.tiny:1 < main.main:9 < runtime.main"), objects(100, 48, "main.large:2 < main.main:9 < runtime.main"))}
	in.CountedObjects = 160
	table := mustJoin(t, in)
	if got := table.Totals.AllObjects; got != 160 {
		t.Errorf("%d objects in all, want the runtime's 160", got)
	}
	for _, s := range table.Sites {
		if got, want := s.Cost.AtLeast(), s.Line == 1; got != want {
			t.Errorf("line %d: at least: %v, want %v", s.Line, got, want)
		}
	}
	in.CountedObjects = 0 // which an attached service may not report
	if got := mustJoin(t, in).Totals.AllObjects; got != 110 {
		t.Errorf("%d objects in all, want the profile's 110", got)
	}
}
