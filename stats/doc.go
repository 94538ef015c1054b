// Package stats turns counts and samples into intervals.
package stats
