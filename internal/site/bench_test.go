package site

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile"
)

// wideProfile has the given number of distinct stacks, about 40 frames deep: a walk through 20,000
// functions of the program, its dependency and the library.
func wideProfile(tb testing.TB, stacks int) *profile.Profile {
	r := rand.New(rand.NewPCG(1, 1))
	functions := make([]profile.FrameSpec, 20_000)
	for i := range functions {
		name := fmt.Sprintf([...]string{"main.f%d", "github.com/go-chi/chi.f%d", "strings.f%d", "net/http.f%d", "runtime.f%d"}[i%5], i)
		functions[i] = profile.FrameSpec{Function: name, File: fileOf(name)}
	}
	b := profile.NewBuilder(sampleTypes[cpu]...)
	for range stacks {
		stack := make([]profile.FrameSpec, 30+r.IntN(20))
		at := r.IntN(len(functions))
		for i := range stack {
			call := r.IntN(3) // the line decides which function is called
			stack[i] = functions[at]
			stack[i].Line = int64(10 + call)
			stack[i].Inlined = at%4 == 1
			at = (at*7 + call) % len(functions)
		}
		stack[len(stack)-1].Inlined = false
		b.Add(stack, 1, 10_000_000)
	}
	p, err := b.Profile()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func BenchmarkJoin200kRows(b *testing.B) {
	p := wideProfile(b, 200_000)
	b.ReportAllocs()
	for b.Loop() {
		code, err := gocode.Open(context.Background(), gocode.Config{BuildInfo: testBuild})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Join(context.Background(), Input{CPU: p, Code: code}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrice(b *testing.B) {
	table := mustJoin(b, Input{CPU: wideProfile(b, 2000), Allocs: build(b, allocs, objects(1000, 64, "main.f:1"))})
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range table.Sites {
			table.Price(s.CPU, s.Allocs)
		}
	}
	b.ReportMetric(float64(len(table.Sites)), "sites/op")
}
