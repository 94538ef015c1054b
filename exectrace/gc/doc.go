// Package gc says what garbage collection did to a program during a trace: how often
// and how long it ran, how the heap rose and fell, whose goroutines had to assist, how long the
// world stood still and who was late to stop, and how much of each stretch of time was left
// for the program (minimum mutator utilization, Cheng and Blelloch 2001).
package gc
