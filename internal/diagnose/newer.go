package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/upgrades"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// OwnerNamed starts the sentences about the module of a line, at the end of a fix. They are the
// same for every finding in that module.
const OwnerNamed = "The line belongs to "

// askedModules is the largest number of modules of which a report looks for newer versions: each
// may be a request to a proxy.
const askedModules = 5

// candidates are the newer versions of modules, by "path version".
type candidates map[string][]gocode.Candidate

// newer looks for newer versions of the dependencies that findings blame, most expensive first.
func (e *engine) newer(ctx context.Context, shown []*draft) candidates {
	found := candidates{}
	if e.pass.Code == nil {
		return found
	}
	for _, d := range shown {
		if len(d.lines) == 0 || len(found) >= askedModules {
			continue
		}
		owner := d.lines[0].site.Owner
		if owner.Kind != gocode.Dependency || owner.Version == "" {
			continue
		}
		key := owner.Module + " " + owner.Version
		if _, asked := found[key]; !asked {
			found[key] = e.pass.Code.Newer(ctx, owner.Module, owner.Version)
		}
	}
	return found
}

// advice returns the fix for a line of a dependency: what is known about its newer versions.
func (e *engine) advice(d *draft, s *site.Site) string {
	if slices.Contains(d.rule.Needs, rule.NeedUpgrade) {
		return "" // the finding is about the newer release
	}
	m, ok := e.manifest.Upgrade.Tried(s.Owner.Module)
	if !ok {
		return e.candidates.advice(s)
	}
	name := strings.TrimSpace(s.Owner.Module + " " + s.Owner.Version)
	measured := fmt.Sprintf("%s could not be measured: %s.", m.To, m.Failed)
	if m.Failed == "" {
		measured = fmt.Sprintf("%s was measured: with it, the program %s.", m.To, upgradeWords(e.manifest.Upgrade, e.manifest.PerUnit()))
	}
	return sentences(OwnerNamed+name+".", measured, e.released(s))
}

// released says what the newest release of a module that was tried changed in the function of a
// line.
func (e *engine) released(s *site.Site) string {
	m, ok := e.manifest.Upgrade.Tried(s.Owner.Module)
	if !ok || e.pass.Code == nil {
		return ""
	}
	return upgrades.In(e.pass.Code, m, s.Function)
}

// upgradeWords says what newer releases save.
func upgradeWords(u *recording.Upgrade, per string) string {
	if old, now, ok := u.Repairs(recording.UpgradeGoroutines); ok {
		return fmt.Sprintf("leaves %s goroutines %s in place of %s", units.Number(now), per, units.Number(old))
	}
	if old, now, ok := u.Repairs(recording.UpgradeLive); ok {
		return fmt.Sprintf("keeps %s of memory %s in place of %s", units.Bytes(now), per, units.Bytes(old))
	}
	for _, f := range []struct{ name, words string }{
		{recording.UpgradeCPU, "takes %s less CPU"}, {recording.UpgradeTime, "takes %s less time"}, {recording.UpgradeBytes, "allocates %s less"},
	} {
		if saved := u.Saved(f.name); saved.Known() && saved.Low > 0 && saved.Value >= leastShare {
			return fmt.Sprintf(f.words, units.Percent(saved.Value))
		}
	}
	return "costs about the same"
}

// advice returns the fix for a line of a dependency of which no newer version was measured.
func (c candidates) advice(s *site.Site) string {
	name := strings.TrimSpace(s.Owner.Module + " " + s.Owner.Version)
	newer := c[name]
	if len(newer) == 0 {
		return fmt.Sprintf(OwnerNamed+"%s: look for a newer version, or propose the change there.", name)
	}
	words := make([]string, len(newer))
	for i, n := range newer {
		words[i] = n.Version
		if n.Module != s.Owner.Module {
			words[i] = n.String()
		}
	}
	return fmt.Sprintf(OwnerNamed+"%s. Newer versions: %s, candidates that are not proved to cost less. Otherwise propose the change there.", name, funcname.List(words))
}
