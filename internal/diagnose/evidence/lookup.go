package evidence

// Lookup is how many seconds it takes to look up a kept result.
type Lookup float64

const (
	// ByType is a lookup in a sync.Map by a reflect.Type: 10 to 30 ns.
	ByType Lookup = 25e-9
	// ByInput is a lookup in a map by a string or a small struct: 20 to 60 ns.
	ByInput Lookup = 50e-9
)

// Repays reports whether a lookup replaces a computation of so many seconds to good effect: it
// takes a quarter of that at most.
func (l Lookup) Repays(seconds float64) bool { return seconds >= 4*float64(l) }
