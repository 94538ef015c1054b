//go:build fix_template

package main

import (
	"html/template"
	"io"
)

var orderPage = template.Must(template.New("orders").Parse(page))

func renderPage(w io.Writer, orders []*order) error {
	return orderPage.Execute(w, orders[:min(len(orders), 10)])
}
