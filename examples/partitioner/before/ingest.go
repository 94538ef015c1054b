package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
)

// maxBatch bounds a batch in bytes.
const maxBatch = 4 << 20

// ingest counts the points for each node. The stores themselves are not part of
// this example: the points are dropped once they have a node.
type ingest struct {
	partitioner *Partitioner
	points      []atomic.Int64 // by node
}

// newHandler routes the service's two endpoints.
func newHandler(p *Partitioner) http.Handler {
	in := &ingest{partitioner: p, points: make([]atomic.Int64, len(p.nodes))}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/ingest", in.accept)
	mux.HandleFunc("GET /v1/nodes", in.list)
	return mux
}

// accept takes a batch: a line for each data point, "SERIES VALUE".
func (in *ingest) accept(w http.ResponseWriter, r *http.Request) {
	counts := make([]int64, len(in.points))
	lines := bufio.NewScanner(http.MaxBytesReader(w, r.Body, maxBatch))
	number := 0
	for lines.Scan() {
		number++
		series, _, err := parsePoint(lines.Bytes())
		if err != nil {
			http.Error(w, fmt.Sprintf("line %d: %v", number, err), http.StatusBadRequest)
			return
		}
		counts[in.partitioner.Partition(series)]++
	}
	if err := lines.Err(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for node, n := range counts {
		in.points[node].Add(n)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, "{\"accepted\":%d}\n", number)
}

// parsePoint reads "SERIES VALUE".
func parsePoint(line []byte) (SeriesID, float64, error) {
	id, text, ok := bytes.Cut(line, []byte(" "))
	if !ok {
		return 0, 0, errors.New("want SERIES VALUE")
	}
	series, err := strconv.ParseUint(string(id), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("series: %w", err)
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, 0, fmt.Errorf("value: %w", err)
	}
	return SeriesID(series), value, nil
}

// list answers with the points that each node was given.
func (in *ingest) list(w http.ResponseWriter, _ *http.Request) {
	points := make(map[string]int64)
	for i, name := range in.partitioner.nodes {
		points[name] = in.points[i].Load()
	}
	w.Header().Set("Content-Type", "application/json")
	// An error here means that the client has gone.
	_ = json.NewEncoder(w).Encode(points)
}
