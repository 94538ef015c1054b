// Package annotations sums up what a program said about itself in its trace with
// runtime/trace: tasks, regions and logs.
package annotations
