package window

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/profile"
)

// builder builds a profile from sums of one state.
type builder struct {
	state exectrace.State
	b     *profile.Builder
	stack []profile.FrameSpec
}

func newBuilder(state exectrace.State) *builder {
	types := []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
	if state == sampled {
		types = []profile.ValueType{{Type: "samples", Unit: "count"}}
	}
	return &builder{state: state, b: profile.NewBuilder(types...)}
}

// add adds a sum if it is of that state.
func (b *builder) add(t *exectrace.Trace, k key, c cell) {
	if k.state != b.state || c == (cell{}) || k.stack == 0 && b.state != sampled {
		return // as in the profiles of package wall
	}
	b.stack = b.stack[:0]
	for _, f := range t.Frames(k.stack) {
		b.stack = append(b.stack, profile.FrameSpec{Function: f.Func, File: f.File, Line: int64(f.Line)})
	}
	if len(b.stack) == 0 {
		b.stack = append(b.stack, profile.FrameSpec{Function: "[no stack]"})
	}
	if b.state == sampled {
		b.b.Add(b.stack, c.n)
		return
	}
	var labels []profile.Label
	if why := wall.Why(t, k.state, k.why); why != "" {
		labels = []profile.Label{{Key: "reason", Str: why}}
	}
	b.b.AddLabeled(b.stack, labels, c.n, c.ns)
}

func (b *builder) profile(length int64) (*profile.Profile, error) {
	p, err := b.b.Profile()
	if err == nil {
		p.DurationNanos = length
	}
	return p, err
}
