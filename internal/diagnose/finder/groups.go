package finder

import (
	"context"

	"github.com/hone-go/hone/internal/diagnose/rule"
)

// Groups finds matches whose rows belong together for a reason other than their line: rows of
// goroutines that start in one function, of memory that a call gained, of calls under a loop of a
// caller. The rule groups the rows itself, where a [Start] cannot.
type Groups struct {
	Claim rule.Claim
	// Rows returns the groups, as matches.
	Rows func(ctx context.Context, p *rule.Pass) ([]rule.Match, error)
}

// Claims returns how the matches are priced.
func (g Groups) Claims() rule.Claim { return g.Claim }

// Find groups the rows.
func (g Groups) Find(ctx context.Context, p *rule.Pass) ([]rule.Match, error) { return g.Rows(ctx, p) }
