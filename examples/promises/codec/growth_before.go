//go:build !fix_growth

package codec

import "strings"

// split cuts a line at its tabs.
func split(line string) []string {
	n := strings.Count(line, "\t") + 1
	var cells []string
	for range n {
		cell, rest, _ := strings.Cut(line, "\t")
		cells = append(cells, cell)
		line = rest
	}
	return cells
}
