package loops_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/gocode"
)

const benchmarks = `package main

import "testing"

func work(int) int { return 0 }
func size(int) []int { return nil }

var sink int

func BenchmarkClassic(b *testing.B) {
	xs := size(1000) //@ harness 0 setup
	for i := range xs {
		xs[i] = work(i) //@ harness 1 setup in a loop
	}
	b.ResetTimer() //@ harness 0 the timer
	for i := 0; i < b.N; i++ { //@ harness 0 the head
		sink += work(i) //@ timed 0 the body
		for _, x := range xs {
			sink += work(x) //@ timed 1 a loop of the program
		}
		func() {
			sink += work(i) //@ timed 0 a literal in the body
		}()
		b.StopTimer()
		xs = size(i) //@ harness 0 while the timer is stopped
		b.StartTimer() //@ harness 0 the timer is started
		sink += work(len(xs)) //@ timed 0 timed again
	}
	work(sink) //@ harness 0 after the loop
}

func BenchmarkLoop(b *testing.B) {
	for b.Loop() {
		sink += work(1) //@ timed 0 b.Loop
	}
}

func BenchmarkRange(b *testing.B) {
	for range b.N {
		sink += work(1) //@ timed 0 range b.N
	}
	n := b.N
	for i := 0; i < n; i++ {
		sink += work(i) //@ timed 0 a copy of b.N
	}
	for b.Loop() { sink += work(2) } //@ timed 0 all on one line
}

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) { //@ harness 0 RunParallel
		x := work(1) //@ harness 0 setup of a goroutine
		for pb.Next() {
			x += work(x) //@ timed 0 pb.Next
		}
	})
}

func BenchmarkSub(b *testing.B) {
	for _, n := range []int{1, 10} {
		xs := size(n) //@ harness 1 a table
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				sink += work(xs[0]) //@ timed 0 a benchmark in a table
			}
		})
	}
}

func BenchmarkHanded(b *testing.B) {
	repeat(b.N) //@ timed 0 b.N passed on
}

func BenchmarkLater(b *testing.B) {
	f := func() {
		sink += work(1) //@ none 0 a literal that the loop may call
	}
	for b.Loop() {
		f()
	}
}

func repeat(n int) {
	for i := 0; i < n; i++ {
		sink += work(i) //@ none 1 a loop of the program's own
	}
}

func main() {}
`

// TestHarness: the loop that drives a benchmark is distinguished from what it measures, and is not
// the program's.
func TestHarness(t *testing.T) {
	timings := map[string]gocode.Timing{"none": gocode.NoBenchmark, "harness": gocode.Harness, "timed": gocode.Timed}
	n := 0
	for name, p := range ruletest.Places(t, benchmarks) {
		n++
		words := strings.SplitN(name, " ", 3)
		if got := p.Timing(); got != timings[words[0]] {
			t.Errorf("%s: timing %d", words[2], got)
		}
		depth := int(words[1][0] - '0')
		if in := p.Loop() != nil; in != (depth > 0) {
			t.Errorf("%s: in a loop %t", words[2], in)
		}
		if outer := loops.Outermost(p); (outer != nil) != (depth > 0) || outer != nil && p.Drives(outer) {
			t.Errorf("%s: outermost loop %v", words[2], outer)
		}
		calls := p.Calls()
		if len(calls) == 0 {
			continue
		}
		call := calls[len(calls)-1]
		if got := len(loops.Around(p, call)); got != depth {
			t.Errorf("%s: %d loops around a call", words[2], got)
		}
		if around := p.LoopAround(call); (around != nil) != (depth > 0) {
			t.Errorf("%s: loop around the call %v", words[2], around)
		}
		// A benchmark repeats its body on purpose; only its own loops are reported.
		if got, want := loops.PerCall(p, call), depth > 0 || words[0] == "none"; got != want && !strings.Contains(words[2], "literal in") {
			t.Errorf("%s: again and again %t", words[2], got)
		}
	}
	if n != 23 {
		t.Errorf("%d places", n)
	}
}
