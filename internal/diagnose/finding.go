package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// finding describes a draft in words. The caller sets its rank and ties.
func (e *engine) finding(d *draft) Finding {
	first := d.first()
	f := Finding{
		Rule:       d.rule.ID,
		Generic:    d.rule.Generic,
		Setting:    d.setting(),
		Kind:       cmp.Or(first.Kind, d.rule.Kind),
		Title:      d.rule.Title,
		Cause:      sentences(first.Cause, e.elsewhere(d), e.costWords(d), e.runsWords(d)),
		Fix:        first.Fix,
		Sites:      []SiteRef{},
		Module:     e.manifest.Runtime.Module,
		Cost:       e.shares(d),
		Confidence: d.confidence,
		Evidence:   e.evidence(d),
		Patch:      first.Patch,
	}
	if d.saving != nil && !d.rule.Generic {
		s := d.saving.share
		f.Saving = &Saving{Resource: d.saving.resource, Of: e.timeOf(d.saving), Share: round(s.Value), Low: round(s.Low), High: round(s.High), OfCollector: round(d.saving.collector)}
		if d.with != nil {
			s := d.with.saving.share
			f.SavingWith = &Saving{Resource: d.saving.resource, Of: e.timeOf(d.saving), Share: round(s.Value), Low: round(s.Low), High: round(s.High)}
			f.CostWith = ptr(e.shares(d.with))
		}
	}
	for _, l := range d.lines {
		ref := SiteRef{Place: place(l.site.Frame), Share: round(l.share), Source: e.source(l.site)}
		if n, ok := evidence.Executions(e.pass, l.site.Frame); ok {
			ref.Executions = ptr(round(n.PerUnit))
		}
		f.Sites = append(f.Sites, ref)
	}
	f.Sites = append(append(f.Sites, e.beyond(d)...), e.creators(d)...)
	if s := first.Site; s != nil {
		f.Function, f.Line, f.File = s.Function, s.Line, file(s.Frame)
		f.Module, f.Version = s.Owner.Module, s.Owner.Version
		f.Source = e.source(s)
		if s.Entry != nil && (s.Entry.File != s.File || s.Entry.Line != s.Line) {
			entry := place(*s.Entry)
			f.Entry = &entry
		}
		if d.foreign() {
			f.Fix = sentences(f.Fix, e.advice(d, s))
		} else if d.rule.Generic && s.Owner.Kind == gocode.Dependency {
			f.Fix = sentences(f.Fix, e.released(s))
		}
	}
	return f
}

// timeOf names the time that a saving of latency is a share of, if that is not of requests.
func (e *engine) timeOf(s *saving) string {
	if s.resource != limitLatency {
		return ""
	}
	switch e.manifest.PerUnit() {
	case "per run":
		return "the time of a run"
	case "per operation":
		return "the time of an operation"
	}
	return ""
}

// place returns a frame as a report names it.
func place(f site.Frame) Place {
	return Place{Function: f.Function, File: file(f), Line: f.Line}
}

