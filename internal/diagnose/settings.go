package diagnose

import (
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/rule"
)

// settingNotes tell of settings that cost no CPU, and so are no findings, but will cost the process.
func (e *engine) settingNotes() []string {
	if e.manifest.Target.Kind != "service" && e.manifest.Target.Kind != "url" {
		return nil // a program that ends may do without collection
	}
	if e.pass.GOGC() >= 0 || e.pass.Limit() > 0 {
		return nil
	}
	note := "collection is off (GOGC=off) and there is no GOMEMLIMIT: memory only grows"
	if ph, ok := e.reference(); ok && ph.Seconds > 0 && ph.AllocBytes > 0 {
		note += fmt.Sprintf(", here by %s a second", rule.Bytes(float64(ph.AllocBytes)/ph.Seconds))
	}
	return []string{note + "; set a limit, below which GOGC=off does no harm"}
}
