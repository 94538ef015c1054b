//go:build !fix_nodes

package main

// nodes are the places of a sentence's words.
func nodes(words []string, line int) []*node {
	places := make([]*node, len(words))
	for i, w := range words {
		places[i] = &node{word: w, line: line, rank: i}
	}
	return places
}
