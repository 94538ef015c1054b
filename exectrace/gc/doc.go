// Package gc says what garbage collection did to a program during a trace: how often and how long
// it ran, how the heap grew and shrank, which lines had to assist, how long the world was stopped
// and which line was late to stop, and how much of every interval of time was left for the program
// (minimum mutator utilization, Cheng and Blelloch 2001).
package gc
