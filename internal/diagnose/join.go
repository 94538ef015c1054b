package diagnose

import (
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Join is how much of a recording could be charged to a line of a module or to a named bucket, and
// how much of that code could be examined.
type Join struct {
	CPU   *JoinParts `json:"cpu,omitempty"`         // of the samples
	Bytes *JoinParts `json:"alloc_bytes,omitempty"` // of allocated bytes
	// Entries is the share of samples whose line in the main module is known, among CPU samples
	// with a frame there; absent when there are none.
	Entries  *float64   `json:"entries,omitempty"`
	Facts    *JoinFacts `json:"facts,omitempty"` // absent when no module's line costs anything
	Unjoined []Unjoined `json:"unjoined"`
}

// JoinParts are shares that add up to 1.
type JoinParts struct {
	Joined       float64 `json:"joined"` // the sum of the next three
	Main         float64 `json:"main"`
	Dependencies float64 `json:"dependencies"`
	Named        float64 `json:"named"` // collector, scheduler, connection handling, …
	Unjoined     float64 `json:"unjoined"`
}

// JoinFacts is the part of the cost of the modules' lines (CPU and its garbage collection; bytes
// where there is no CPU profile) for which the compiler's decisions are known.
type JoinFacts struct {
	Share   float64           `json:"share"`
	Have    []string          `json:"have"`
	Lacking map[string]string `json:"lacking"` // packages that own hot lines, with the reason
}

// Unjoined is a cost that ended nowhere, with the reason.
type Unjoined struct {
	What  string  `json:"what"`
	Why   string  `json:"why"`
	CPU   float64 `json:"cpu,omitempty"`
	Bytes float64 `json:"alloc_bytes,omitempty"`
}

const (
	// leastJoined is the share that must end somewhere; a note reports less.
	leastJoined = 0.95
	// mostUnjoined is the longest list of costs that ended nowhere.
	mostUnjoined = 50
	// hotPackage is the minimum share of its modules' cost of a package whose missing facts are
	// reported.
	hotPackage = 0.01
)

// join returns the join of a pass; nil when there is no table.
func join(p *rule.Pass) *Join {
	if p.Table == nil {
		return nil
	}
	t := p.Table.Joined()
	if t.CPU == nil && t.Bytes == nil {
		return nil
	}
	j := &Join{CPU: joinParts(t.CPU), Bytes: joinParts(t.Bytes), Facts: joinFacts(p), Unjoined: []Unjoined{}}
	if t.MainSamples > 0 {
		j.Entries = ptr(round(float64(t.EntrySamples) / float64(t.MainSamples)))
	}
	for _, u := range t.Unjoined[:min(len(t.Unjoined), mostUnjoined)] {
		j.Unjoined = append(j.Unjoined, Unjoined{u.What, u.Why, round(u.CPU), round(u.Bytes)})
	}
	return j
}

func joinParts(p *site.Parts) *JoinParts {
	if p == nil {
		return nil
	}
	return &JoinParts{round(p.Share()), round(p.Main), round(p.Dependencies), round(p.Named), round(p.Unjoined)}
}

// joinFacts sums the cost of packages that own lines by whether they have facts.
func joinFacts(p *rule.Pass) *JoinFacts {
	cost, unread := map[string]float64{}, map[string]float64{} // not read because files have changed since the build
	total := 0.0
	for _, s := range p.Table.Sites {
		if s.Owner.Kind != gocode.Main && s.Owner.Kind != gocode.Dependency {
			continue
		}
		c := s.Cost.CPUSeconds + s.Cost.GCSeconds
		if p.Table.Totals.TotalSeconds <= 0 {
			c = float64(s.Cost.AllocBytes)
		}
		cost[s.Owner.Package] += c
		total += c
		if p.Code != nil && p.Code.Distrusted(s.File) != "" {
			unread[s.Owner.Package] += c
		}
	}
	if total <= 0 {
		return nil
	}
	f := &JoinFacts{Have: []string{}, Lacking: map[string]string{}}
	var lacking map[string]string
	if p.Facts != nil {
		f.Have, lacking = p.Facts.Packages()
	}
	known := 0.0
	for pkg, c := range cost {
		switch why := lacking[pkg]; {
		case slices.Contains(f.Have, pkg):
			known += c - unread[pkg]
		case why != "":
			f.Lacking[pkg] = why
		case c >= hotPackage*total:
			f.Lacking[pkg] = "the compiler was not asked: it owns too little of the cost, or too many packages own more"
		}
	}
	f.Share = round(known / total)
	return f
}

// joinNotes report what is not joined, if that is much.
func joinNotes(j *Join) []string {
	if j == nil {
		return nil
	}
	var notes []string
	say := func(p *JoinParts, what string, share func(Unjoined) float64) {
		if p == nil || p.Joined >= leastJoined {
			return
		}
		note := fmt.Sprintf("%s of %s ended at no line and in no named bucket", units.Percent(p.Unjoined), what)
		for _, u := range j.Unjoined {
			if s := share(u); s >= 0.005 {
				note += fmt.Sprintf("; %s %s (%s)", units.Percent(s), u.What, u.Why)
				break
			}
		}
		notes = append(notes, note)
	}
	say(j.CPU, "CPU samples", func(u Unjoined) float64 { return u.CPU })
	say(j.Bytes, "allocated bytes", func(u Unjoined) float64 { return u.Bytes })
	return notes
}
