package finder

import (
	"context"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
)

// Program finds a fact about the whole program: a setting, the build, the heap. Its
// matches state their saving.
type Program struct {
	Judge func(p *rule.Pass) []rule.Match
	// Ask is used in place of Judge by rules that ask the go command.
	Ask func(ctx context.Context, p *rule.Pass) []rule.Match
}

// Claims returns no price: the matches state their saving.
func (f Program) Claims() rule.Claim { return rule.Claim{} }

// Find runs the judge.
func (f Program) Find(ctx context.Context, p *rule.Pass) ([]rule.Match, error) {
	if f.Ask != nil {
		return f.Ask(ctx, p), ctx.Err()
	}
	return f.Judge(p), nil
}

// Trace finds a fact that the execution trace shows. Its matches state their saving.
type Trace struct {
	// Specificity is that of [rule.Claim].
	Specificity int
	// Judge runs when the trace is long enough to count events (see [traced.Long]).
	Judge func(p *rule.Pass) []rule.Match
}

// Claims returns no price: the matches state their saving.
func (f Trace) Claims() rule.Claim { return rule.Claim{Specificity: f.Specificity} }

// Find runs the judge if the trace is long enough.
func (f Trace) Find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	if !traced.Long(p) {
		return nil, nil
	}
	return f.Judge(p), nil
}
