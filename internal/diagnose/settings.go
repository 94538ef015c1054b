package diagnose

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/units"
)

// settingNotes are about settings without a finding: what a trial left open, and what costs no CPU
// now but endangers the process.
func (e *engine) settingNotes() []string {
	return append(e.trialNotes(), e.limitNotes()...)
}

// trialNotes report that a larger GOGC was tried and its effect is unknown, so that hone advises
// nothing.
func (e *engine) trialNotes() []string {
	t := e.manifest.Trial
	if t == nil {
		return nil
	}
	saved := t.Saved()
	if !saved.Known() {
		return []string{fmt.Sprintf("GOGC=%d was tried, in too few interleaved runs to show its effect: hone gives no advice about the heap", t.GOGC)}
	}
	if saved.Low > 0 || saved.High < leastShare {
		return nil
	}
	return []string{fmt.Sprintf("GOGC=%d was tried, and its effect is inconclusive (between %s more and %s less CPU per request): hone gives no advice about the heap. A longer -duration gives the trial more runs",
		t.GOGC, units.Percent(-saved.Low), units.Percent(saved.High))}
}

// limitNotes warn of a collector that is off permanently.
func (e *engine) limitNotes() []string {
	if e.manifest.Target.Kind != "service" && e.manifest.Target.Kind != "url" {
		return nil // a program that exits may do without collection
	}
	if collector.GOGC(e.pass) >= 0 || collector.Limit(e.pass) > 0 {
		return nil
	}
	note := "collection is off (GOGC=off) and there is no GOMEMLIMIT: memory only grows"
	if ph, ok := e.reference(); ok && ph.Seconds > 0 && ph.AllocBytes > 0 {
		note += fmt.Sprintf(", here by %s a second", units.Bytes(float64(ph.AllocBytes)/ph.Seconds))
	}
	return []string{note + "; set GOMEMLIMIT, below which GOGC=off is safe"}
}
