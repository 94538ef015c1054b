package main

import "github.com/hone-go/hone/internal/diagnose"

// remaining is the part of its saving per operation that a finding must still have on the fixed
// version to be the one that explained the fault.
const remaining = 1. / 3

// compare marks the explanation of the fixed version as another one if it is not the finding that
// explained the fault. Words and locations of a case accept whatever explains the fault, so they
// also match what else is true there: a lock around the code that was fixed, or the part of the
// cost that the fix left.
func (r *row) compare() {
	if r.Fixed == nil || r.Fixed.Explained == 0 {
		return
	}
	r.Fixed.Other = true
	for _, after := range r.Fixed.explaining {
		if r.same(after) {
			r.Fixed.explainedBy(after)
			r.Fixed.Other = false
			return
		}
	}
}

// same reports whether a finding on the fixed version is the one that explained the fault: by the
// same rule, and it saves at least a third of what it saved before, of the cost per operation. A
// finding whose saving is unknown is the same.
func (r *row) same(after *diagnose.Finding) bool {
	if r.Explained == 0 || after.Rule != r.Rule {
		return false
	}
	before := r.explaining[0].Whole()
	now := after.Whole()
	if before == nil || now == nil || before.Resource != now.Resource || before.Of != now.Of {
		return true
	}
	return now.Share*r.left(now) >= remaining*before.Share
}

// left returns the cost per operation of the fixed version, relative to the faulty one, of the
// resource that a finding saves; 1 if it was not measured.
func (r *row) left(s *diagnose.Saving) float64 {
	if r.Measured == nil || r.Measured.Of != totalOf(s.Resource, s.Of) {
		return 1
	}
	return min(1, 1-(r.Measured.Low+r.Measured.High)/2)
}
