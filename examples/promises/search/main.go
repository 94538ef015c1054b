// Command search finds products by words in their names. It mostly compares and allocates little.
package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"example.com/promises/serve"
)

const products = 1200

type product struct{ sku, name, folded, brand string }

type catalog struct{ products []*product }

func newCatalog() *catalog {
	kinds := []string{"Kettle", "Toaster", "Grinder", "Mixer", "Scale", "Timer"}
	makes := []string{"Steel", "Copper", "Glass", "Oak", "Stone"}
	c := &catalog{}
	for i := range products {
		p := &product{
			sku:   fmt.Sprintf("%s-%05d", []string{"new", "old", "new", "new"}[i%4], i),
			name:  fmt.Sprintf("%s %s, Model %d of the Kitchen Line", makes[i%len(makes)], kinds[i/3%len(kinds)], i%90),
			brand: "Manufacturer " + strconv.Itoa(i*7%160),
		}
		p.folded = strings.ToLower(p.name)
		c.products = append(c.products, p)
	}
	return c
}

// answer is one found product in a line, and the brands after the last.
func (c *catalog) answer(query string) []byte {
	hits := listed(matching(c.products, query))
	b := make([]byte, 0, 4096)
	for _, p := range hits[:min(len(hits), 25)] {
		b = append(b, p.sku...)
		b = append(b, '\t')
		b = append(b, p.name...)
		b = append(b, '\t')
		b = append(b, checked()...)
		b = append(b, '\n')
	}
	b = append(b, "brands:"...)
	b = strconv.AppendInt(b, int64(len(brands(hits))), 10)
	return append(b, '\n')
}

func newHandler() http.Handler {
	c := newCatalog()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write(c.answer(r.FormValue("q")))
	})
	return mux
}

func main() { serve.Main(newHandler()) }
