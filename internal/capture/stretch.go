package capture

import (
	"slices"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

// stretch is what was observed during a part of a phase.
type stretch struct {
	phase   recording.Phase
	samples []sample       // a window (or a run) each
	loads   []*load.Result // a window each; empty without load
	collect error          // what the collector ended with
}

// join adds what was observed of the same phase later.
func (st *stretch) join(o stretch) {
	p, q := &st.phase, o.phase
	if p.Seconds == 0 {
		*st = o
		return
	}
	p.Seconds += q.Seconds
	p.CPUSeconds += q.CPUSeconds
	p.SystemCPUSeconds += q.SystemCPUSeconds
	p.PageFaults += q.PageFaults
	p.ChildCPUSeconds += q.ChildCPUSeconds
	p.AllocBytes += q.AllocBytes
	p.AllocObjects += q.AllocObjects
	p.GCCycles += q.GCCycles
	addKnown(p, q.GCSeconds, q.BusySeconds, q.LockSeconds)
	p.ForcedGC += q.ForcedGC
	p.Throttled += q.Throttled
	p.MachineCPUSeconds += q.MachineCPUSeconds
	p.StolenCPUSeconds += q.StolenCPUSeconds
	p.RSSBytes, p.PeakRSSBytes = q.RSSBytes, q.PeakRSSBytes
	p.Windows = append(p.Windows, q.Windows...)
	st.samples = append(st.samples, o.samples...)
	st.loads = append(st.loads, o.loads...)
	st.addLoad()
}

// addKnown adds what the runtime counts in seconds to a phase; nil where it is unknown in a part.
func addKnown(p *recording.Phase, gc, busy, lock *float64) {
	sum := func(to **float64, more *float64) {
		if *to == nil || more == nil {
			*to = nil
			return
		}
		s := **to + *more
		*to = &s
	}
	sum(&p.GCSeconds, gc)
	sum(&p.BusySeconds, busy)
	sum(&p.LockSeconds, lock)
}

// kept returns what the manifest has of a phase; the zero stretch when it has nothing.
func (r *recorder) kept(phase string) stretch {
	for _, st := range r.stretches {
		if st.phase.Name == phase {
			return st
		}
	}
	return stretch{}
}

// keep puts what was observed of a phase into the manifest, replacing what was there. All overheads
// are computed again, since the clean phase may have grown.
func (r *recorder) keep(st stretch) {
	at := slices.IndexFunc(r.stretches, func(o stretch) bool { return o.phase.Name == st.phase.Name })
	if at < 0 {
		r.stretches = append(r.stretches, st)
	} else {
		r.stretches[at] = st
	}
	clean := r.kept(recording.PhaseClean).samples
	var phases []recording.Phase
	for _, st := range r.stretches {
		p := st.phase
		if phaseHasCollector[p.Name] {
			p.Observer, _ = observer(clean, st.samples)
		}
		phases = append(phases, p)
	}
	r.out.Update(func(m *recording.Manifest) { m.Phases = phases })
}

// forget drops what was recorded since the manifest was as given: phases, their parts, missing
// parts and notes.
func (r *recorder) forget(since recording.Manifest) {
	r.stretches = nil
	r.out.Drop(func(p recording.Part) bool {
		return p.Phase != "" && !slices.ContainsFunc(since.Parts, func(q recording.Part) bool { return q.Name == p.Name })
	})
	r.out.Update(func(m *recording.Manifest) { m.Phases, m.Missing, m.Notes = since.Phases, since.Missing, since.Notes })
}

var phaseHasCollector = map[string]bool{
	recording.PhaseCPU: true, recording.PhaseContention: true, recording.PhaseTrace: true,
}

// noteStretches notes what is odd about the phases, once all are known.
func (r *recorder) noteStretches() {
	clean := r.kept(recording.PhaseClean).samples
	for _, st := range r.stretches {
		r.noteLoad(st)
		if !phaseHasCollector[st.phase.Name] {
			continue
		}
		if _, why := observer(clean, st.samples); why != "" {
			r.note("observer effect of phase %s: %s", st.phase.Name, why)
		}
	}
}
