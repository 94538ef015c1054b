// Package blindspots says what the numbers of a report do not show although a reader may
// take them to: CPU time that the profiler missed, stacks that the runtime cut, values
// that stand for a few samples, labels that this kind of profile never has.
//
// It reports a blind spot only where the profile itself, or a count of the operating
// system, shows that it applies.
package blindspots
