package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
)

// TestPartialRecordings runs every rule on recordings that lack a part, as those of short runs and
// of services whose requests the trace does not show do.
func TestPartialRecordings(t *testing.T) {
	without := map[string]func(*rule.Pass){
		"requests":       func(p *rule.Pass) { p.Trace.Requests = nil },
		"known requests": func(p *rule.Pass) { p.Trace.Requests = &requests.Result{} },
		"trace":          func(p *rule.Pass) { p.Trace = nil },
		"counts":         func(p *rule.Pass) { p.Counts = nil },
		"inputs":         func(p *rule.Pass) { p.Inputs = nil },
		"syntax":         func(p *rule.Pass) { p.Syntax, p.Facts = nil, nil },
		"facts":          func(p *rule.Pass) { p.Facts = nil },
		"metrics":        func(p *rule.Pass) { p.Metrics = nil },
		"growth":         func(p *rule.Pass) { p.Growth, p.Parked, p.Leaked = nil, nil, nil },
	}
	for _, id := range []string{"process-per-request", "rate-limit-wait"} {
		whole := ruletest.RecordTraced(t, filepath.Join(id, "testdata", "caught.txtar"))
		for what, remove := range without {
			p, trace, manifest := *whole, *whole.Trace, *whole.Manifest
			manifest.Load, manifest.Target.Kind = &recording.Load{}, "service"
			p.Trace, p.Manifest = &trace, &manifest
			remove(&p)
			for _, r := range rules.All() {
				t.Run(id+" without "+what+"/"+r.ID, func(t *testing.T) {
					if _, err := r.Find(t.Context(), &p); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}
