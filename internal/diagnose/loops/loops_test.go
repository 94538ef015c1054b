package loops_test

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

const nestedLoops = `package main

func mark() int { return 0 }
func more() bool { return false }
func wait(int) chan int { return nil }

func main() {
	var xs []int
	const two = 2
	for i := 0; i < 2; i++ {
		mark() //@ counted to 2
	}
	for i := 1; i <= 3; i++ {
		mark() //@ counted to 3
	}
	for i := 0; i != two; i++ {
		mark() //@ counted to a constant
	}
	for i := 0; i < 2; i += 0 {
		mark() //@ another step
	}
	for range 2 {
		mark() //@ range 2
	}
	for range "ab" {
		mark() //@ range string
	}
	for range [2]int{} {
		mark() //@ range array
	}
	for range []int{1, 2} {
		mark() //@ range literal
	}
	for range []int{5: 1} {
		mark() //@ range indexed literal
	}
	for range xs {
		mark() //@ range slice
	}
	for range xs {
		mark() //@ ends in break
		break
	}
	for range xs {
		if more() {
			mark() //@ ends in return
			return
		}
	}
	for range xs {
		switch {
		case more():
			mark() //@ break of a switch
			break
		}
	}
	for range xs {
		for more() {
			mark() //@ break of an inner loop
			break
		}
	}
	for range xs {
		mark() //@ continues before break
		if more() {
			continue
		}
		break
	}
	for range xs {
		select {
		case <-wait(mark()): //@ waited for
			return
		default:
		}
	}
	for more() {
		func() {
			mark() //@ in a literal
		}()
	}
	mark() //@ no loop
	for mark(); more(); {} //@ init
}
`

func TestAtMost(t *testing.T) {
	places := ruletest.Places(t, nestedLoops)
	for name, want := range map[string]struct{ loops, bounded int }{
		"counted to 2":           {1, 1},
		"counted to 3":           {1, 0},
		"counted to a constant":  {1, 1},
		"another step":           {1, 0},
		"range 2":                {1, 1},
		"range string":           {1, 1},
		"range array":            {1, 1},
		"range literal":          {1, 1},
		"range indexed literal":  {1, 0},
		"range slice":            {1, 0},
		"ends in break":          {1, 1},
		"ends in return":         {1, 1},
		"break of a switch":      {1, 0},
		"break of an inner loop": {2, 1},
		"continues before break": {1, 0},
		"waited for":             {1, 0},
		"in a literal":           {0, 0},
		"no loop":                {0, 0},
		"init":                   {0, 0},
	} {
		p := places[name]
		if p == nil {
			t.Errorf("%s: no such line", name)
			continue
		}
		var call *ast.CallExpr
		for _, c := range syntax.Calls(p) {
			if p.CalleeName(c) == "example.com/places.mark" {
				call = c
			}
		}
		if call == nil {
			t.Errorf("%s: no call", name)
			continue
		}
		around := loops.Around(p, call)
		bounded := 0
		for _, l := range around {
			if loops.AtMost(p, l, call, 2) {
				bounded++
			}
		}
		if len(around) != want.loops || bounded != want.bounded {
			t.Errorf("%s: %d loops, %d of them bounded, want %d, %d", name, len(around), bounded, want.loops, want.bounded)
		}
	}
}

const literalsInLoops = `package main

func do(func()) {}
func work() {}

func main() {
	for range 3 {
		work() //@ main.main
	}
	for range 3 {
		do(func() { work() }) //@ main.main main.main.func1
		go work() //@ main.main.gowrap1
	}
	do(func() {
		for range 3 {
			work() //@ main.main.func2
			do(func() { work() }) //@ main.main.func2 main.main.func2.1
		}
	})
	do(func() { for range 3 { work() } }) //@ main.main.func3
}
`

func TestOf(t *testing.T) {
	want := map[string]bool{"main.main": true, "main.main.func2": true, "main.main.func3": true}
	for mark, p := range ruletest.Places(t, literalsInLoops) {
		for _, function := range strings.Fields(mark) {
			if got := loops.Of(p, function) != nil; got != want[function] {
				t.Errorf("line %d in %s: a loop: %t, want %t", p.Line, function, got, want[function])
			}
		}
	}
}
