package newerrelease

import (
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode/changed"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// view is what a profile shows of a module's part in a saving.
type view struct {
	rows  []*site.Row // before
	after costs       // with the newer release, as shares of the cost before
	list  []saved     // functions of the module
	part  float64     // of the saving, that the first of them has
	saves float64     // the share of the cost before; 0 when only its place is known
	bytes bool        // the rows are of allocations
	waits bool        // they are of waiting
	other *view       // the same of the other profile, of CPU or allocations; nil without a saving there
}

// view returns the profile that shows most of the saving. It shows all of it if no other module was
// upgraded; without functions in its list, nothing is known.
func (d decision) view(p *rule.Pass, module string) (best view) {
	if _, _, leaks := d.upgrade.Repairs(recording.UpgradeLive); leaks {
		if v := leaves(p, module); len(v.list) > 0 {
			return v
		}
	}
	alone := d.alone(module)
	if d.figure == recording.UpgradeTime && alone {
		if v := waits(p, module, leastWait); len(v.list) > 0 {
			v.part = 1
			return v
		}
	}
	cpu, allocs := everyRow(p)
	cpuAfter := profileCosts(p.Upgraded.CPU, "cpu").scaled(1 - d.cpu)
	allocsAfter := profileCosts(p.Upgraded.Allocs, "alloc_space").scaled(1 - d.bytes)
	for _, by := range []view{{rows: cpu, after: cpuAfter, saves: d.cpu}, {rows: allocs, after: allocsAfter, saves: d.bytes, bytes: true}} {
		if by.after == nil || by.saves < leastSaved || best.part >= 1 {
			continue
		}
		by.list = savings(p, module, rowCosts(by.rows), by.after)
		if len(by.list) > 0 && by.list[0].less/by.saves > best.part {
			best, best.part = by, by.list[0].less/by.saves
		}
	}
	switch {
	case best.bytes && cpuAfter != nil && d.cpu >= leastSaved:
		best.other = &view{rows: cpu, after: cpuAfter, saves: d.cpu}
	case !best.bytes && allocsAfter != nil && d.bytes >= leastSaved:
		best.other = &view{rows: allocs, after: allocsAfter, saves: d.bytes, bytes: true}
	}
	if waited := waits(p, module, known); best.part < known && alone && len(waited.list) > 0 {
		best = waited
		best.part = 1
	}
	switch {
	case best.part < known:
		best.list = nil
	case alone:
		best.part = 1
	}
	return best
}

// second returns another function with a part of the saving, and that part; 0 if there is none. It
// is the largest of three: a function apart from the first in the same profile; one in the other
// profile, which gets its share of what the first does not explain; and one that the first calls.
func (v view) second(p *rule.Pass, m recording.ModuleUpgrade, f finding, from, to changed.Release) (rest view, second finding, part float64) {
	hot, _ := v.hottest(m, f.function)
	for _, by := range []struct {
		view
		part float64 // of the whole saving, shown by this view
	}{
		{v.without(p, m.Path, f.function), 1},
		{v.profile(!v.bytes).without(p, m.Path, f.function), max(0, 1-f.less/v.saves)},
		{v.below(p, m.Path, f.function), 1},
	} {
		if len(by.list) == 0 {
			continue
		}
		its := by.different(from, to)
		line, _ := by.hottest(m, its.function)
		one := hot != nil && line != nil && hot.File == line.File && hot.Line == line.Line // with one saving between them
		if less := by.part * its.less / by.saves; its.change != nil && !one && less > part {
			rest, second, part = by.view, its, less
		}
	}
	return rest, second, part
}

// profile returns the view of allocations or CPU, which is empty if that shows no saving.
func (v view) profile(bytes bool) view {
	switch {
	case v.bytes == bytes:
		return v
	case v.other != nil:
		return *v.other
	}
	return view{}
}

// without is the view of what does not pass through a function: of the functions of the module that
// are never with it in a stack, and that save much, too.
func (v view) without(p *rule.Pass, module, function string) view {
	rest := view{after: v.after, saves: v.saves, bytes: v.bytes}
	if v.saves == 0 {
		return rest
	}
	with := map[string]bool{}
	var all, left float64
	for _, r := range v.rows {
		all += float64(r.Value)
		if !slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return declaration(f.Function) == function }) {
			rest.rows = append(rest.rows, r)
			left += float64(r.Value)
			continue
		}
		for _, f := range r.Stack {
			with[declaration(f.Function)] = true
		}
	}
	for _, f := range savings(p, module, rowCosts(rest.rows).scaled(left/max(all, 1)), v.after) {
		if !with[f.function] && f.less >= max(another*v.saves, leastSaved) {
			rest.list = append(rest.list, f)
		}
	}
	return rest
}

// below is the view of CPU, of the functions of the module that another one calls, directly or not,
// and that have a known part of the saving by themselves.
func (v view) below(p *rule.Pass, module, function string) view {
	v = v.profile(false)
	if v.saves == 0 {
		return view{}
	}
	above, called := map[string]bool{}, map[string]bool{}
	for _, r := range v.rows {
		at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return declaration(f.Function) == function })
		if at < 0 {
			continue
		}
		for i, f := range r.Stack { // from the leaf
			if name := declaration(f.Function); i < at {
				called[name] = true
			} else {
				above[name] = true
			}
		}
	}
	v.list = slices.DeleteFunc(savings(p, module, rowCosts(v.rows), v.after), func(f saved) bool {
		return !called[f.function] || above[f.function] || f.less < known*v.saves
	})
	return v
}

// leaves is the view of the functions of a module through which memory passes that stays. There is
// no profile of what stays with the newer release, which is little.
func leaves(p *rule.Pass, module string) view {
	v := view{bytes: true, part: 1, after: costs{}}
	for _, s := range p.Table.Sites {
		v.rows = append(v.rows, s.Live...)
	}
	for _, b := range p.Table.Buckets {
		v.rows = append(v.rows, b.Live...)
	}
	for _, f := range savings(p, module, rowCosts(v.rows), v.after) {
		if f.share >= leastBytes {
			v.list = append(v.list, f)
		}
	}
	return v
}

// alone reports whether no other module was upgraded.
func (d decision) alone(module string) bool {
	return !slices.ContainsFunc(d.upgrade.Modules, func(m recording.ModuleUpgrade) bool { return m.Path != module && m.Failed == "" })
}

// waits is the view of the functions of a module that have at least a part of all waiting. There
// is no profile of waiting with the newer release.
func waits(p *rule.Pass, module string, least float64) view {
	v := view{waits: true}
	for _, s := range p.Table.Sites {
		v.rows = append(append(v.rows, s.Mutex...), s.Block...)
	}
	for _, f := range savings(p, module, rowCosts(v.rows), nil) {
		if f.share >= least {
			v.list = append(v.list, f)
		}
	}
	return v
}

// everyRow returns the rows of CPU and allocations.
func everyRow(p *rule.Pass) (cpu, allocs []*site.Row) {
	for _, s := range p.Table.Sites {
		cpu, allocs = append(cpu, s.CPU...), append(allocs, s.Allocs...)
	}
	for _, b := range p.Table.Buckets {
		cpu, allocs = append(cpu, b.Rows...), append(allocs, b.Allocs...)
	}
	return cpu, allocs
}
