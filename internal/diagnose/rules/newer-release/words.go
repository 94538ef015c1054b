package newerrelease

import (
	"fmt"
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
	return fmt.Sprintf("%s, the program took %s of %s per %s in place of %s: %s less%s.", with, units.Seconds(mean(d.upgrade, d.figure, true)), d.of(), unit,
		units.Seconds(mean(d.upgrade, d.figure, false)), percent(d.saves), d.allocated(unit, false))
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
func described(m recording.ModuleUpgrade, f finding, rows []*site.Row) string {
	if f.change == nil {
		return fmt.Sprintf(" Less passes through %s, whose own source is the same.", funcname.Short(f.function))
	}
	lines := weights(rows, f.function)
	return " " + upgrades.Words(f.change, m.To, func(line int) float64 { return lines[line] })
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

// where names the line of the module inside the function that costs most, if that is another line
// than the site's.
func (v view) where(p *rule.Pass, m recording.ModuleUpgrade, f finding, at *site.Frame) string {
	if v.waits {
		return ""
	}
	type place struct {
		file string
		line int
	}
	frames, cost := map[place]*site.Frame{}, map[place]int64{}
	var all int64
	for _, r := range through(v.rows, f.function) {
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
	hot := frames[best]
	if hot == nil || float64(cost[best]) < most*float64(all) || hot.File == at.File && abs(hot.Line-at.Line) <= nearLines {
		return ""
	}
	text := ""
	if lines, err := p.Code.Lines(hot.File, hot.Line, hot.Line); err == nil && len(lines) > 0 {
		text = " `" + strings.TrimSpace(lines[0]) + "`"
	}
	words := fmt.Sprintf(" %s of the cost of %s was in %s, line %d:%s", units.Percent(float64(cost[best])/float64(all)), bare(f.function), bare(hot.Function), hot.Line, text)
	if runs := evidence.Runs(p, *hot, v.costOf(hot)); runs != "" {
		words += ", which " + runs
	}
	return words + "."
}

// bare is the short name of a declaration, without type arguments.
func bare(function string) string {
	name := funcname.Short(declaration(function))
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
