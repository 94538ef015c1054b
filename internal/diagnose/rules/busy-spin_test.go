package rules_test

import (
	"path/filepath"
	"testing"

	busyspin "github.com/hone-go/hone/internal/diagnose/rules/busy-spin"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestBusySpinSelect: without counts, a loop polls whose whole body is a select with a default that
// does nothing, and which takes CPU.
func TestBusySpinSelect(t *testing.T) {
	const src = `package main

import "runtime"

func empty(c, done chan int) (s int) {
	for {
		select { //@ empty | runtime.selectnbrecv
		case n := <-c:
			s += n //@ handles a value
		case <-done:
			return s
		default:
		}
	}
}

func yields(c chan int) {
	for {
		select { //@ yields | runtime.chanrecv
		case <-c:
			return
		default:
			runtime.Gosched() //@ in the default | runtime.Gosched
			continue
		}
	}
}

func works(c chan int) (s int) {
	for {
		select { //@ works | runtime.selectnbrecv
		case <-c:
			return s
		default:
			s++
		}
	}
}

func calls(c chan int) {
	for {
		select { //@ calls | runtime.selectnbrecv
		case <-c:
			return
		default:
			work()
		}
	}
}

func leaves(c chan int) {
	for {
		select { //@ leaves | runtime.selectnbrecv
		case <-c:
		default:
			break
		}
	}
}

func blocks(c, done chan int) {
	for {
		select { //@ blocks | runtime.selectgo
		case <-c:
		case <-done:
			return
		}
	}
}

func limited(c chan int) {
	for i := 0; i < 100; i++ {
		select { //@ limited | runtime.selectnbrecv
		case <-c:
			return
		default:
		}
	}
}

func more(c chan int) {
	for {
		work()
		select { //@ more | runtime.selectnbrecv
		case <-c:
			return
		default:
		}
	}
}

func work() {}

func main() {}
`
	for total, want := range map[float64]map[string]bool{
		10:   {"empty": true, "yields": true},
		1000: {}, // each takes a thousandth
	} {
		p, names := ruletest.MadeUp(t, src)
		p.Table.Totals.TotalSeconds = total
		found := map[string]bool{}
		for _, m := range matchesOf(t, busyspin.Rule(), p) {
			found[names[m.Site.Line]] = true
		}
		for _, name := range names {
			if found[name] != want[name] {
				t.Errorf("of %g s: %s: found %t", total, name, found[name])
			}
		}
	}
}

// TestBusySpinFailing: calls that are repeated until they succeed.
func TestBusySpinFailing(t *testing.T) {
	r := busyspin.Rule()
	archive := filepath.Join("busy-spin", "testdata", "failing.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}

// TestBusySpinIdle: loops spin whose inner loop has no element, or that only ask a context or
// another object whether to go on.
func TestBusySpinIdle(t *testing.T) {
	r := busyspin.Rule()
	archive := filepath.Join("busy-spin", "testdata", "idle.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
