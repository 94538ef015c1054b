package newerrelease

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/upgrades"
	"github.com/hone-go/hone/internal/gocode/changed"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
	"github.com/hone-go/hone/stats"
)

// words says what was measured.
func (d decision) words(p *rule.Pass, m recording.ModuleUpgrade) string {
	var others []string
	for _, o := range d.upgrade.Modules {
		if o.Path != m.Path && o.Failed == "" {
			others = append(others, o.Path+" "+o.To)
		}
	}
	with := fmt.Sprintf("With %s of the module in place of %s", m.To, m.From)
	if len(others) > 0 {
		with += fmt.Sprintf(" (and %s)", funcname.List(others))
	}
	unit := p.Manifest.Unit()
	if d.several(p) {
		return fmt.Sprintf("%s, the same benchmarks took %s less %s%s.", with, percent(d.saves), d.of(), d.allocated(unit, true))
	}
	left := ""
	if old, now, ok := d.upgrade.Repairs(recording.UpgradeGoroutines); ok {
		left = fmt.Sprintf(" Goroutines leak without it: %s stay per %s, and %s with it.", units.Number(old), unit, units.Number(now))
	} else if old, now, ok := d.upgrade.Repairs(recording.UpgradeLive); ok {
		left = fmt.Sprintf(" Memory leaks without it: %s stay per %s, and %s with it.", units.Bytes(old), unit, units.Bytes(now))
	} else if old, now, ok := d.upgrade.Peaks(); ok {
		left = fmt.Sprintf(" Its memory reached %s without it, and %s with it.", units.Bytes(old), units.Bytes(now))
	}
	return fmt.Sprintf("%s, the program took %s of %s per %s in place of %s: %s less%s.%s", with, units.Seconds(mean(d.upgrade, d.figure, true)), d.of(), unit,
		units.Seconds(mean(d.upgrade, d.figure, false)), percent(d.saves), d.allocated(unit, false), left)
}

// several reports whether the figures are those of several benchmarks, as parts of what they were.
func (d decision) several(p *rule.Pass) bool {
	ph, _ := p.Phase(recording.PhaseClean)
	return len(ph.Benchmarks) > 1
}

// of names the figure.
func (d decision) of() string {
	if d.figure == recording.UpgradeTime {
		return "time"
	}
	return "CPU"
}

// percent is an interval of shares in words.
func percent(i stats.Interval) string {
	low, high := units.Percent(max(0, i.Low)), units.Percent(i.High)
	if low == high {
		return low
	}
	return strings.TrimSuffix(low, " %") + " to " + high
}

// allocated says how much less was allocated, if that is known and much.
func (d decision) allocated(unit string, several bool) string {
	if d.bytes < leastBytes {
		return ""
	}
	if several {
		return fmt.Sprintf(", and allocated %s fewer bytes", units.Percent(d.bytes))
	}
	return fmt.Sprintf(", and allocated %s per %s in place of %s", units.Bytes(mean(d.upgrade, recording.UpgradeBytes, true)), unit,
		units.Bytes(mean(d.upgrade, recording.UpgradeBytes, false)))
}

// described says what the newer release changed in a function.
func (v view) described(p *rule.Pass, m recording.ModuleUpgrade, f finding, at *site.Frame) string {
	measure := v.measure(p, m, f.function, at)
	if f.change == nil {
		words := fmt.Sprintf(" Less passes through %s, whose own source is the same.", symbol.Short(f.function))
		if beside := upgrades.Beside(p.Code, m, f.function, measure); beside != "" {
			words += " In its package, " + beside
		}
		return words
	}
	return " " + upgrades.Words(f.change, m.To, measure)
}

const (
	leastPart   = 0.1 // of a function's cost, of a line whose part is told
	leastPasses = 3   // of a loop, for their number to be told
	leastTimes  = 1.5 // per unit of work, for the number of executions to be told
)

// measure looks up the lines of a module in what passes through a function, and in the counts. How
// often one of them runs is told elsewhere.
func (v view) measure(p *rule.Pass, m recording.ModuleUpgrade, function string, told *site.Frame) changed.Measure {
	cost := map[string]map[int]float64{} // by file in the module and line
	at := map[string]site.Frame{}        // of each file
	var all float64
	for _, r := range through(v.rows, function) {
		all += float64(r.Value)
		type place struct {
			file string
			line int
		}
		seen := map[place]bool{}
		for _, f := range r.Stack {
			file, ok := inModule(f, m)
			if k := (place{file, f.Line}); ok && !seen[k] {
				seen[k] = true
				if cost[file] == nil {
					cost[file], at[file] = map[int]float64{}, *f
				}
				cost[file][f.Line] += float64(r.Value)
			}
		}
	}
	return func(file string, line int, loop bool) changed.Measured {
		found := changed.Measured{Cost: cost[file][line] / max(all, 1)}
		f, ok := at[file]
		if !ok {
			f.File = file
			f.Owner.Package = path.Join(m.Path, path.Dir(file))
		}
		f.Line = line
		e, counted := evidence.Executions(p, f)
		found.Ran = found.Cost > 0 || counted && e.PerUnit > 0
		var notes []string
		if l, ok := p.Counts.Loop(f.Owner.Package, f.File, line); loop && ok && l.Iterations >= leastPasses {
			notes = append(notes, units.Count(int64(l.Iterations+0.5))+" iterations each time")
		} else if !loop && counted && e.PerUnit >= leastTimes && (line != told.Line || f.File != told.File) {
			often, _, _ := strings.Cut(evidence.Often(p, f), ", ")
			notes = append(notes, often)
		}
		if found.Cost >= leastPart && !v.waits {
			notes = append(notes, units.Percent(found.Cost)+" of the "+v.what())
		}
		found.Note = strings.Join(notes, ", ")
		return found
	}
}

