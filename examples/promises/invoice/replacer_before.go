//go:build !fix_replacer

package invoice

import "strings"

// plainName is a name that fits into a line.
func plainName(name string) string {
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ", ";", ",").Replace(name)
}
