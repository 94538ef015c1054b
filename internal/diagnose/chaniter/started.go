package chaniter

import (
	"path"
	"slices"

	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Started is an iterator whose goroutines a trace has.
type Started struct {
	*Iterator
	wall.Spawn
	Site  *site.Site // of the go statement
	Place *gocode.Place
}

// InTrace returns the iterators whose goroutines were started during the trace.
func InTrace(p *rule.Pass) (all []Started) {
	for _, sp := range p.Trace.Spawns {
		s := traced.SiteAt(p, sp.Line)
		if s == nil {
			continue
		}
		place := p.Place(s)
		if place == nil {
			continue
		}
		if it, ok := At(place); ok {
			all = append(all, Started{Iterator: it, Spawn: sp, Site: s, Place: place})
		}
	}
	return all
}

// Sends reports whether the iterator sends at a line of a trace or a profile.
func (it Started) Sends(file string, line int) bool {
	return slices.Contains(it.Lines, line) && file == path.Join(path.Dir(it.Site.File), it.File)
}