// what names the values of the rows.
func (v view) what() string {
	if v.bytes {
		return "bytes"
	}
	return "cost"
}

// inModule returns the name of a frame's file relative to the module; false if it is of another
// module.
func inModule(f *site.Frame, m recording.ModuleUpgrade) (string, bool) {
	if f.Owner.Module != m.Path {
		return "", false
	}
	_, file, ok := strings.Cut(f.File, "@"+m.From+"/")
	if !ok {
		_, file, ok = strings.Cut(f.File, "/vendor/"+m.Path+"/")
	}
	return file, ok
}

// names are what release notes may call the change: the function, those that it uses now or no
// longer, and those inside it through which less passes.
func (v view) names(f finding) []string {
	var list []string
	add := func(name string) {
		name = name[strings.LastIndexByte(name, '.')+1:]
		word := strings.ToLower(name) == name // as "errors" and "append": notes use it for other things
		if !word && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	add(f.function)
	if f.change != nil {
		for _, fact := range slices.Concat(f.change.Gone, f.change.New) {
			if fact.Kind == changed.KindFunction || fact.Kind == changed.KindField {
				add(fact.Name)
			}
		}
	}
	for _, o := range v.list {
		if o.share <= f.share && o.less >= nearly*f.less {
			add(o.function)
		}
	}
	return list
}

// most is the part of a function's cost that a line inside must have to be named.
const most = 0.4

// nearLines is how far from the site a line is that readers see anyway.
const nearLines = 2

func abs(n int) int { return max(n, -n) }

// where names the line of the module inside the function that costs most; of the site's own line,
// how often it runs.
func (v view) where(p *rule.Pass, m recording.ModuleUpgrade, f finding, at *site.Frame) string {
	if v.waits {
		return ""
	}
	hot, share := v.hottest(m, f.function)
	if hot == nil || share < most || hot.File == at.File && abs(hot.Line-at.Line) <= nearLines {
		runs, parts := evidence.Runs(p, *at, v.costOf(at)), evidence.Split(p.Site(at))
		switch {
		case runs == "" && parts == "":
			return ""
		case runs == "":
			return " The line's" + strings.TrimPrefix(parts, "its") + "." + sentence(evidence.Inputs(p, p.Site(at)))
		case parts != "":
			runs += "; " + parts
		}
		return " The line " + runs + "." + sentence(evidence.Inputs(p, p.Site(at)))
	}
	text := ""
	if lines, err := p.Code.Lines(hot.File, hot.Line, hot.Line); err == nil && len(lines) > 0 {
		text = " `" + strings.TrimSpace(lines[0]) + "`"
	}
	words := fmt.Sprintf(" %s of the %s of %s was in %s, line %d:%s", units.Percent(share), v.what(), bare(f.function), bare(hot.Function), hot.Line, text)
	if runs := evidence.Runs(p, *hot, v.costOf(hot)); runs != "" {
		words += ", which " + runs
	}
	return words + "." + sentence(evidence.Inputs(p, p.Site(hot)))
}

// hottest returns the line of a module that costs most of what passes through a function, and its
// share of that; nil for none.
func (v view) hottest(m recording.ModuleUpgrade, function string) (hot *site.Frame, share float64) {
	type place struct {
		file string
		line int
	}
	frames, cost := map[place]*site.Frame{}, map[place]int64{}
	var all int64
	for _, r := range through(v.rows, function) {
		all += r.Value
		if i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Owner.Module == m.Path }); i >= 0 {
			k := place{r.Stack[i].File, r.Stack[i].Line}
			cost[k] += r.Value
			frames[k] = r.Stack[i]
		}
	}
	var best place
	for k, n := range cost {
		if n > cost[best] || n == cost[best] && (k.file < best.file || k.file == best.file && k.line < best.line) {
			best = k
		}
	}
	return frames[best], float64(cost[best]) / float64(max(all, 1))
}

// sentence makes one of some words, after another one.
func sentence(words string) string {
	if words == "" {
		return ""
	}
	return " " + words + "."
}

// bare is the short name of a declaration, without type arguments.
func bare(function string) string {
	name := symbol.Short(declaration(function))
	before, rest, ok := strings.Cut(name, "[")
	if _, after, closed := strings.Cut(rest, "]"); ok && closed {
		return before + after
	}
	return name
}

// costOf is what passes through a line, in the unit of the rows.
func (v view) costOf(at *site.Frame) site.Cost {
	var sum, count int64
	for _, r := range v.rows {
		if slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return f.File == at.File && f.Line == at.Line }) {
			sum, count = sum+r.Value, count+r.Count
		}
	}
	if v.bytes {
		return site.Cost{AllocBytes: sum, AllocObjects: count}
	}
	return site.Cost{CPUSeconds: float64(sum) / 1e9}
}

// evidence lists the figures.
func (d decision) evidence(p *rule.Pass, m recording.ModuleUpgrade) []rule.Evidence {
	var list []rule.Evidence
	for _, f := range []struct{ name, what string }{
		{recording.UpgradeCPU, "CPU"}, {recording.UpgradeTime, "time"}, {recording.UpgradeBytes, "allocated bytes"}, {recording.UpgradeObjects, "allocated objects"},
	} {
		if s := d.upgrade.Saved(f.name); s.Known() {
			list = append(list, rule.Evidence{What: fmt.Sprintf("%s %s with %s", f.what, p.Manifest.PerUnit(), m.To),
				Value: fmt.Sprintf("%+.0f %% (95 %%: %+.0f to %+.0f)", -100*s.Value, -100*s.High, -100*s.Low), Command: "hone tune deps"})
		}
	}
	return list
}
