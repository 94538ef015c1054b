package main

import "strings"

// leftpad puts c before s until s has at least length bytes.
func leftpad(s string, length int, c rune) string {
	missing := length - len(s)
	if missing <= 0 {
		return s
	}
	pad := string(c)
	return strings.Repeat(pad, (missing+len(pad)-1)/len(pad)) + s
}
