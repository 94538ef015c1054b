// Package annotations sums up what a program reports in its trace through runtime/trace: tasks,
// regions and logs.
package annotations
