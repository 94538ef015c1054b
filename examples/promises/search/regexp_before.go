//go:build !fix_regexp

package main

import "regexp"

var discontinued = regexp.MustCompile(`^old-`)

// listed are the products that are still sold.
func listed(all []*product) []*product {
	kept := all[:0]
	for _, p := range all {
		if !discontinued.MatchString(p.sku) {
			kept = append(kept, p)
		}
	}
	return kept
}
