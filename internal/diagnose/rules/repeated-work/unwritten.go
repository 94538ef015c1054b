package repeatedwork

import (
	"fmt"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/watched"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/units"
)

const (
	// A field of the receiver costs nothing to look up.
	leastKept      = 50e-9
	leastKeptBytes = 64
	// leastPerObject is how often a method must be called for each object that is made.
	leastPerObject = 3
)

// ofUnwritten judges a method without parameters whose receivers never change after they were made,
// by the source of their package. Its results need not be the same for an address: objects that are
// dropped leave theirs to others.
func (s *search) ofUnwritten(in *inputs.Function) *found {
	c := s.costs[in.Name]
	if c == nil || c.Recursive || in.Calls < fewCalls || in.Identical*leastPerObject > in.Calls || s.pass.Counts == nil || !s.own(in) || s.share(in.Name) < leastShare {
		return nil
	}
	calls := watched.Calls(s.pass, in)
	if calls <= 0 || float64(c.Nanoseconds)*1e-9 < leastKept*calls && float64(c.Bytes) < leastKeptBytes*calls {
		return nil
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok || changes(in) || !s.plain(in, place) {
		return nil
	}
	t, _ := types.Unalias(syntax.Pointed(syntax.SignatureOf(place).Recv().Type())).(*types.Named)
	if t == nil || !s.oftenForEach(in, place, t) || !effects.Unwritten(place, t) {
		return nil
	}
	return &found{
		Function: in, where: always, repeats: 1 - float64(in.Identical)/float64(in.Calls), confidence: rule.Likely, shared: true, unwritten: t.Obj().Name(),
		words: fmt.Sprintf("%s calls, for %s different values of %s", units.Count(in.Calls), units.Count(in.Identical), t.Obj().Name()),
	}
}

// plain reports whether a method only computes plain data, which its caller does not want for
// itself.
func (s *search) plain(in *inputs.Function, p *gocode.Place) bool {
	sig := syntax.SignatureOf(p)
	return sig != nil && sig.Recv() != nil && sig.Params().Len() == 0 && rich(sig) && builtInside(p, sig) &&
		!startsWith(in, "Clone", "Copy", "DeepCopy", "Snapshot", "New", "Make", "Now", "Random", "Current") &&
		effects.LooksPureLocked(p) && s.quiet(in.Name) && (returnsText(sig) || !s.allocatesOnly(in.Name))
}

// oftenForEach reports whether a method runs several times for each value of its type that the
// package makes, as counted.
func (s *search) oftenForEach(in *inputs.Function, p *gocode.Place, t *types.Named) bool {
	all := effects.Made(p, t)
	runs, ok := evidence.ExecutionsAt(s.pass, p, p.Decl.Body.List[0].Pos())
	if !ok || len(all) == 0 {
		return false
	}
	made := 0.0
	for _, n := range all {
		if e, ok := evidence.ExecutionsAt(s.pass, p, n.Pos()); ok {
			made += e.PerUnit
		}
	}
	return runs.PerUnit >= leastPerObject*made
}
