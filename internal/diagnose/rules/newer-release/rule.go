// Package newerrelease finds dependencies of which a newer release costs less, as a run with it has
// shown, and says what that release changed.
package newerrelease

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/upgrades"
	"github.com/hone-go/hone/internal/gocode/changed"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

const (
	// leastSaved is the share of CPU or time that the newer release must save at least, by the
	// lower end of the interval; what it saves less is not worth the risk of an update.
	leastSaved = 0.04
	// leastBytes is the share of the allocated bytes that it must save if CPU is saved only a
	// little.
	leastBytes = 0.15
	// leastTime is the share of the time that it must save if that is all it saves: goroutines
	// wait for less, or the machine was busy with something else.
	leastTime = 0.2
	// leastBusy is the part of its time that a request, run or operation must use a CPU for what it
	// saves of that to count, and not the time: the rest is waiting, also for a CPU.
	leastBusy = 0.02
	// leastWait is the part of all waiting from which on a function of the module is blamed, if the
	// time that a newer release saves is waiting.
	leastWait = 0.05
	// nearly is the part of the largest saving of a function from which on a function deeper in the
	// stacks is the one that changed.
	nearly = 0.6
	// little is the part of the largest saving of a function from which on another one that differs
	// is named, if none of those that save more does.
	little = 0.1
	// another is the part of the saving that another function must have to be told as well.
	another = 0.2
	// known is the least part of the saving that the module's functions must account for.
	known = 0.4
	// mostCompared is how many functions are compared with those of the newer release.
	mostCompared = 12
)

// Rule is newer-release.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "newer-release",
		Kind:   rule.Dep,
		Needs:  []rule.Need{rule.NeedUpgrade},
		Title:  "A newer release of the module does the same for less",
		Doc:    doc,
		Finder: finder.Program{Ask: ask},
	}
}

const doc = `The program uses a release of a module that a later one has made cheaper. Most
performance defects of modules are found and fixed by others first: a cache for
what was compiled on every call, an index in place of a scan, a buffer that is
used again, a lock that is held for less time.

Update the module. If that is not possible, the finding says what the newer
release changed, so that the caller can avoid the expensive path, or a copy of
the module can get the same change.

It is fine to stay behind for other reasons. The rule reports only what was
measured: the program is built once more with the newest releases of the
modules that carry at least 5 % of its cost and have other code there, and runs
under the same load; if that saves nothing, with the next minor releases. If it
costs less, the unchanged program runs again after it, and both are compared.
The functions are those through which less of the profile passes, the deepest of
them whose source differs. A second one is reported if it has much of the saving
and the first is not in its stacks, or much of the saved CPU below the first.

Seen in the field: joho/godotenv#90 (regular expressions compiled for each
value), axiomhq/hyperloglog#23 (16 kB reserved for each sketch).`

// ask looks at each module that was upgraded. It may ask for the releases between the two.
func ask(ctx context.Context, p *rule.Pass) []rule.Match {
	u := p.Manifest.Upgrade
	by, ok := decide(u)
	if !ok || p.Code == nil || p.Table == nil {
		return nil
	}
	var matches, same []rule.Match
	for _, m := range u.Modules {
		if m.Failed != "" {
			continue
		}
		for _, match := range by.matches(ctx, p, m) {
			if match.Patch == nil {
				same = append(same, match)
			} else {
				matches = append(matches, match)
			}
		}
	}
	for _, m := range same { // what is there is called less because of what another module changed
		if !slices.ContainsFunc(matches, func(o rule.Match) bool { return covers(o.Around, m.Around) }) {
			matches = append(matches, m)
		}
	}
	return matches
}

// mostOf is the part of some rows that others must have to cover them.
const mostOf = 0.8

// covers reports whether rows have most of others.
func covers(rows, others []*site.Row) bool {
	in := map[*site.Row]bool{}
	for _, r := range rows {
		in[r] = true
	}
	var all, part int64
	for _, r := range others {
		all += r.Value
		if in[r] {
			part += r.Value
		}
	}
	return float64(part) >= mostOf*float64(all)
}

// decision is what an upgrade saves, by the figure that counts.
type decision struct {
	upgrade *recording.Upgrade
	figure  string         // recording.UpgradeCPU or UpgradeTime
	saves   stats.Interval // a share of it
	cpu     float64        // the share of CPU that it saves; 0 when not known
	bytes   float64        // the share of the allocated bytes that it saves; 0 when not known
}

