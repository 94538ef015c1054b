package leakgrowth

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/units"
)

// joined are matches of which those about one container are one: a value and what it refers to are
// allocated on several lines, and stay for the same reason.
type joined struct {
	all []rule.Match
	of  []held // for each match
}

// held is the memory of a match, and the container that keeps it; nil if that is not known.
type held struct {
	growth
	container *types.Var
	also      []growth // which the same container keeps, each less than the first
}

// add adds the match about memory that a container keeps, or joins it with the one that is about
// the same container.
func (j *joined) add(m rule.Match, h held) {
	for i, other := range j.of {
		if h.container == nil || h.container != other.container || m.Confidence != rule.Likely || j.all[i].Confidence != rule.Likely {
			continue
		}
		first, second := j.all[i], m
		if h.bytes > other.bytes {
			first, second = m, j.all[i]
			h.also = append(other.also, other.growth)
			j.of[i] = h
		} else {
			j.of[i].also = append(other.also, h.growth)
		}
		first.Live = append(slices.Clone(first.Live), second.Live...)
		first.Evidence = append(first.Evidence, second.Evidence...)
		j.all[i] = first
		return
	}
	j.all, j.of = append(j.all, m), append(j.of, h)
}

// matches returns the matches, with the lines that each explains too.
func (j *joined) matches(p *rule.Pass) []rule.Match {
	for i := range j.all {
		var parts []string
		for _, g := range j.of[i].also {
			made := evidence.Near(p, j.all[i].Site, exectrace.Line{Function: g.Function, File: g.File, Line: g.Line})
			parts = append(parts, fmt.Sprintf("%s of %s", units.Bytes(float64(g.bytes)), made))
		}
		if len(parts) > 0 {
			j.all[i].Cause += fmt.Sprintf(" The same container keeps %s, which the same fix releases.", funcname.List(parts))
		}
	}
	return j.all
}
