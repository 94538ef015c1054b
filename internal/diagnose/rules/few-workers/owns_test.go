package fewworkers

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestOwned: goroutines that change data which only they know, and others.
func TestOwned(t *testing.T) {
	places := ruletest.Places(t, `package main

import "sync"

type job struct{ key, n int }

type trail struct {
	in    chan job
	n     int
	byKey map[int]int
	mu    sync.Mutex
}

func (t *trail) count() {
	for range t.in {
		t.n++ //@ t.n
	}
}

func (t *trail) keyed() {
	for j := range t.in {
		t.byKey[j.key] = j.n //@ t.byKey
	}
}

func (t *trail) locked() {
	for range t.in {
		t.mu.Lock() //@ -locked
		t.n++
		t.mu.Unlock()
	}
}

func local(in chan job) {
	seen := map[int]bool{}
	for j := range in {
		delete(seen, j.key) //@ seen
	}
}

func plain(in chan job) {
	done := 0
	for j := range in {
		j.n++ //@ -plain
		done++
		fresh := map[int]int{}
		fresh[j.key] = done
	}
}

func main() {}
`)
	for want, p := range places {
		if want[0] == '-' {
			want = ""
		}
		if got := owned(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