// decide chooses the figure: CPU, or the time when that alone is less, as after a wait.
func decide(u *recording.Upgrade) (decision, bool) {
	d := decision{upgrade: u, figure: recording.UpgradeCPU, saves: u.Saved(recording.UpgradeCPU)}
	if d.saves.Known() && d.saves.Low > 0 {
		d.cpu = d.saves.Value
	}
	if b := u.Saved(recording.UpgradeBytes); b.Known() && b.Low > 0 {
		d.bytes = b.Value
	}
	t := u.Saved(recording.UpgradeTime)
	less := t.Known() && t.Low >= leastTime
	waiting := less && mean(u, recording.UpgradeCPU, false) < leastBusy*mean(u, recording.UpgradeTime, false)
	if !waiting && d.saves.Known() && (d.saves.Low >= leastSaved || d.bytes >= leastBytes && d.saves.Low > 0) {
		return d, true
	}
	if less {
		d.figure, d.saves = recording.UpgradeTime, t
	}
	return d, less
}

// matches describes the part of a module in what is saved: the function that has most of it and,
// if another one has much of it by itself, that one.
func (d decision) matches(ctx context.Context, p *rule.Pass, m recording.ModuleUpgrade) (list []rule.Match) {
	v := d.view(p, m.Path)
	if len(v.list) == 0 {
		return nil
	}
	from, to, ok := upgrades.Sources(p.Code, m)
	if !ok {
		return nil
	}
	f := v.different(from, to)
	part := min(1, v.part)
	if rest, other, less := v.second(p, m, f, from, to); less > 0 && less < part {
		rest.part = less
		part -= less
		if match, ok := d.match(ctx, p, m, rest, other, to); ok {
			list = append(list, match)
		}
	}
	v.part = part
	if match, ok := d.match(ctx, p, m, v, f, to); ok {
		list = append(list, match)
	}
	return list
}

// match describes what a newer release saves in a function.
func (d decision) match(ctx context.Context, p *rule.Pass, m recording.ModuleUpgrade, v view, f finding, to changed.Release) (rule.Match, bool) {
	at := place(v.rows, f.function, f.change)
	if at == nil {
		return rule.Match{}, false
	}
	out := rule.Match{
		Site: p.Site(at), Confidence: rule.Proved, Around: through(v.rows, f.function),
		Saving: d.saving(p, d.saves.Scale(v.part), f.saved),
		Cause:  d.words(p, m) + v.where(p, m, f, at) + v.described(p, m, f, at),
		Fix:    fmt.Sprintf("Update the module: go get %s@%s.", m.Path, m.To),
		Patch:  upgrades.Patch(f.change, m.To),
	}
	since := oldest(ctx, p, m, f, to)
	if since != "" && since != m.To {
		out.Fix += fmt.Sprintf(" The function has been the same since %s.", since)
	}
	for _, n := range changed.Notes(to, m.From, v.names(f)) {
		if n.Named || n.Version == since {
			out.Fix += fmt.Sprintf(" The notes on release %s say: %q.", n.Version, n.Text)
		}
	}
	out.Evidence = d.evidence(p, m)
	return out, true
}

// oldest returns the oldest release in which the function is as in the newest; "" when that is not
// known.
func oldest(ctx context.Context, p *rule.Pass, m recording.ModuleUpgrade, f finding, to changed.Release) string {
	c := f.change
	if c == nil || c.Removed {
		return ""
	}
	source := func(ctx context.Context, version string) (changed.Release, error) {
		dir, err := p.Code.Download(ctx, m.Path, version)
		return changed.Release{Module: m.Path, Version: version, Dir: dir}, err
	}
	first, err := changed.FirstLike(ctx, p.Code.Releases(ctx, m.Path, m.From, m.To), source, to, f.function)
	if err != nil {
		return ""
	}
	return first
}

// finding is a function through which less passes, and how it differs in the newer release.
type finding struct {
	saved
	change *changed.Change // nil if nothing that it does differs
}

