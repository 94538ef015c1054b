package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxBatch bounds a batch in bytes.
const maxBatch = 4 << 20

// newHandler routes the service's endpoints.
func newHandler(p *parser) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/logs", p.accept)
	mux.HandleFunc("GET /v1/tail/{customer}", p.showTail)
	mux.Handle("GET /metrics", promhttp.HandlerFor(p.metrics.registry, promhttp.HandlerOpts{}))
	return mux
}

// receipt says what became of a batch.
type receipt struct {
	Passed  int `json:"passed"`
	Blocked int `json:"blocked"`
}

// accept takes a batch: a line for each log entry, "CUSTOMER TEXT".
func (p *parser) accept(w http.ResponseWriter, r *http.Request) {
	var done receipt
	lines := bufio.NewScanner(http.MaxBytesReader(w, r.Body, maxBatch))
	for number := 1; lines.Scan(); number++ {
		customer, text, err := splitLine(lines.Text())
		if err != nil {
			http.Error(w, fmt.Sprintf("line %d: %v", number, err), http.StatusBadRequest)
			return
		}
		passed, err := p.parse(customer, text)
		if err != nil {
			http.Error(w, fmt.Sprintf("line %d: %v", number, err), http.StatusInternalServerError)
			return
		}
		if passed {
			done.Passed++
		} else {
			done.Blocked++
		}
	}
	if err := lines.Err(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// An error here means that the client has gone.
	_ = json.NewEncoder(w).Encode(done)
}

// splitLine reads "CUSTOMER TEXT".
func splitLine(line string) (customer int, text string, err error) {
	id, text, ok := strings.Cut(line, " ")
	if !ok {
		return 0, "", errors.New("want CUSTOMER TEXT")
	}
	customer, err = strconv.Atoi(id)
	if err != nil {
		return 0, "", fmt.Errorf("customer: %w", err)
	}
	return customer, text, nil
}

// showTail answers with the last records of a customer.
func (p *parser) showTail(w http.ResponseWriter, r *http.Request) {
	customer, err := strconv.Atoi(r.PathValue("customer"))
	t := p.tails[customer]
	if err != nil || t == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// An error here means that the client has gone.
	_ = json.NewEncoder(w).Encode(t.records())
}
