//go:build fix_mapgrowth

package main

// index is the microsecond at which each request started.
func index(starts []entry) map[uint64]int64 {
	began := make(map[uint64]int64, len(starts))
	for _, e := range starts {
		began[e.request] = e.micros
	}
	return began
}
