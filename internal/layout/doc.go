// Package layout computes positions for the boxes and arrows of a directed graph, in layers from
// callers to callees (K. Sugiyama, S. Tagawa, M. Toda, "Methods for Visual Understanding of
// Hierarchical System Structures", 1981).
//
// One decision shapes it: a layout is data. Sizes go in and coordinates come out; the package does
// not depend on text, colours or formats, and is tested without a screen. The same graph always has
// the same layout.
//
// The steps have a file each. Edges that close a cycle are reversed, and nodes get ranks that keep
// edges short (rank.go). Each layer gets an order with few crossings (order.go). Each order gets
// coordinates by least squares (place.go). Edges become curves that touch no box on their way
// (route.go). The connected components of a graph are laid out separately (parts.go).
//
// It does not draw. It does not spend more than linear time and memory per pass: graphs that are
// too large to be read get fewer passes.
package layout
