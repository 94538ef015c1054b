package effects_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

const setsSource = `package main

type node struct{ names []string; next []*node; seen int }

var all map[string]bool
var total int

func collect(n *node, set map[string]bool) { //@ yes: collect
	for _, s := range n.names {
		set[s] = true
	}
	for i := 0; i < len(n.next); i++ {
		next := n.next[i]
		collect(next, set)
	}
}

func (n *node) mark(set map[*node]struct{}) { //@ yes: mark
	set[n] = struct{}{}
	for _, m := range n.next {
		m.mark(set)
	}
}

func into(n *node) { //@ yes: into
	all["x"] = true
	_ = n
}

func (n *node) passed(set map[string]bool) { //@ yes: the set is read only by itself
	for _, m := range n.next {
		m.passed(set)
	}
	set[n.names[0]] = (true)
}

func asks(n *node, set map[string]bool) { //@ no: reads the set
	if set["x"] {
		set["y"] = true
	}
	for _, m := range n.next {
		asks(m, set)
	}
}

func size(n *node, set map[string]bool) { set["x"] = true; if len(set) > 3 { set["y"] = true } } //@ no: its size
func steps(n *node, set map[*node]bool) { for i := 0; i < 3; (i)++ { set[n] = true } } //@ yes: a counter of its own
func global(n *node, set map[*node]bool) { for total = range 3 { set[n] = true } } //@ no: a range into a variable of the package
func drains(n *node, set map[*node]bool, c chan int) { for range c { set[n] = true } } //@ no: a range over a channel
func yields(n *node, set map[*node]bool, f func(func(int) bool)) { for range f { set[n] = true } } //@ no: a range over a function
func anonymous(n *node, sets func() map[*node]bool) { sets()[n] = true } //@ no: which map is unknown

func counts(n *node, set map[*node]int) { set[n]++ } //@ no: counts
func adds(n *node, set map[*node]int) { set[n] += 2 } //@ no: adds
func numbers(n *node, set map[*node]int) { set[n] = len(set) } //@ no: numbers
func lists(n *node, list []bool) { list[0] = true } //@ no: lists
func totals(n *node, set map[*node]bool) { set[n] = true; total++ } //@ no: totals
func keeps(n *node, set map[*node]bool) { set[n] = true; n.seen++ } //@ no: keeps
func answers(n *node, set map[*node]bool) int { set[n] = true; return 1 } //@ no: answers
func calls(n *node, set map[*node]bool, f func()) { set[n] = true; f() } //@ no: calls
func sends(n *node, set map[*node]bool, c chan int) { set[n] = true; c <- 1 } //@ no: sends
func receives(n *node, set map[*node]bool, c chan int) { set[n] = true; <-c } //@ no: receives
func removes(n *node, set map[*node]bool) { set[n] = true; delete(set, n) } //@ no: removes
func nothing(n *node) { _ = len(n.next) } //@ no: nothing

func main() {}
`

// TestAddsToSets: only functions that change nothing when they run a second time.
func TestAddsToSets(t *testing.T) {
	for name, place := range ruletest.Places(t, setsSource) {
		if got := effects.AddsToSets(place); got != strings.HasPrefix(name, "yes") {
			t.Errorf("%s: %v", name, got)
		}
	}
}
