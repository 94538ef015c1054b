//go:build fix_concat

package main

import (
	"strconv"
	"strings"
)

// table is a line of comma-separated values for each order.
func table(orders []*order) string {
	var text strings.Builder
	text.WriteString("order,article,pieces,cents,state\n")
	for _, o := range orders {
		text.WriteString(o.ID)
		text.WriteString(",\"")
		text.WriteString(o.Article)
		text.WriteString("\",")
		text.WriteString(strconv.Itoa(o.Pieces))
		text.WriteByte(',')
		text.WriteString(strconv.Itoa(o.Cents))
		text.WriteByte(',')
		text.WriteString(o.State)
		text.WriteByte('\n')
	}
	return text.String()
}
