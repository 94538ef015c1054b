//go:build fix_scan

package main

// brands are those of the products, each once.
func brands(hits []*product) (names []string) {
	seen := map[string]struct{}{}
	for _, p := range hits {
		if _, ok := seen[p.brand]; !ok {
			seen[p.brand] = struct{}{}
			names = append(names, p.brand)
		}
	}
	return names
}
