//go:build !fix_scan

package main

import "slices"

// brands are those of the products, each once.
func brands(hits []*product) (names []string) {
	for _, p := range hits {
		if !slices.Contains(names, p.brand) {
			names = append(names, p.brand)
		}
	}
	return names
}
