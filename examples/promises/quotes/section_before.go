//go:build !fix_section

package main

// quote counts the request and prices it.
func (b *book) quote(pieces float64) float64 {
	b.mu.Lock()
	b.served++
	p := price(&b.prices, &b.sizes, pieces)
	b.mu.Unlock()
	return p
}
