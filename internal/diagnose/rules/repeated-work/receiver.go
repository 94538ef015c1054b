package repeatedwork

import (
	"fmt"
	"go/types"

	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/units"
)

// ofReceiver judges a method without parameters. Its receiver alone seldom says what it returns:
// the results must be the same, and the method must visibly do no more than compute them.
func (s *search) ofReceiver(in *inputs.Function) *found {
	if f := s.ofProved(in); f != nil {
		return f
	}
	return s.ofUnwritten(in)
}

// ofProved judges such a method by its results, which were the same.
func (s *search) ofProved(in *inputs.Function) *found {
	if !proved(in) {
		return nil
	}
	if s.converts(in) != nil {
		return s.surely(in)
	}
	if !s.computesFromReceiver(in) {
		return nil
	}
	for _, judge := range []func(*inputs.Function) *found{s.surely, s.few} {
		if f := judge(in); f != nil {
			f.method = true
			return f
		}
	}
	return nil
}

// ofReceivers says how many calls of a method there were, and of how many receivers.
func (f *found) ofReceivers() string {
	calls := units.Count(f.Calls) + " calls"
	if f.Stopped {
		calls = "the first " + calls
	}
	if f.Identical > 1 {
		return fmt.Sprintf("%s, for %s different receivers", calls, units.Count(f.Identical))
	}
	return calls + ", for one receiver"
}

// computesFromReceiver reports whether a method computes plain data from its receiver, whose memory
// did not change. Copies and new values belong to the caller: so does what the method only
// allocates, unless it is a text, which nobody fills.
func (s *search) computesFromReceiver(in *inputs.Function) bool {
	if in.Compared < s.enough(fewCalls) || in.Identical != in.Stable || changes(in) {
		return false
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	return ok && s.plain(in, place)
}

// returnsText reports whether a function returns a text and nothing else.
func returnsText(sig *types.Signature) bool {
	if sig.Results().Len() != 1 {
		return false
	}
	b, ok := sig.Results().At(0).Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}
