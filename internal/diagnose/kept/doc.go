// Package kept counts how often a list or map changes that a program keeps in a field or a package
// variable, and how many of its elements, by the executions of the lines that set it or a part of
// it.
package kept
