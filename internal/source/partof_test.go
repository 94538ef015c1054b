package source

import "testing"

// TestPartOf: a shell reads a source again only when PartOf changes.
func TestPartOf(t *testing.T) {
	for _, tc := range []struct{ arg, sampleIndex, want string }{
		{"", "", "cpu.pprof"},
		{"rec.hone", "", "cpu.pprof"},
		{"rec.hone", "alloc_objects", "allocs.pprof"},
		{"rec.hone", "alloc_space", "allocs.pprof"},
		{"rec.hone", "inuse_space", "heap.pprof"},
		{"rec.hone", "delay", "mutex.pprof"},
		{"rec.hone:block", "alloc_space", ""},
		{"cpu.pprof", "alloc_space", ""},
		{"http://127.0.0.1:6060", "alloc_space", ""},
	} {
		if got := PartOf(tc.arg, tc.sampleIndex); got != tc.want {
			t.Errorf("PartOf(%q, %q) = %q, want %q", tc.arg, tc.sampleIndex, got, tc.want)
		}
	}
}
