package recording

import "math"

// Limit is GOMEMLIMIT in bytes; 0 when there is none.
func (m *Manifest) Limit() float64 {
	if l := m.Runtime.GOMEMLIMIT; l > 0 && l < math.MaxInt64 {
		return float64(l)
	}
	return 0
}

// Memory returns the bytes that the process may use, the smallest of its limits and the machine's
// memory, and which of them it is. 0 when unknown.
func (m *Manifest) Memory() (bytes float64, what string) {
	bytes, what = float64(m.Machine.MemoryBytes), "the machine's"
	if c := float64(m.Machine.CgroupBytes); c > 0 && (bytes == 0 || c < bytes) {
		bytes, what = c, "the cgroup's limit"
	}
	if l := m.Limit(); l > 0 && (bytes == 0 || l < bytes) {
		bytes, what = l, "GOMEMLIMIT"
	}
	return bytes, what
}

// Held returns the memory that the process holds, in bytes: what the runtime got from the system
// minus what it returned, or the resident memory at the end of a phase, whichever is larger. 0 when
// unknown.
func (m *Manifest) Held(total, released float64) float64 {
	held := math.Max(0, total-released)
	for _, ph := range m.Phases {
		held = math.Max(held, float64(ph.RSSBytes))
	}
	return held
}
