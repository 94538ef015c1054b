//go:build fix_invariant

package main

import "strings"

// matching are the products whose name has the query in it.
func matching(all []*product, query string) []*product {
	hits := make([]*product, 0, len(all))
	folded := strings.ToLower(query)
	for _, p := range all {
		if strings.Contains(p.folded, folded) {
			hits = append(hits, p)
		}
	}
	return hits
}