// different returns the deepest function that differs, of those through which nearly as much less
// passes as through any. A function that the newer release no longer has comes after those that it
// has: all of its cost seems to be saved, also if another one does the same work now. Without any
// difference, it is the deepest of them all.
func (v view) different(from, to changed.Release) finding {
	var kept, removed, same []finding
	for _, f := range v.list[:min(len(v.list), mostCompared)] {
		c, err := changed.Function(from, to, f.function)
		if err == nil && c.Now != "" {
			f.less = max(0, f.share-v.after[inPackage(f.function, c.Now)])
		}
		switch {
		case err == nil && c.Removed:
			if left, ok := namesake(c, f.function, v.after); ok {
				f.less = max(0, f.share-left)
				kept = append(kept, finding{f, c})
			} else {
				removed = append(removed, finding{f, c})
			}
		case err == nil && !c.Same && differs(c):
			kept = append(kept, finding{f, c})
		default:
			same = append(same, finding{f, nil})
		}
	}
	for i, found := range [][]finding{kept, removed, kept, same} {
		most := 0.0
		for _, f := range found {
			most = max(most, f.less)
		}
		least := known
		if i == 2 {
			least = little
		}
		if most == 0 || most < least*v.list[0].less {
			continue
		}
		return slices.MinFunc(found, func(a, b finding) int {
			return cmp.Or(cmp.Compare(btoi(a.less < nearly*most), btoi(b.less < nearly*most)), cmp.Compare(a.share, b.share),
				cmp.Compare(v.height(a.function), v.height(b.function)))
		})
	}
	return finding{v.list[0], nil}
}

// namesake returns the cost of the method that has taken the place of a removed function, if there
// is one.
func namesake(c *changed.Change, function string, upgraded costs) (float64, bool) {
	for _, in := range c.Inside {
		if in.Role == changed.RoleNamesake {
			return upgraded[inPackage(function, in.Name)], true
		}
	}
	return 0, false
}

// inPackage returns the name that a profile gives a function in the package of another one.
func inPackage(of, name string) string {
	dir := of[:strings.LastIndexByte(of, '/')+1]
	pkg, _, _ := strings.Cut(of[len(dir):], ".")
	return dir + pkg + "." + name
}

// height is the mean distance of a function from the leaf: of functions through which the same
// passes, it tells which calls which.
func (v view) height(function string) float64 {
	var sum, n float64
	for _, r := range v.rows {
		if i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return declaration(f.Function) == function }); i >= 0 {
			sum, n = sum+float64(i), n+1
		}
	}
	return sum / max(n, 1)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// differs reports whether a change is more than one of names.
func differs(c *changed.Change) bool {
	gone, now := c.Words(nil)
	return gone+now != ""
}

// through returns the rows that pass through a function.
func through(rows []*site.Row, function string) []*site.Row {
	var list []*site.Row
	for _, r := range rows {
		if slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return declaration(f.Function) == function }) {
			list = append(list, r)
		}
	}
	return list
}

// weights returns what passes through the lines of a function.
func weights(rows []*site.Row, function string) map[int]float64 {
	sums := map[int]float64{}
	for _, r := range rows {
		for _, f := range r.Stack {
			if declaration(f.Function) == function {
				sums[f.Line] += float64(r.Value)
				break
			}
		}
	}
	return sums
}

// place returns the frame of the function's most expensive line; of the lines that do what the
// newer release does not, if one of them costs as much as half of it.
func place(rows []*site.Row, function string, c *changed.Change) *site.Frame {
	frames := map[int]*site.Frame{}
	for _, r := range rows {
		for _, f := range r.Stack {
			if declaration(f.Function) == function && (frames[f.Line] == nil) {
				frames[f.Line] = f
			}
		}
	}
	sums := weights(rows, function)
	best := 0
	better := func(line int) {
		if frames[line] != nil && (best == 0 || sums[line] > sums[best] || sums[line] == sums[best] && line < best) {
			best = line
		}
	}
	for line := range sums {
		better(line)
	}
	if c != nil {
		whole := sums[best]
		best = 0
		for _, g := range c.Gone {
			if g.In == "" { // else it is a line of another function
				better(g.Line)
			}
		}
		if sums[best] < whole/2 {
			best = 0
			for line := range sums {
				better(line)
			}
		}
	}
	return frames[best]
}

// saving prices the match in the seconds of the profile, or of the median request.
func (d decision) saving(p *rule.Pass, saves stats.Interval, f saved) *rule.Saving {
	total := p.Table.Totals.TotalSeconds
	s := &rule.Saving{}
	if d.figure == recording.UpgradeTime && !d.several(p) { // an operation of a benchmark is its CPU time
		total = mean(d.upgrade, d.figure, false)
		s.Latency = total
	}
	s.Seconds, s.Low, s.High = saves.Value*total, max(0, saves.Low)*total, saves.High*total
	s.Cost = max(f.share*total, s.Seconds)
	return s
}

// mean returns the mean of a figure, of the upgraded target or the one before.
func mean(u *recording.Upgrade, figure string, upgraded bool) float64 {
	for _, f := range u.Figures {
		if f.Name == figure {
			if upgraded {
				return stats.Mean(f.New).Value
			}
			return stats.Mean(f.Old).Value
		}
	}
	return 0
}
