package changed

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	maxBeside   = 2  // functions that are returned
	maxCompared = 60 // functions that are compared
	leastWeight = 4  // of a change that may explain a cost elsewhere
)

// Beside compares the other functions of a function's package, for one whose own code is the same:
// how often it is called, and with what, is decided elsewhere. It returns those that tell most.
func Beside(old, new Release, name string) ([]Change, error) {
	before, after := newTree(old), newTree(new)
	f, err := before.find(name)
	if err != nil {
		return nil, fmt.Errorf("compare around %s in %s %s: %w", name, old.Module, old.Version, err)
	}
	p := pair{old: before, new: after, seen: map[string]bool{}}
	var list []Change
	compared := 0
	for _, was := range f.file.pkg.sorted() {
		now := after.counterpart(was)
		if was == f || now == nil || slices.Equal(was.tokens(), now.tokens()) {
			continue
		}
		if compared++; compared > maxCompared {
			break
		}
		if c := p.compare(was, now, maxDepth); c.weight() >= leastWeight {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b Change) int { return cmp.Compare(b.weight(), a.weight()) })
	return list[:min(len(list), maxBeside)], nil
}
