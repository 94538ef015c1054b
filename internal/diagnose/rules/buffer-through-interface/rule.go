// Package bufferthroughinterface finds buffers that are on the heap because they are passed to a
// method of an interface.
package bufferthroughinterface

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// Rule is buffer-through-interface.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "buffer-through-interface",
		Kind:  rule.Alloc,
		Title: "Buffer on the heap because it is passed through an interface",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A buffer that is kept costs nothing per call; one from a pool costs a little.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
				Specificity: 1,
			},
			Start: finder.Rows(finder.TakeOwn),
			Judge: guilty,
		},
	}
}

const doc = `The compiler cannot see what a method of an interface does with its arguments,
so it must assume that the argument is retained, and allocates it on the heap. A
buffer of 64 bytes that a function declares and passes to r.Read (or to
io.ReadFull, which calls it) is therefore allocated on every call, although a
Reader must not retain it.

Keep the buffer where it lives longer: in the struct that reads, before the
loop, or in a sync.Pool. Or call the concrete type, if there is only one: the
compiler can then analyze the call.

It is fine on cold paths. The rule reports only buffers that escape because of
the call, according to the compiler, and that nothing else keeps.

Seen in the field: golang/go#27403 (in encoding/binary), golang/go#66779
(crypto/rand), nsqio/nsq#1281.`

func guilty(c *finder.Case) bool {
	pass, p, m := c.Pass, c.Place, c.Match
	for v, made := range syntax.Buffers(p) {
		if !loops.PerCall(p, made) || !syntax.AllocatesOnly(p, made) || !blamed(pass, m) {
			continue
		}
		use := flow.BufferUse(pass, p, v)
		call := use.Interface
		if !use.Contained || call == nil {
			continue
		}
		m.Cause = fmt.Sprintf("%s is passed to %s. The compiler cannot see through the interface, so %[1]s escapes and is allocated on the heap each time.", v.Name(), syntax.Text(call.Fun))
		if loop := p.LoopAround(made); loop != nil {
			m.Fix = fmt.Sprintf("Declare %s before the loop on line %d and reuse it in each iteration.", v.Name(), syntax.Line(p, loop.Pos()))
		} else {
			m.Fix = fmt.Sprintf("Keep %s in a struct that lives longer (the reader's or writer's own), or in a sync.Pool; or call the concrete type instead of the interface.", v.Name())
		}
		return true
	}
	return false
}

// blamed reports whether the compiler gives a call as the reason that something on the line
// escapes.
func blamed(pass *rule.Pass, m *rule.Match) bool {
	words, known := evidence.Escapes(pass, m.Site)
	for _, w := range words {
		if steps, ok := evidence.EscapeFlow(pass, m.Site, evidence.Escaping(w)); ok && evidence.HasReason(steps, "call parameter") {
			return true
		}
	}
	return !known
}
