package capture

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// keepUpgrade keeps the figures of the upgraded target, and compares them with those of the
// unchanged one: those of this recording and, if the upgrade seems to save something, of another
// run after it.
func (r *recorder) keepUpgrade(ctx context.Context, u *recording.Upgrade, releases string, upgraded *recording.Recording) (string, error) {
	m := r.out.Manifest()
	u.Figures = slices.Concat(recording.UpgradeFigures(&upgraded.Manifest, &m), r.growth(upgraded))
	if !gains(u) {
		return releases + ": costs about the same", nil
	}
	again, err := r.recordBriefly(ctx, nil, nil, "again.hone")
	if err != nil {
		u.Figures = nil // an unchanged target that fails proves nothing
		return "", err
	}
	defer again.Close()
	u.Figures = slices.Concat(recording.UpgradeFigures(&upgraded.Manifest, &m, &again.Manifest), r.growth(upgraded, again))
	for from, to := range map[string]string{recording.PartCPU: recording.PartUpgradeCPU, recording.PartAllocs: recording.PartUpgradeAllocs} {
		if err := r.copyPart(upgraded, from, to); err != nil {
			return "", err
		}
	}
	text := releases
	for _, f := range u.Figures {
		if s := u.Saved(f.Name); s.Known() {
			text += fmt.Sprintf("; %s %+.0f %%", f.Name, -100*s.Value)
		}
	}
	return text, nil
}

// gains reports whether an upgrade seems to save something.
func gains(u *recording.Upgrade) bool {
	for _, f := range u.Figures {
		if s := u.Saved(f.Name); s.Known() && s.Value >= leastUpgrade && s.Low > 0 {
			return true
		}
		if old, now, ok := u.Grew(f.Name); ok && now < old/2 {
			return true
		}
	}
	return false
}

// What must have been added during a recording that nothing removes, to be compared.
const (
	leastGoroutines = 50
	// perConnection is how many goroutines a server and its clients may have at a time for a
	// connection under load: their number varies by so many without a leak.
	perConnection = 4
	leastLive     = 8 << 20 // bytes
)

// growth returns what a service keeps per request, of goroutines and of live memory, and what a
// benchmark does per operation, of live memory, with the upgrade and without it, if this recording
// has shown that there is something. Of a program that exits, it is the most memory that it took.
func (r *recorder) growth(upgraded *recording.Recording, unchanged ...*recording.Recording) (list []recording.UpgradeFigure) {
	m := r.out.Manifest()
	if m.Target.Bench != "" {
		return left(&m, r.profiles[recording.PartAllocs], upgraded, unchanged)
	}
	if m.Target.Kind == kindProgram {
		return peaks(&m, upgraded, unchanged)
	}
	if r.o.Load == nil {
		return nil
	}
	for _, of := range []struct {
		name, metric string
		least        float64
	}{{recording.UpgradeGoroutines, recording.MetricGoroutines, leastLeaked(&m)}, {recording.UpgradeLive, recording.MetricLive, leastLive}} {
		all, each := added(&m, r.metrics.Bytes(), of.metric)
		if all < of.least {
			continue
		}
		f := recording.UpgradeFigure{Name: of.name, Old: []float64{each}}
		for _, rec := range append([]*recording.Recording{upgraded}, unchanged...) {
			metrics, err := rec.Bytes(recording.PartMetrics)
			if err != nil {
				continue
			}
			_, each := added(&rec.Manifest, metrics, of.metric)
			if rec == upgraded {
				f.New = append(f.New, each)
			} else {
				f.Old = append(f.Old, each)
			}
		}
		if len(f.New) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// leastLeaked returns how many goroutines must have been added to count as a leak.
func leastLeaked(m *recording.Manifest) float64 {
	if m.Load == nil {
		return leastGoroutines
	}
	return max(leastGoroutines, float64(perConnection*m.Load.Connections))
}

// peaks is growth for a program that exits: the most memory that it took.
func peaks(m *recording.Manifest, upgraded *recording.Recording, unchanged []*recording.Recording) []recording.UpgradeFigure {
	f := recording.UpgradeFigure{Name: recording.UpgradePeak, Old: peak(m), New: peak(&upgraded.Manifest)}
	for _, rec := range unchanged {
		f.Old = append(f.Old, peak(&rec.Manifest)...)
	}
	if len(f.Old) == 0 || len(f.New) == 0 {
		return nil
	}
	return []recording.UpgradeFigure{f}
}

// peak returns the most memory of the runs without profiles; nothing if that is not known.
func peak(m *recording.Manifest) []float64 {
	if ph, ok := m.Phase(recording.PhaseClean); ok && ph.RSSBytes > 0 {
		return []float64{float64(ph.RSSBytes)}
	}
	return nil
}

// left is growth for a benchmark: the live memory after its end.
func left(m *recording.Manifest, allocs []byte, upgraded *recording.Recording, unchanged []*recording.Recording) []recording.UpgradeFigure {
	all, each := liveAfter(m, allocs)
	if all < leastLive {
		return nil
	}
	f := recording.UpgradeFigure{Name: recording.UpgradeLive, Old: []float64{each}}
	for _, rec := range append([]*recording.Recording{upgraded}, unchanged...) {
		allocs, err := rec.Bytes(recording.PartAllocs)
		if err != nil {
			return nil
		}
		_, each := liveAfter(&rec.Manifest, allocs)
		if rec == upgraded {
			f.New = append(f.New, each)
		} else {
			f.Old = append(f.Old, each)
		}
	}
	return []recording.UpgradeFigure{f}
}

// liveAfter returns the live memory at the end of a benchmark, in all and per operation; 0 when
// that is not known, as of several benchmarks, which are not kept apart.
func liveAfter(m *recording.Manifest, allocs []byte) (all, each float64) {
	ph, ok := m.Phase(recording.PhaseCPU)
	p, err := profile.Decode(bytes.NewReader(allocs), 0)
	if !ok || err != nil || len(ph.Benchmarks) != 1 {
		return 0, 0
	}
	column := p.TypeIndex("inuse_space")
	operations := 0.0
	for _, s := range ph.Benchmarks[0].Samples {
		operations += float64(s.Iterations)
	}
	if column < 0 || operations == 0 {
		return 0, 0
	}
	all = float64(p.Total(column))
	return all, all / operations
}

// added returns by how much a metric grew during a recording, in all and per request.
func added(m *recording.Manifest, metrics []byte, name string) (all, each float64) {
	first, last, ok := ends(metrics, name)
	var requests int64
	for _, ph := range m.Phases {
		if !recording.Apart(ph.Name) {
			requests += ph.Requests
		}
	}
	if !ok || requests == 0 {
		return 0, 0
	}
	return last - first, (last - first) / float64(requests)
}

// copyPart copies a part of another recording, if it has that.
func (r *recorder) copyPart(from *recording.Recording, part, to string) error {
	if !from.Has(part) {
		return nil
	}
	data, err := from.Bytes(part)
	if err != nil {
		return err
	}
	return r.add(to, r.phase, data)
}
