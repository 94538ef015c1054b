package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	incompressibledata "github.com/hone-go/hone/internal/diagnose/rules/incompressible-data"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

// TestShortAnswersCompressed: whether the load saw short answers decides about a compressor.
func TestShortAnswersCompressed(t *testing.T) {
	const src = `package main

import (
	"compress/gzip"
	"net/http"
)

func compress(next http.Handler, zw *gzip.Writer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		zw.Reset(w)
		defer zw.Close() //@ answer | compress/flate.(*compressor).close compress/gzip.(*Writer).Close < net/http.(*conn).serve
		next.ServeHTTP(w, r)
	})
}

func archive(zw *gzip.Writer) {
	zw.Close() //@ archive | compress/flate.(*compressor).close compress/gzip.(*Writer).Close
}

func main() {}
`
	for _, c := range []struct {
		name   string
		bodies *load.Bodies
		want   bool
		low    float64 // of the fraction
	}{
		{"all short", &load.Bodies{Answers: 1000, Gzipped: 1000, Short: 1000, ShortPlain: 64_000, ShortBytes: 82_000}, true, 0.6},
		{"some long ones", &load.Bodies{Answers: 1000, Gzipped: 1000, Short: 700, ShortPlain: 64_000, ShortBytes: 82_000}, true, 0.07},
		{"most are long", &load.Bodies{Answers: 1000, Gzipped: 1000, Short: 300, ShortPlain: 64_000, ShortBytes: 82_000}, false, 0},
		{"few compressed", &load.Bodies{Answers: 1000, Gzipped: 50, Short: 50, ShortPlain: 3200, ShortBytes: 4100}, false, 0},
		{"nothing known", nil, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, names := ruletest.MadeUp(t, src)
			p.Manifest.Phases = []recording.Phase{{Name: recording.PhaseInputs, Bodies: c.bodies}}
			found := matchesOf(t, incompressibledata.Rule(), p)
			if !c.want {
				if len(found) > 0 {
					t.Errorf("%+v", found)
				}
				return
			}
			if len(found) != 1 || names[found[0].Site.Line] != "answer" || found[0].Confidence != rule.Likely || found[0].Fraction.Low < c.low-1e-9 || found[0].Fraction.Low > c.low+1e-9 {
				t.Fatalf("%+v", found)
			}
			if !strings.Contains(found[0].Cause, "become") {
				t.Error(found[0].Cause)
			}
		})
	}
}
