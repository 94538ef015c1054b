// Package prefix orders the stacks of a profile as a prefix tree (trie), in which a flame graph
// touches what many stacks have in common once.
//
// The tree has no nodes: it is the sorted rows, and for each the number of locations that it shares
// with the row before. That is less than nodes would take, of which there are several per row. A
// node is a range of rows.
package prefix
