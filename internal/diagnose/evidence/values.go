package evidence

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/units"
)

// Shares of calls from which a property of values is mentioned, and the mean length of texts that
// is worth mentioning.
const (
	nearlyAll  = 0.9
	leastBytes = 32
)

// ValuesSeen describes the texts that a function got, and its results: "texts of 340 B on average,
// 100 % of them only ASCII; it returned its text unchanged in 97 % of calls"; "" for a function
// that got no texts, or only short ones.
func ValuesSeen(p *rule.Pass, function string) string {
	f := p.Inputs.Of(function)
	if f == nil || f.Calls < leastWatched {
		return ""
	}
	v, ok := LongestText(f)
	if !ok || v.Mean() < leastBytes {
		return ""
	}
	text := fmt.Sprintf("texts of %s on average", units.Bytes(v.Mean()))
	if share := ASCIIShare(v); share >= nearlyAll {
		text += fmt.Sprintf(", %s of them only ASCII", units.Percent(share))
	}
	parts := []string{text}
	for i, v := range f.Returned {
		if v.Seen < leastWatched {
			continue
		}
		if share := float64(v.Unchanged) / float64(v.Seen); share >= nearlyAll {
			parts = append(parts, fmt.Sprintf("it returned its text unchanged in %s of calls", units.Percent(share)))
		}
		if share := float64(v.Empty) / float64(v.Seen); i == 0 && share >= nearlyAll {
			parts = append(parts, fmt.Sprintf("its result was nil, false, zero or empty in %s of calls", units.Percent(share)))
		}
	}
	return strings.Join(parts, "; ")
}

// LongestText returns the values of the parameter with the longest texts; false if a function got
// none.
func LongestText(f *inputs.Function) (longest inputs.Values, ok bool) {
	for _, v := range f.Given {
		if v.Texts > 0 && v.Mean() > longest.Mean() {
			longest, ok = v, true
		}
	}
	return longest, ok
}

// ASCIIShare is the share of texts that have only ASCII characters, of those that are not empty.
func ASCIIShare(v inputs.Values) float64 {
	if v.Texts == 0 {
		return 0
	}
	return float64(v.ASCII) / float64(v.Texts)
}
