package requests

import (
	"cmp"
	"errors"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/profile"
)

// stretch is the time of a path at a stack.
type stretch struct {
	stack exectrace.StackID
	part  Part
	n, ns int64
}

// stretches sums up steps by stack and part: the one at which the goroutine left the processor, or,
// before its first run, was created.
func stretches(steps map[spotKey]*Step) []stretch {
	type key struct {
		stack exectrace.StackID
		part  Part
	}
	by := map[key]*stretch{}
	for k, s := range steps {
		at := key{k.left, k.part}
		if k.part == ReadyCreated {
			at.stack = k.wake
		}
		p := by[at]
		if p == nil {
			p = &stretch{stack: at.stack, part: at.part}
			by[at] = p
		}
		p.n += int64(s.Count)
		p.ns += s.Time
	}
	out := make([]stretch, 0, len(by))
	for _, p := range by {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(a.stack, b.stack), cmp.Compare(a.part, b.part))
	})
	return out
}

// PathProfile returns a critical path of this fold as a profile: segments and time by the stack at
// which each goroutine on the path left the processor, with the label "part". A flame graph of it
// shows where the time of the path went, in whichever goroutine; the times sum to the path's
// length.
func (f *Fold) PathProfile(p *Path) (*profile.Profile, error) {
	if p == nil {
		return nil, errors.New("no critical path")
	}
	rows := make([]exectrace.Row, 0, len(p.stretches))
	for _, x := range p.stretches {
		rows = append(rows, exectrace.Row{Stack: x.stack, Values: []int64{x.n, x.ns}, Labels: map[string]string{"part": x.part.String()}})
	}
	types := []profile.ValueType{{Type: "segments", Unit: "count"}, {Type: "time", Unit: "nanoseconds"}}
	return f.trace.Profile(types, rows)
}
