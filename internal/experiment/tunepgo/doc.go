// Package tunepgo measures what a CPU profile given to the compiler (-pgo) is worth for a target: the profile of a recording made for
// that, or merged profiles of production, then the target with it and without it in turns.
package tunepgo
