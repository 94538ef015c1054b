//go:build fix_regexp

package main

import "strings"

// listed are the products that are still sold.
func listed(all []*product) []*product {
	kept := all[:0]
	for _, p := range all {
		if !strings.HasPrefix(p.sku, "old-") {
			kept = append(kept, p)
		}
	}
	return kept
}
