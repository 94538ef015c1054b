// Package sqltext reads the SQL of a program: what a statement does to which tables, and which
// other statements of the program do so, by their counted executions.
package sqltext
