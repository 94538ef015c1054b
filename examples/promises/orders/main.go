// Command orders shows the orders of customers as a page and as a table to download. It holds all
// orders in memory and allocates much for each request.
package main

import (
	"fmt"
	"net/http"
	"strconv"

	"example.com/promises/serve"
)

const (
	customers = 1500
	perPage   = 40
)

type order struct {
	ID, Article, State string
	Pieces             int
	Cents              int
}

type shop struct{ orders [][]*order }

func newShop() *shop {
	articles := []string{"cast-iron pan", "desk lamp, brass", "oak shelf, 80 cm", "wool blanket", "enamel mug"}
	states := []string{"open", "paid", "sent", "returned"}
	s := &shop{}
	for c := range customers {
		var list []*order
		for i := range perPage {
			n := c*perPage + i
			list = append(list, &order{
				ID: fmt.Sprintf("A%07d", n), Article: articles[n%len(articles)], State: states[n%len(states)],
				Pieces: 1 + n%7, Cents: 990 + 37*(n%300),
			})
		}
		s.orders = append(s.orders, list)
	}
	return s
}

func (s *shop) of(r *http.Request) []*order {
	customer, err := strconv.Atoi(r.FormValue("customer"))
	if err != nil || customer < 0 || customer >= len(s.orders) {
		return nil
	}
	return s.orders[customer]
}

func newHandler() http.Handler {
	s := newShop()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders.html", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := renderPage(w, s.of(r)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("GET /orders.csv", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		fmt.Fprint(w, table(s.of(r)))
	})
	return mux
}

func main() { serve.Main(newHandler()) }
