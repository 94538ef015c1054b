//go:build fix_runes

package main

import "unicode"

// letters counts the letters of a text.
func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}
