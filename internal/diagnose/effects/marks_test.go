package effects_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const marksSource = `package main

type graph struct {
	next  [][]int
	on    map[int]bool
	done  map[int]int
	count int
}

func (g *graph) depth(n int, way map[int]bool) int { //@ way, 1 tests: a parameter
	if way[n] { return 0 }
	way[n] = true
	most := 0
	for _, m := range g.next[n] { most = max(most, g.depth(m, way)) }
	delete(way, n)
	return most + 1
}

func (g *graph) deferred(n int) int { //@ on, 1 tests: a field
	if _, ok := g.on[n]; ok { return 0 }
	g.on[n] = true
	defer func() { g.on[n] = false }()
	most := 0
	for _, m := range g.next[n] { most = max(most, g.deferred(m)) }
	return most + 1
}

func (g *graph) before(n int) int { //@ on, 1 tests: asked before the call
	g.on[n] = true
	most := 0
	for _, m := range g.next[n] {
		if !g.on[m] { most = max(most, g.before(m)) }
	}
	delete(g.on, n)
	return most + 1
}

func (g *graph) keeps(n int, way map[int]bool) int { //@ none: keeps results
	if d, ok := g.done[n]; ok { return d }
	way[n] = true
	for _, m := range g.next[n] { g.keeps(m, way) }
	delete(way, n)
	g.done[n] = len(way)
	return 1
}

func (g *graph) counts(n int, way map[int]bool) int { //@ none: counts
	way[n] = true
	g.count++
	for _, m := range g.next[n] { g.counts(m, way) }
	delete(way, n)
	return 1
}

func (g *graph) visits(n int, seen map[int]bool) int { //@ none: never forgets
	if seen[n] { return 0 }
	seen[n] = true
	for _, m := range g.next[n] { g.visits(m, seen) }
	return 1
}

func (g *graph) measured(n int, way map[int]bool) int { //@ way, not only tests: its size
	way[n] = true
	for _, m := range g.next[n] { g.measured(m, way) }
	size := len(way)
	delete(way, n)
	return size
}

func main() {}
`

// TestMarks: what a recursion marks on its way, and what it does besides.
func TestMarks(t *testing.T) {
	for name, place := range ruletest.Places(t, marksSource) {
		got := "none"
		if m := effects.MarksOf(place); m != nil {
			got = m.Var().Name() + ", not only tests"
			if tests, ok := m.Tests(); ok {
				got = fmt.Sprintf("%s, %d tests", m.Var().Name(), len(tests))
			}
		}
		if want, _, _ := strings.Cut(name, ":"); got != want {
			t.Errorf("%s, want %s", got, name)
		}
	}
}
