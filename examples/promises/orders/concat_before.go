//go:build !fix_concat

package main

import "strconv"

// table is a line of comma-separated values for each order.
func table(orders []*order) string {
	text := "order,article,pieces,cents,state\n"
	for _, o := range orders {
		text += o.ID + ",\"" + o.Article + "\"," + strconv.Itoa(o.Pieces) + "," + strconv.Itoa(o.Cents) + "," + o.State + "\n"
	}
	return text
}
