// Package tunepgo measures what a CPU profile for the compiler (-pgo) saves in a target. It records
// a profile for that, or merges profiles of production, and then runs the target with and without
// the profile, interleaved.
package tunepgo
