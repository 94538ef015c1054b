// Package stacks answers questions about the stacks of profile rows: which
// function a line calls, how deep, and whether the code runs only once.
package stacks
