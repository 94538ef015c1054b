package recording

import "slices"

// clone copies m so that neither side's appends or field changes reach the other.
func (m Manifest) clone() Manifest {
	m.Phases = slices.Clone(m.Phases)
	for i := range m.Phases {
		m.Phases[i].Windows = slices.Clone(m.Phases[i].Windows)
		m.Phases[i].Benchmarks = slices.Clone(m.Phases[i].Benchmarks)
	}
	if m.Trial != nil {
		t := *m.Trial
		t.Turns = slices.Clone(t.Turns)
		m.Trial = &t
	}
	m.Parts = slices.Clone(m.Parts)
	m.Missing = slices.Clone(m.Missing)
	m.Notes = slices.Clone(m.Notes)
	return m
}

// Phase returns the phase of that name.
func (m *Manifest) Phase(name string) (Phase, bool) {
	for _, p := range m.Phases {
		if p.Name == name {
			return p, true
		}
	}
	return Phase{}, false
}
