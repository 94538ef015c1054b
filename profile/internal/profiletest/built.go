package profiletest

import (
	"bytes"
	"fmt"
	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"
	"testing"

	"github.com/hone-go/hone/profile"
)

// Small is a CPU profile of 100 ns: main → work → (inlined) copy, with recursion.
func Small(t testing.TB) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	main := profile.FrameSpec{Function: "main.main", File: "main.go", Line: 10, StartLine: 8}
	work := profile.FrameSpec{Function: "main.work", File: "main.go", Line: 20, StartLine: 18}
	deeper := profile.FrameSpec{Function: "main.work", File: "main.go", Line: 21, StartLine: 18}
	copied := profile.FrameSpec{Function: "lib.copy", File: "lib.go", Line: 5, Inlined: true}
	b.AddLabeled([]profile.FrameSpec{work, main}, []profile.Label{{Key: "tenant", Str: "a"}, {Key: "bytes", Num: 64, Unit: "bytes"}}, 6, 60)
	b.Add([]profile.FrameSpec{copied, deeper, work, main}, 2, 20)
	b.AddLabeled([]profile.FrameSpec{{Function: "lib.copy", File: "lib.go", Line: 6}, {Function: "runtime.main", File: "proc.go", Line: 1}}, []profile.Label{{Key: "tenant", Str: "b"}}, 2, 20)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Drawn makes a CPU profile of a few functions, some of the runtime, with recursion and inlining.
func Drawn(t *rapid.T, name string) *profile.Profile {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	names := []string{"main.a", "main.b", "runtime.mallocgc", "runtime.growslice", "internal/bytealg.Count", "memmove", "runtime/pprof.x"}
	for range rapid.IntRange(0, 8).Draw(t, name) {
		var stack []profile.FrameSpec
		depth := rapid.IntRange(1, 5).Draw(t, "depth")
		for i := range depth {
			fn := rapid.SampledFrom(names).Draw(t, "function")
			stack = append(stack, profile.FrameSpec{Function: fn, File: "/src/x/" + fn + ".go", Line: int64(rapid.IntRange(1, 2).Draw(t, "line")), Inlined: i < depth-1 && rapid.Bool().Draw(t, "inlined")})
		}
		n := int64(rapid.IntRange(1, 9).Draw(t, "samples"))
		b.Add(stack, n, n*10_000_000)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Taken is a profile as Go's runtime makes it, with a stack of each depth.
func Taken(t *testing.T, types []profile.ValueType, each int64, depths ...int) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(types...)
	for i, depth := range depths {
		var stack []profile.FrameSpec
		for d := range depth {
			stack = append(stack, profile.FrameSpec{Function: fmt.Sprintf("main.f%d_%d", i, d), File: "a.go", Line: 1})
		}
		values := make([]int64, len(types))
		for k := range values {
			values[k] = each
		}
		b.Add(stack, values...)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func Zip(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := zw.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
