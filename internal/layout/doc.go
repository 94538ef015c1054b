// Package layout finds places for the boxes and arrows of a directed graph, in
// layers from callers to callees (K. Sugiyama, S. Tagawa, M. Toda, "Methods for
// Visual Understanding of Hierarchical System Structures", 1981).
//
// One decision shapes it: a layout is data. It takes sizes and gives
// coordinates, knows no text, colour or format, and so is tested without a
// screen. The same graph always gives the same layout.
//
// The steps, a file each: edges that close a cycle are turned around and nodes
// get ranks that keep edges short (rank.go); each layer gets an order with few
// crossings (order.go); each order gets coordinates by least squares
// (place.go); edges become curves that touch no box on their way (route.go). Parts
// that do not hang together are laid out each by itself (parts.go).
//
// It refuses to draw, and to spend more than linear time and memory a pass on
// graphs too large to look at: those get fewer passes, not a better picture.
package layout