// file returns the path relative to the module that owns it, if that is known.
func file(f site.Frame) string {
	if f.Owner.File != "" {
		return f.Owner.File
	}
	return path.Base(strings.ReplaceAll(f.File, `\`, "/"))
}

// source returns the text of a site's line; "" when it is not available.
func (e *engine) source(s *site.Site) string {
	if e.pass.Code == nil {
		return ""
	}
	lines, err := e.pass.Code.Lines(s.File, s.Line, s.Line)
	if err != nil || len(lines) == 0 {
		return ""
	}
	return strings.TrimSpace(lines[0])
}

// elsewhere returns the sentence with the other lines of a finding.
func (e *engine) elsewhere(d *draft) string {
	if len(d.lines) < 2 || d.rule.Generic {
		return ""
	}
	var numbers []int
	for _, l := range d.lines[1:] {
		numbers = append(numbers, l.site.Line)
	}
	slices.Sort(numbers)
	words := make([]string, 0, len(numbers))
	for _, n := range slices.Compact(numbers) {
		words = append(words, strconv.Itoa(n))
	}
	if len(words) == 1 {
		return "The same on line " + words[0] + "."
	}
	return "The same on lines " + funcname.List(words) + "."
}

// costWords returns the sentence with the cost of a finding.
func (e *engine) costWords(d *draft) string {
	var parts []string
	if total := e.totals.TotalSeconds; total > 0 && d.share.Value > 0 {
		text := "takes " + units.Percent(d.share.Value) + " of CPU"
		if gc := d.cost.GCSeconds / total; gc >= 0.001 {
			text += fmt.Sprintf(" (%s in the code, %s in the garbage collector for what it allocates)",
				units.Percent(d.cost.CPUSeconds/total), units.Percent(gc))
		}
		parts = append(parts, text)
	}
	if d.cost.AllocBytes > 0 {
		parts = append(parts, e.allocationWords(d.cost))
	}
	if share, ok := e.waitShare(d.cost); ok && share >= leastShare {
		what := "waiting for locks"
		if d.cost.MutexSeconds == 0 {
			what = "blocking"
		}
		parts = append(parts, fmt.Sprintf("has %s of the %s that was recorded", units.Percent(share), what))
	}
	if d.peer.Value >= leastShare {
		parts = append(parts, fmt.Sprintf("causes up to %s of CPU at the other end of the connection, which is in the same process", units.Percent(d.peer.Value)))
	}
	if len(parts) == 0 {
		return ""
	}
	subject := "It "
	if n := len(d.lines) - 1; d.rule.Generic && n > 0 { // the cause has described the most expensive one
		subject = fmt.Sprintf("With %s of its function it ", units.Some(float64(n), "other line"))
	}
	text := subject + funcname.List(parts) + "."
	if d.with != nil && d.with.share.Value > d.share.Value {
		text += fmt.Sprintf(" With the findings inside, which its fix removes too, it takes %s of CPU.", units.Percent(d.with.share.Value))
	}
	return text
}

// runsWords returns the sentence about how often the most expensive line runs; the causes of
// generic findings and of newer releases have it already.
func (e *engine) runsWords(d *draft) string {
	if len(d.lines) == 0 || d.rule.Generic || slices.Contains(d.rule.Needs, rule.NeedUpgrade) {
		return ""
	}
	first := d.lines[0]
	cost := first.site.Cost
	// The match may include rows of other lines, whose cost the fix saves, too: they are not the
	// cost of an execution of this line.
	through := func(r *site.Row) bool {
		return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool {
			return f.Line == first.site.Line && f.Function == first.site.Function && f.File == first.site.File
		})
	}
	if value, _ := stacks.Sum(stacks.Select(first.match.CPU, through)); float64(value) > 1e9*cost.CPUSeconds { // including what it calls
		bytes, objects := stacks.Sum(stacks.Select(first.match.Allocs, through))
		cost = site.Cost{CPUSeconds: float64(value) / 1e9, AllocBytes: max(bytes, cost.AllocBytes), AllocObjects: max(objects, cost.AllocObjects)}
	}
	words := evidence.Runs(e.pass, first.site.Frame, cost)
	if words == "" {
		return ""
	}
	return "The line " + words + "."
}

func (e *engine) allocationWords(c site.Cost) string {
	share := units.Percent(float64(c.AllocBytes) / float64(max(e.totals.AllocBytes, 1)))
	ph, ok := e.phase(recording.PhaseCPU)
	if !ok || ph.Requests == 0 {
		return fmt.Sprintf("allocates %s (%s of all bytes)", units.Bytes(float64(c.AllocBytes)), share)
	}
	n := float64(ph.Requests)
	return fmt.Sprintf("allocates %s in %s%s per %s (%s of all bytes)",
		units.Bytes(float64(c.AllocBytes)/n), atLeast(c), units.Some(float64(c.AllocObjects)/n, "object"), e.manifest.Unit(), share)
}

// atLeast returns the words before a number of objects that the profile counts too low.
func atLeast(c site.Cost) string {
	if c.AtLeast() {
		return "at least "
	}
	return ""
}

// shares returns a draft's cost as shares of the totals. A share whose profile was not recorded
// is absent.
func (e *engine) shares(d *draft) Cost {
	var c Cost
	t := e.totals
	if directSaving(d.claims) != nil {
		if t.TotalSeconds > 0 && d.saving != nil && d.saving.collector > 0 {
			c.GCShare = ptr(round(t.Collecting() / t.TotalSeconds))
		}
		return c
	}
	if t.TotalSeconds > 0 {
		c.CPUShare = ptr(round(d.cost.CPUSeconds / t.TotalSeconds))
		c.GCShare = ptr(round(d.cost.GCSeconds / t.TotalSeconds))
		all := clamp(d.share)
		c.WithGC = &Range{Share: round(all.Value), Low: round(all.Low), High: round(all.High)}
	}
	if t.AllocBytes > 0 {
		c.AllocBytesShare = ptr(round(float64(d.cost.AllocBytes) / float64(t.AllocBytes)))
	}
	if t.AllObjects > 0 {
		c.AllocObjectsShare = ptr(round(e.objectsShare(d.cost)))
		c.ObjectsAtLeast = d.cost.AtLeast()
	}
	if ph, ok := e.phase(recording.PhaseCPU); ok && ph.Requests > 0 && d.cost.AllocBytes > 0 {
		c.BytesPerRequest = ptr(round(float64(d.cost.AllocBytes) / float64(ph.Requests)))
		c.ObjectsPerRequest = ptr(round(float64(d.cost.AllocObjects) / float64(ph.Requests)))
	}
	if share, ok := e.waitShare(d.cost); ok {
		c.WaitShare = ptr(round(share))
	}
	if d.cost.LiveBytes > 0 {
		c.LiveBytes = ptr(d.cost.LiveBytes)
	}
	return c
}

// waitShare returns the share of the mutex profile if the finding is in it, else of the block
// profile, which also contains harmless waits.
func (e *engine) waitShare(c site.Cost) (float64, bool) {
	switch {
	case c.MutexSeconds > 0 && e.totals.MutexSeconds > 0:
		return c.MutexSeconds / e.totals.MutexSeconds, true
	case c.BlockSeconds > 0 && e.totals.BlockSeconds > 0:
		return c.BlockSeconds / e.totals.BlockSeconds, true
	}
	return 0, false
}

// evidence returns what the profiles show about a draft, then what its rule adds.
func (e *engine) evidence(d *draft) []rule.Evidence {
	out := []rule.Evidence{}
	function := d.function()
	t := e.totals
	if d.cost.Samples > 0 && t.TotalSeconds > 0 {
		out = append(out, rule.Evidence{
			What:    "CPU on the line and below it",
			Value:   fmt.Sprintf("%s (%s)", units.Percent(d.cost.CPUSeconds/t.TotalSeconds), units.Some(float64(d.cost.Samples), "sample")),
			Command: evidence.ListCommand(e.pass, "cpu", function),
		})
	}
	if d.cost.AllocBytes > 0 {
		out = append(out, rule.Evidence{
			What:    "bytes allocated",
			Value:   fmt.Sprintf("%s, %s of all", units.Bytes(float64(d.cost.AllocBytes)), units.Percent(float64(d.cost.AllocBytes)/float64(max(t.AllocBytes, 1)))),
			Command: evidence.ListCommand(e.pass, "alloc_space", function),
		})
		out = append(out, rule.Evidence{
			What:    "objects allocated",
			Value:   atLeast(d.cost) + fmt.Sprintf("%d, %s of all", d.cost.AllocObjects, units.Percent(e.objectsShare(d.cost))),
			Command: evidence.ListCommand(e.pass, "alloc_objects", function),
		})
	}
	if d.cost.GCSeconds > 0 && t.TotalSeconds > 0 {
		out = append(out, rule.Evidence{
			What:  "its share of the garbage collector's work, by bytes",
			Value: fmt.Sprintf("%s of CPU", units.Percent(d.cost.GCSeconds/t.TotalSeconds)),
		})
		if d.cost.GCSeconds/t.TotalSeconds >= leastShare {
			out = append(out, collector.Slowed(e.pass)...)
		}
	}
	if d.peer.Value > 0 {
		out = append(out, rule.Evidence{
			What:  "CPU of code that runs as often at the other end of the connection, in the same process",
			Value: units.Percent(d.peer.Value),
		})
	}
	if d.uncertain.Value >= leastShare {
		out = append(out, rule.Evidence{
			What:  "CPU of code around it that some fixes save too, not part of the cost",
			Value: units.Percent(d.uncertain.Value),
		})
	}
	if d.cost.MutexSeconds > 0 {
		out = append(out, rule.Evidence{
			What:    "others waited for a lock held here",
			Value:   units.Seconds(d.cost.MutexSeconds),
			Command: evidence.ListCommand(e.pass, "delay", function),
		})
	}
	claims := d.claims
	if d.rule.Generic { // what is known of one line is not true of another one of its function
		claims = claims[:1]
	}
	seen := map[rule.Evidence]bool{}
	for _, c := range claims {
		for _, ev := range c.match.Evidence {
			if !seen[ev] {
				seen[ev] = true
				out = append(out, ev)
			}
		}
	}
	return out
}

// sentences joins texts that are not empty.
func sentences(texts ...string) string {
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
	return strings.Join(texts, " ")
}

// round keeps six decimals of a share: more is noise in the report.
func round(x float64) float64 { return math.Round(x*1e6) / 1e6 }

func ptr[T any](v T) *T { return &v }
