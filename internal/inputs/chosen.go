package inputs

import "cmp"

// Chosen reports whether the request decides what a function gets: requests for different addresses
// bring at least as many different inputs as there are such requests, of those that lead to calls,
// an input comes again only with a later request, and hardly ever within one. A cache of the
// results would be a cache of the answers, which pays only if the same requests keep coming.
func (c *Counts) Chosen(f *Function) bool {
	const (
		fewest  = 4   // different requests
		repeats = 0.3 // share of the calls in one request with an input that it had before
	)
	if c == nil || f == nil || f.InRequest == 0 {
		return false
	}
	targets := cmp.Or(f.Targets, c.Targets)
	if targets < fewest {
		return false
	}
	different, perRequest := f.Stable, f.StablePerRequest
	if 2*different > f.Calls || different == 0 { // a receiver of its own for each call
		different = f.Different
	}
	if perRequest == 0 {
		perRequest = f.PerRequest
	}
	return different >= targets && float64(perRequest) >= (1-repeats)*float64(f.InRequest)
}
