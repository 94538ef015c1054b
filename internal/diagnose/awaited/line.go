package awaited

import (
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
)

// At returns the time, in seconds, that requests wait at a line or in functions below it, and that
// of all requests in the trace; 0 where no trace shows it.
func At(p *rule.Pass, f *site.Frame) (waited, total float64) {
	if p.Trace == nil || p.Trace.Requests == nil || p.Trace.Requests.All == nil || p.Syntax == nil || p.Counts == nil || !traced.Serves(p) {
		return 0, 0
	}
	for _, fn := range Of(p).Callers(p) {
		for _, s := range fn.Steps {
			if s.Frame.File == f.File && s.Frame.Line == f.Line {
				waited += s.Seconds
			}
		}
	}
	return waited, traced.LatencyTotal(p)
}
