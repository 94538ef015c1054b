// Package kept counts how often a list or map changes that a program keeps in a field or a package
// variable, by the executions of the lines that set it or a part of it, and how many elements change.
package kept
