// Package blindspots says what the numbers of a report do not show although a reader may think that
// they do: CPU time that the profiler missed, stacks that the runtime truncated, values based on
// few samples, labels that profiles of a kind never have.
//
// It reports a blind spot only where the profile itself, or a count by the operating system, shows
// that it applies.
package blindspots
