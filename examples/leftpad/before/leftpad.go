package main

// leftpad puts c before s until s has at least length bytes.
func leftpad(s string, length int, c rune) string {
	for len(s) < length {
		s = string(c) + s
	}
	return s
}
