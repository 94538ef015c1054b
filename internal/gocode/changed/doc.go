// Package changed compares a function in two releases of its module, and quotes the release notes.
//
// It answers, for a function that costs less in a newer release: what does the older one do that
// the newer one does not, and what is new instead? It compares syntax: no types are checked, and
// neither the go command nor the network is asked, so it works on any two directories of the module
// cache.
//
// Code is compared by what it does, not by its lines. A function becomes a list of operations:
// calls, loops, conversions, allocations, locks, messages. Each has a key in which names of local
// variables are left out, so that a renamed variable changes nothing, and knows the loops,
// conditions and locks around it. A function that only one of the releases calls is read as if it
// stood in its caller, so that code which moved is not reported as gone.
//
// It reports only what the source shows. That a difference explains a cost is for its callers to
// decide, who have the measurement.
package changed
