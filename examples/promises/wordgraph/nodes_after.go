//go:build fix_nodes

package main

// nodes are the places of a sentence's words.
func nodes(words []string, line int) []*node {
	places := make([]*node, len(words))
	block := make([]node, len(words))
	for i, w := range words {
		block[i] = node{word: w, line: line, rank: i}
		places[i] = &block[i]
	}
	return places
}
