package incompressibledata

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/load"
)

const (
	// leastZipped is the minimum number of compressed answers that say how long they usually are.
	leastZipped = 100
	// leastShort is the minimum share of compressed answers that are short.
	leastShort = 0.5
)

// zips are functions that compress with gzip.
var zips = []string{"compress/flate.*", "compress/gzip.(*Writer).*", "github.com/klauspost/compress/flate.*", "github.com/klauspost/compress/gzip.(*Writer).*"}

// shortAnswers finds compressors of answers most of which are too short to gain from it, as the
// load saw.
func shortAnswers(p *rule.Pass) (finder.Line, bool) {
	ph, _ := p.Phase(recording.PhaseInputs)
	b := ph.Bodies
	if b == nil || b.Gzipped < leastZipped || float64(b.Short) < leastShort*float64(b.Gzipped) {
		return finder.Line{}, false
	}
	return finder.Line{
		Start: finder.Frames(answering),
		Judge: func(c *finder.Case) bool {
			describeShort(c.Match, b)
			adopt(p, c.Match)
			return true
		},
	}, true
}

// answering returns the index of the line that has a part of an answer compressed: of the main
// module, or of the dependency that is a handler; -1 for none.
func answering(r *site.Row) int {
	zipped, at := false, -1
	for i, f := range r.Stack {
		switch {
		case !zipped:
			zipped = funcname.Match(f.Function, zips...)
		case f.Function == "net/http.(*conn).serve" || strings.HasPrefix(f.Function, "github.com/valyala/fasthttp.(*Server)."):
			return at
		case at >= 0 && r.Stack[at].Owner.Kind == gocode.Main:
		case f.Owner.Kind == gocode.Main && at < 0, f.Owner.Kind == gocode.Dependency && at < 0 && !funcname.Match(f.Function, zips...):
			at = i
		}
	}
	return -1
}

func describeShort(m *rule.Match, b *load.Bodies) {
	share := float64(b.Short) / float64(b.Gzipped)
	plain, zipped := float64(b.ShortPlain)/float64(b.Short), float64(b.ShortBytes)/float64(b.Short)
	m.Confidence, m.Callees = rule.Likely, []string{"compress/*"}
	m.Fraction = &rule.Fraction{Expect: 0.9 * share, Low: 0.6 * share, High: share}
	if share < 0.95 { // the others may take most of it
		m.Fraction = &rule.Fraction{Expect: 0.5 * share, Low: 0.1 * share, High: share}
	}
	m.Cause = fmt.Sprintf("%s of the compressed answers are short: %s on average, which become %s. Each of them fits into one packet without compression, and costs about as much to compress as some KiB, because the compressor builds its tables and codes for each answer.",
		units.Percent(share), units.Bytes(plain), units.Bytes(zipped))
	m.Fix = fmt.Sprintf("Compress only answers of %s and more: keep what the handler writes until it is that long, and decide then. Middleware such as github.com/klauspost/compress/gzhttp does that (MinSize).", units.Bytes(load.ShortBody))
	m.Evidence = append(m.Evidence, rule.Evidence{
		What:  "answers that the load received",
		Value: fmt.Sprintf("%s compressed with gzip, %s of them of less than %s", units.Count(b.Gzipped), units.Count(b.Short), units.Bytes(load.ShortBody)),
	})
}
