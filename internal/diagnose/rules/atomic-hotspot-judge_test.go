package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/covdata"
	"github.com/hone-go/hone/internal/diagnose/rule"
	atomichotspot "github.com/hone-go/hone/internal/diagnose/rules/atomic-hotspot"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
)

const additions = `package main

import "sync/atomic"

var total atomic.Int64

func once() {
	total.Add(1) //@ once
}

func loop(n int) {
	for range n {
		total.Add(1) //@ loop
	}
}

type padding [56]byte

type shard struct {
	n   atomic.Int64
	pad padding
}

type named struct{ shard }

func (s *named) count(n int) {
	for range n {
		s.n.Add(1) //@ padded
	}
}

type plain struct {
	n atomic.Int64
	p *padding
}

func (p *plain) count(n int) {
	for range n {
		p.n.Add(1) //@ receiver
	}
}

func elements(all []atomic.Int64, worker, n int) {
	for range n {
		all[worker].Add(1) //@ element
	}
}

func channel(c chan int64) {
	total.Add(<-c) //@ channel | runtime.chanrecv runtime.chanrecv1
}

func main() {}
`

// TestAtomicHotspotJudges: the time of one addition decides, if it is known. A loop that can be
// fixed is always named, shards never, and a row below the addition does not belong to it.
func TestAtomicHotspotJudges(t *testing.T) {
	for _, c := range []struct {
		name       string
		executions float64 // of each line, for each of 10 requests; 0: not counted
		procs      int
		want       map[string]rule.Confidence
		once       string // the text of the match on the addition outside of loops
	}{
		{"not counted", 0, 2, map[string]rule.Confidence{"once": rule.Hint, "loop": rule.Likely, "receiver": rule.Hint}, "No profile shows whether"},
		{"5 ns each", 2e7, 2, map[string]rule.Confidence{"loop": rule.Likely, "receiver": rule.Hint}, ""},
		{"20 ns each", 5e6, 2, map[string]rule.Confidence{"once": rule.Hint, "loop": rule.Likely, "receiver": rule.Hint}, "One takes 20 ns."},
		{"100 ns each", 1e6, 2, map[string]rule.Confidence{"once": rule.Likely, "loop": rule.Likely, "receiver": rule.Likely}, "processors contend"},
		{"one processor", 0, 1, map[string]rule.Confidence{"loop": rule.Likely, "receiver": rule.Hint}, ""},
	} {
		p, names := ruletest.MadeUp(t, additions)
		p.Table.Totals.TotalSeconds = 10
		p.Manifest.Runtime.GOMAXPROCS = c.procs
		p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseCPU, Requests: 10}, {Name: recording.PhaseCounts, Requests: 1}}
		if c.executions > 0 {
			p.Counts = ran(names, uint64(c.executions))
		}
		matches, err := atomichotspot.Rule().Find(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]rule.Confidence{}
		for _, m := range matches {
			name := names[m.Site.Line]
			got[name] = m.Confidence
			if name == "once" && (c.once == "" || !strings.Contains(m.Cause, c.once)) {
				t.Errorf("%s: %s", c.name, m.Cause)
			}
		}
		for _, name := range names {
			if got[name] != c.want[name] {
				t.Errorf("%s: %s is %q, not %q", c.name, name, got[name], c.want[name])
			}
		}
	}
}

// ran counts n executions of each line, in one unit of work.
func ran(lines map[int]string, n uint64) *counts.Index {
	meta := &covdata.Meta{Packages: []covdata.Package{{Path: "example.com/madeup"}}}
	var ns [][]uint64
	for line := range lines {
		meta.Packages[0].Funcs = append(meta.Packages[0].Funcs, covdata.Func{
			File:   "example.com/madeup/main.go",
			Blocks: []covdata.Block{{StartLine: line, StartColumn: 1, EndLine: line, EndColumn: 80, Statements: 1}},
		})
		ns = append(ns, []uint64{n})
	}
	return counts.New(meta, []counts.Window{{Units: 1, Counts: covdata.Counts{ns}}})
}
