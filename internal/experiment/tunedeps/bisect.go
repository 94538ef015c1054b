package tunedeps

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/experiment"
)

// costs reports whether a row is of a cost with a figure on both sides; latencies and throughput
// show the same as the time, less precisely.
func costs(r *compare.Row) bool {
	switch r.Metric {
	case compare.PeakMemory, compare.GCShare, "throughput":
		return false
	}
	return r.Ratio != nil && r.Old > 0 && !strings.HasPrefix(r.Metric, "latency")
}

// nearly is by how much more another cost must decrease than CPU or time to be preferred for
// judging versions, as a share of the old value.
const nearly = 0.1

// saved returns the row by which versions are judged: one in which a version saves at least
// LeastGain, with that verdict; nil if there is none. It is the row with the largest saving, since
// that is the cost that the newer version fixed: waiting for a lock decreases to nothing where time
// decreases by a third. CPU and time are preferred if they decrease about as much: they are the
// reason to upgrade, and a newer version may save a last allocation that costs nothing.
func saved(c *compare.Comparison) *compare.Row {
	var best *compare.Row
	left := func(r *compare.Row) float64 {
		switch r.Metric {
		case "cpu", "time", "wall":
			return *r.Ratio - nearly
		}
		return *r.Ratio
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Verdict != compare.Better || !costs(r) || *r.Ratio > 1-LeastGain {
			continue
		}
		if best == nil || left(r) < left(best) {
			best = r
		}
	}
	return best
}

// bisection searches the oldest of some versions that saves at least half of what the last one
// saves. Each version is measured once; the two at the boundary are then tried interleaved with the
// unchanged target, as one recording is not proof.
type bisection struct {
	versions []string
	row      *compare.Row // of the last version
	known    map[int]judged
	top      int // the newest version that counts: the last one, or one that has the fix before others that do not
}

// judged is what is known about a version.
type judged struct {
	fixes bool
	sure  bool // not only from one recording of a figure that varies
	value *float64
	// failed says why it was not measured; outcome is that of a trial with enough runs
	failed  string
	outcome *experiment.Outcome
}

func newBisection(versions []string, last experiment.Outcome, row *compare.Row) *bisection {
	b := &bisection{versions: versions, row: row, known: map[int]judged{}, top: len(versions) - 1}
	b.known[b.top] = judged{fixes: true, sure: true, value: &row.New, outcome: &last}
	return b
}

// half returns the part of the old cost that a version may leave to count as a fix.
func (b *bisection) half() float64 { return (1 + *b.row.Ratio) / 2 }

// edge returns the oldest version that is taken to have the fix, and the version before it, -1 for
// the target's own; those between them have not been measured.
func (b *bisection) edge() (low, high int) {
	high = b.top
	for i := high - 1; i >= 0; i-- {
		k, ok := b.known[i]
		switch {
		case !ok:
			continue
		case k.fixes:
			high = i
		default:
			return i, high
		}
	}
	return -1, high
}

// unsure returns the versions at the edge that a trial has to decide.
func (b *bisection) unsure(low, high int) (list []int) {
	if low >= 0 && !b.known[low].sure {
		list = append(list, low)
	}
	if b.known[high].outcome == nil {
		list = append(list, high)
	}
	return list
}

// judge records what a trial with enough runs shows about a version.
func (b *bisection) judge(i int, out experiment.Outcome) {
	k := judged{sure: true, outcome: &out, failed: cmp.Or(out.Failed, out.Differs)}
	if r := b.rowOf(out.Comparison); r != nil && k.failed == "" {
		k.value = &r.New
		k.fixes = r.Verdict == compare.Better && *r.Ratio <= b.half()
	}
	b.known[i] = k
}

// rowOf returns the row of the metric by which versions are judged; nil if it was not measured.
func (b *bisection) rowOf(c *compare.Comparison) *compare.Row {
	if c == nil {
		return nil
	}
	i := slices.IndexFunc(c.Rows, func(r compare.Row) bool { return r.Name == b.row.Name && r.Metric == b.row.Metric })
	if i < 0 || c.Rows[i].Ratio == nil || math.IsNaN(c.Rows[i].New) {
		return nil
	}
	return &c.Rows[i]
}

// mostTrials bounds how often the edge is tried: if figures vary so much that it moves each time,
// the current result is the answer.
const mostTrials = 5

// measures measure versions, by their indexes: look is quick, trial has enough runs.
type measures struct {
	look  func(i int) (judged, error)
	trial func(list []int) ([]experiment.Outcome, error)
}

