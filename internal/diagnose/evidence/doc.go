// Package evidence puts into words what the recording says about a line: the
// compiler's decisions, counted executions and inputs, and the command that shows it again.
package evidence
