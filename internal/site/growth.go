package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile"
)

// Grown is the memory that a line allocated in a window and that is live at its end, minus memory
// that it had allocated earlier and that died in the window.
type Grown struct {
	Frame
	Bytes   int64
	Objects int64
}

// Growth returns by how much the live memory of each line grew between the two snapshots whose
// difference the allocs profile is, largest first. Lines whose live memory shrank are left out. The
// result is also empty when the profile has no columns of live memory.
func Growth(ctx context.Context, code *gocode.Index, allocs *profile.Profile) ([]Grown, error) {
	if code == nil {
		return nil, errors.New("growth of live memory: no code index")
	}
	if allocs == nil {
		return nil, nil
	}
	counts, values, err := valueColumns(heap, allocs)
	if err != nil {
		return nil, nil //nolint:nilerr // no such columns: nothing is known
	}
	e := newExpander(newStacks(code), allocs)
	byPlace := map[*place]*Grown{}
	for i, value := range values {
		if i%(1<<14) == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("growth of live memory: %w", ctx.Err())
		}
		count := counts(i)
		if count == 0 && value == 0 {
			continue
		}
		s := e.stack(i)
		if s.blamed == nil || s.class == Probe {
			continue
		}
		g := byPlace[s.blamed.place]
		if g == nil {
			g = &Grown{Frame: s.blamed.Frame}
			byPlace[s.blamed.place] = g
		}
		g.Bytes += value
		g.Objects += count
	}
	var grown []Grown
	for _, g := range byPlace {
		if g.Bytes > 0 && g.Objects > 0 {
			grown = append(grown, *g)
		}
	}
	slices.SortFunc(grown, func(a, b Grown) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return grown, nil
}