// run searches. A release can have lost the saving of an older one, so the last releases of the
// minor versions before the edge are measured too; if one has the fix, the search goes on there.
func (b *bisection) run(m measures) error {
	if err := b.search(m); err != nil {
		return err
	}
	for _, i := range b.older() {
		k, err := m.look(i)
		if err != nil {
			return err
		}
		if b.known[i] = k; !k.fixes {
			continue
		}
		before := b.top
		b.top = i
		if err := b.search(m); err != nil || b.known[i].fixes {
			return err
		}
		b.top = before
	}
	return nil
}

// older returns the indexes of the last releases of the minor versions before the edge that were
// not measured, newest first.
func (b *bisection) older() (list []int) {
	low, _ := b.edge()
	if low <= 0 {
		return nil
	}
	for _, version := range lastOfMinors(b.versions[:low]) {
		seen := false
		for i := range b.known {
			seen = seen || i <= low && semver.MajorMinor(b.versions[i]) == semver.MajorMinor(version)
		}
		if !seen {
			list = append(list, slices.Index(b.versions, version))
		}
	}
	return list
}

// search finds the edge by bisection, and tries it until it is sure.
func (b *bisection) search(m measures) error {
	for range mostTrials {
		low, high := b.edge()
		for high-low > 1 {
			mid := (low + high) / 2
			k, err := m.look(mid)
			if err != nil {
				return err
			}
			b.known[mid] = k
			low, high = b.edge()
		}
		list := b.unsure(low, high)
		if len(list) == 0 {
			return nil
		}
		outs, err := m.trial(list)
		if err != nil {
			return err
		}
		for k, i := range list {
			b.judge(i, outs[k])
		}
		if !b.known[b.top].fixes {
			return nil
		}
	}
	return nil
}

// bisect searches for the oldest version with the fix, and stores it in the module.
func (d *search) bisect(ctx context.Context, m *Module, versions []string, newest experiment.Outcome, row *compare.Row) error {
	b := newBisection(versions, newest, row)
	err := b.run(measures{
		look: func(i int) (judged, error) { return d.look(ctx, m.Path, b, versions[i]) },
		trial: func(list []int) ([]experiment.Outcome, error) {
			var names []string
			for _, i := range list {
				names = append(names, versions[i])
			}
			return d.experiment(ctx, m.Path, d.Runs, names...)
		},
	})
	if err == nil {
		m.take(b)
	}
	return err
}

// take records the result of a bisection: the oldest version that a trial showed to have the fix.
func (m *Module) take(b *bisection) {
	cure := len(b.versions) - 1
	m.Tried = slices.DeleteFunc(m.Tried, func(t Tried) bool { _, ok := b.known[slices.Index(b.versions, t.Version)]; return ok })
	for i, version := range b.versions {
		k, ok := b.known[i]
		if !ok {
			continue
		}
		if k.fixes && k.outcome != nil {
			cure = min(cure, i)
		}
		m.Tried = append(m.Tried, Tried{Version: version, Value: k.value, Cures: k.fixes, Failed: k.failed})
	}
	m.order()
	of := func(i int) *Cure {
		r := b.row
		return &Cure{Version: b.versions[i], Name: r.Name, Metric: r.Metric, Unit: r.Unit, Old: r.Old, Comparison: b.known[i].outcome.Comparison}
	}
	m.Cure = of(cure)
	if last := len(b.versions) - 1; last != cure {
		m.Last = of(last)
	}
}

// plain is the ratio of the last version's cost to the old one up to which one recording of a
// version is enough: two runs of one program differ by less than half of such a saving.
const plain = 0.5

// look measures a version: with one recording if the last version saves plainly, else with a few
// runs interleaved with the unchanged target.
func (d *search) look(ctx context.Context, module string, b *bisection, version string) (judged, error) {
	if !b.row.Exact && *b.row.Ratio > plain {
		outs, err := d.experiment(ctx, module, 2, version)
		if err != nil {
			return judged{}, err
		}
		return b.looked(outs[0].Comparison, cmp.Or(outs[0].Failed, outs[0].Differs)), nil
	}
	c, failed, err := d.once(ctx, module, version)
	if err != nil {
		return judged{}, err
	}
	if r := b.rowOf(c); r != nil {
		r.Old = b.row.Old // the mean of several recordings
	}
	return b.looked(c, failed), nil
}

// looked judges a version by its value alone.
func (b *bisection) looked(c *compare.Comparison, failed string) judged {
	if failed != "" {
		return judged{sure: true, failed: failed}
	}
	r := b.rowOf(c)
	if r == nil {
		return judged{sure: true, failed: "it was not measured: " + b.row.Metric}
	}
	return judged{value: &r.New, fixes: r.New <= b.half()*r.Old, sure: b.row.Exact && r.Exact}
}
