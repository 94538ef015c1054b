package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	bodynotclosed "github.com/hone-go/hone/internal/diagnose/rules/body-not-closed"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
)

// TestBodyNotClosed treats the programs, which exit, as services in which thousands of connections
// wait for a body to be closed.
func TestBodyNotClosed(t *testing.T) {
	r := bodynotclosed.Rule()
	serving := func(p *rule.Pass, open int64) *rule.Pass {
		as, m := *p, *p.Manifest
		m.Target.Kind, m.Load = "service", &recording.Load{Connections: 64}
		as.Manifest = &m
		as.OpenBodies, as.Goroutines = open, rule.Change{First: 150, Last: 150 + 2*float64(open)}
		return &as
	}
	archive := filepath.Join(r.ID, "testdata", "caught.txtar")
	p := ruletest.RecordFor(t, r, archive)
	ruletest.Compare(t, r, serving(p, 5000), ruletest.Wanted(t, archive, r.ID))
	ruletest.Compare(t, r, serving(p, 300), nil) // fewer than ten per connection of the load
	ruletest.Compare(t, r, serving(ruletest.RecordFor(t, r, filepath.Join(r.ID, "testdata", "nearmiss.txtar")), 5000), nil)
}
