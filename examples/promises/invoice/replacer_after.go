//go:build fix_replacer

package invoice

import "strings"

var plain = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ", ";", ",")

// plainName is a name that fits into a line.
func plainName(name string) string {
	return plain.Replace(name)
}
