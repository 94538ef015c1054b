// Package later decides whether a value can be computed later, where it is used: its computation
// has no visible side effects, and nothing in between changes what it is computed from.
package later
