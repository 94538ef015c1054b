package textual_test

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/textual"
)

// row is a sample without names: what google/pprof reads from a text.
type row struct {
	Values []int64
	Stack  []uint64
	Size   int64 // the label bytes
}

func rows(p *profile.Profile) []row {
	out := []row{}
	for i := range p.NumSamples() {
		r := row{}
		for t := range p.SampleTypes {
			r.Values = append(r.Values, p.Values(t)[i])
		}
		for _, l := range p.Stack(i) {
			r.Stack = append(r.Stack, p.Locations[l].Address)
		}
		for _, l := range p.Labels(i) {
			if l.Key == "bytes" {
				r.Size = l.Num
			}
		}
		out = append(out, r)
	}
	return out
}

func googleRows(p *google.Profile) []row {
	out := []row{}
	for _, s := range p.Sample {
		r := row{Values: s.Value}
		if len(s.Value) == 2 && p.SampleType[0].Type == "objects" {
			r.Values = slices.Concat(s.Value, s.Value) // not distinguished there: nothing was freed
		}
		for _, l := range s.Location {
			if l.Address != ^uint64(0) { // 0, minus one
				r.Stack = append(r.Stack, l.Address)
			}
		}
		if n := s.NumLabel["bytes"]; len(n) > 0 {
			r.Size = n[0]
		}
		out = append(out, r)
	}
	return out
}

// addresses draws a stack as Go writes it.
func addresses(t *rapid.T) string {
	var b strings.Builder
	for _, a := range rapid.SliceOfN(rapid.Uint64Range(0x1000, 1<<47), 1, 8).Draw(t, "stack") {
		fmt.Fprintf(&b, " %#x", a)
	}
	return b.String()
}

func compare(t *rapid.T, text string) {
	want, err := google.ParseData([]byte(text))
	if err != nil {
		t.Fatalf("google/pprof: %v\n%s", err, text)
	}
	got, err := textual.Decode(strings.NewReader(text), 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(googleRows(want), rows(got)); diff != "" {
		t.Fatalf("-google +hone:\n%s\n%s", diff, text)
	}
	if want.Period != got.Period || want.PeriodType.Type != got.PeriodType.Type || want.PeriodType.Unit != got.PeriodType.Unit {
		t.Fatalf("period %d %v, want %d %v", got.Period, got.PeriodType, want.Period, want.PeriodType)
	}
}

func TestHeapIsAsGoogleReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "records")
		var b strings.Builder
		freed := rapid.Bool().Draw(t, "freed")
		total := 7
		if freed {
			total = 8
		}
		fmt.Fprintf(&b, "heap profile: 7: 70 [%d: 80] @ heap/%d\n", total, rapid.SampledFrom([]int{0, 1, 2, 3, 1024, 1048576}).Draw(t, "rate"))
		if !freed {
			b.Reset()
			b.WriteString("heap profile: 7: 70 [7: 70] @ heap/1048576\n")
		}
		for range n {
			objects := rapid.Int64Range(0, 1<<20).Draw(t, "objects")
			bytes := objects * rapid.Int64Range(0, 1<<20).Draw(t, "size")
			more := int64(0)
			if freed {
				more = rapid.Int64Range(0, 1000).Draw(t, "freed objects")
			}
			fmt.Fprintf(&b, "%d: %d [%d: %d] @%s\n\n", objects, bytes, objects+more, bytes+more*16, addresses(t))
		}
		b.WriteString("\n# runtime.MemStats\n# Alloc = 7\n")
		compare(t, b.String())
	})
}

func TestContentionIsAsGoogleReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		fmt.Fprintf(&b, "--- %s:\ncycles/second=%d\n", rapid.SampledFrom([]string{"mutex", "contention"}).Draw(t, "kind"), rapid.Int64Range(1, 1<<33).Draw(t, "hz"))
		if rapid.Bool().Draw(t, "sampled") {
			fmt.Fprintf(&b, "sampling period=%d\n", rapid.Int64Range(1, 1<<20).Draw(t, "period"))
		}
		for range rapid.IntRange(0, 5).Draw(t, "records") {
			fmt.Fprintf(&b, "%d %d @%s\n", rapid.Int64Range(0, 1<<40).Draw(t, "cycles"), rapid.Int64Range(0, 1<<30).Draw(t, "count"), addresses(t))
		}
		compare(t, b.String())
	})
}

func TestCountsAreAsGoogleReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString("goroutine profile: total 9\n")
		for range rapid.IntRange(0, 5).Draw(t, "records") {
			fmt.Fprintf(&b, "%d @%s\n# labels: {\"a\":\"b\"}\n\n", rapid.Int64Range(0, 1<<40).Draw(t, "count"), addresses(t))
		}
		compare(t, b.String())
	})
}

// In texts with names hone keeps the named frames, which are a run of the addresses.
func TestNamedFramesAreARunOfGooglesAddresses(t *testing.T) {
	for _, name := range []string{"heap", "block", "mutex", "goroutine-debug1"} {
		text := read(t, name+".txt")
		want, err := google.ParseData(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := textual.Decode(bytes.NewReader(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		all, got := googleRows(want), rows(p)
		if len(all) != len(got) {
			t.Fatalf("%s: %d samples, want %d", name, len(got), len(all))
		}
		for i := range got {
			if !slices.Equal(got[i].Values, all[i].Values) || got[i].Size != all[i].Size {
				t.Errorf("%s, sample %d: %v, want %v", name, i, got[i], all[i])
			}
			if !isRun(all[i].Stack, got[i].Stack) {
				t.Errorf("%s, sample %d: frames %#x of %#x", name, i, got[i].Stack, all[i].Stack)
			}
		}
	}
}

func isRun(all, part []uint64) bool {
	for from := range all {
		if len(all)-from >= len(part) && slices.Equal(all[from:from+len(part)], part) {
			return true
		}
	}
	return false
}

// The text and the protobuf that this process writes mean the same.
func TestTextAndProtobufOfARunningProgramAgree(t *testing.T) {
	kept := make([][]byte, 0, 64)
	for range 64 {
		kept = append(kept, make([]byte, 64<<10))
	}
	nested := keep[int](func() []byte { return keep[string](func() []byte { return make([]byte, 4<<20) }) })
	runtime.GC() // profiles are as of the last cycle, so two profiles without a cycle in between are equal
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var text, binary bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	if err := pprof.Lookup("heap").WriteTo(&binary, 0); err != nil {
		t.Fatal(err)
	}
	a, err := textual.Decode(&text, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := profile.Decode(&binary, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(top(t, b), top(t, a)); diff != "" {
		t.Errorf("-protobuf +text:\n%s", diff)
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(nested)
}

// keep calls f within an instance of its own.
//
//go:noinline
func keep[T any](f func() []byte) []byte { return f() }

// instance is the type that instantiates a generic function; the text omits it.
var instance = regexp.MustCompile(`\[.*\]`)

// top maps every function to its flat and cum bytes in use. Instances of a generic function are
// merged before the report is made: where one calls another, both are the same frame twice in the
// text, and cum counts a stack once.
func top(t *testing.T, p *profile.Profile) map[string][2]int64 {
	t.Helper()
	for i := range p.Functions {
		p.Functions[i].Name = instance.ReplaceAllString(p.Functions[i].Name, "[...]")
	}
	top, err := report.Top(p, report.TopOptions{SampleIndex: 3})
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string][2]int64{}
	for _, r := range top.Rows {
		if r.Flat != 0 || r.Cum != 0 {
			sums[r.Name] = [2]int64{sums[r.Name][0] + r.Flat, sums[r.Name][1] + r.Cum}
		}
	}
	if len(sums) == 0 {
		t.Fatal("the profile is empty")
	}
	return sums
}
