// Command quotes prices orders against a book of offers that also changes.
package main

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"

	"example.com/promises/serve"
)

const levels = 64

// book is a list of offers, the best first. The lock guards all of it.
type book struct {
	mu     sync.Mutex
	prices [levels]float64
	sizes  [levels]float64
	served int
}

func newBook() *book {
	b := &book{}
	for i := range levels {
		b.prices[i] = 100 + 0.25*float64(i)
		b.sizes[i] = 10 + float64(i%7)
	}
	return b
}

// price is what so many pieces cost at these offers, with a premium for the risk that the
// offers change before they are bought.
func price(prices, sizes *[levels]float64, pieces float64) float64 {
	var cost float64
	left := pieces
	for i := range levels {
		part := min(left, sizes[i])
		cost += part * prices[i]
		left -= part
	}
	risk := 0.0
	for step := range 400 {
		for i := range levels {
			risk += math.Sqrt(prices[i]*sizes[i]+float64(step)) / (1 + float64(step*i))
		}
	}
	return cost + risk/1e4
}

func newHandler() http.Handler {
	b := newBook()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /quote", func(w http.ResponseWriter, r *http.Request) {
		pieces, err := strconv.Atoi(r.FormValue("pieces"))
		if err != nil || pieces < 1 || pieces > 500 {
			http.Error(w, "pieces must be between 1 and 500", http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "%.4f\n", b.quote(float64(pieces)))
	})
	return mux
}

func main() { serve.Main(newHandler()) }
