// Package trial runs variants of something in turns, so that what a machine does over time falls on all of them.
//
// The order is the decision behind the package. Two variants run as A B B A, then B A A B or A B B A again by chance:
// within a block a drift falls on both alike, and no period of the machine can keep step with the blocks. Ten runs of one
// variant after the other's ten measure the neighbours (on a shared machine such a comparison of a program with itself
// was significant in 10 % of tests, as values of one process in 47 %; in turns in 2 %).
//
// The package knows nothing of processes and figures: it says whose turn it is, until nobody wants more.
package trial

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Limits end a trial.
type Limits struct {
	Least  int           // runs of each variant before anything else may end the trial
	Most   int           // runs of each variant
	Budget time.Duration // no block starts after it, once each variant has Least runs; 0: none
}

// Trial is a number of variants that take turns. Make one with [New].
type Trial struct {
	variants int
	limits   Limits
	rng      *rand.Rand
	runs     int // of each variant
}

// New returns a trial of that many variants. seed decides the order.
func New(variants int, seed uint64, l Limits) *Trial {
	return &Trial{variants: variants, limits: l, rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
}

// Block returns the order of the next block: each variant twice, the second half in reverse. Of one variant, that is two
// runs.
func (t *Trial) Block() []int {
	order := t.rng.Perm(t.variants)
	for i := t.variants - 1; i >= 0; i-- {
		order = append(order, order[i])
	}
	t.runs += 2
	return order
}

// Runs is how many runs of each variant the blocks so far ask for.
func (t *Trial) Runs() int { return t.runs }

// Over reports whether the trial has ended, given the time that it took and whether the caller knows enough.
func (t *Trial) Over(spent time.Duration, enough bool) bool {
	switch {
	case t.runs >= t.limits.Most:
		return true
	case t.runs < t.limits.Least:
		return false
	}
	return enough || t.limits.Budget > 0 && spent >= t.limits.Budget
}

// Run runs blocks until the trial is over: once runs a variant, enough is asked between blocks. It returns the first error,
// the context's included.
func (t *Trial) Run(ctx context.Context, once func(ctx context.Context, variant int) error, enough func() bool) error {
	if t.variants < 1 {
		return errors.New("a trial without variants")
	}
	began := time.Now()
	for !t.Over(time.Since(began), enough()) {
		for _, v := range t.Block() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := once(ctx, v); err != nil {
				return err
			}
		}
	}
	return nil
}
