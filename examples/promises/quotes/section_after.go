//go:build fix_section

package main

// quote counts the request and prices it.
func (b *book) quote(pieces float64) float64 {
	b.mu.Lock()
	b.served++
	prices, sizes := b.prices, b.sizes
	b.mu.Unlock()
	return price(&prices, &sizes, pieces)
}
