// Package evidence describes what the recording shows about a line: the compiler's decisions,
// counted executions and inputs, and the command that shows it again.
package evidence
