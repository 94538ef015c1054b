//go:build !fix_clock

package main

import "time"

// checked is when a product was last seen in stock: now.
func checked() string {
	return time.Now().UTC().Format("2006-01-02 15:04:05")
}
