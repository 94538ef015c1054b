//go:build !fix_template

package main

import (
	"html/template"
	"io"
)

func renderPage(w io.Writer, orders []*order) error {
	t, err := template.New("orders").Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, orders[:min(len(orders), 10)])
}
