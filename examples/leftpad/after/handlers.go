package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxLen bounds the answer, in bytes.
const maxLen = 10_000

// newHandler routes the service's one endpoint.
func newHandler(stats *StatsD) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /v1/leftpad/", logged(timed(stats, leftpadHandler(stats))))
	return mux
}

// logged writes a line for each request.
func logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.Printf("request url=%s ip=%s agent=%q", r.RequestURI, r.RemoteAddr, r.UserAgent())
		next.ServeHTTP(w, r)
	})
}

// timed measures how long each request took. The metric tells it; nobody read
// the log line that repeated it.
func timed(stats *StatsD, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		next.ServeHTTP(w, r)
		stats.Timing("request.time", time.Since(start))
	})
}

type answer struct {
	Str string `json:"str"`
}

// leftpadHandler answers with the padded string of the query.
func leftpadHandler(stats *StatsD) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stats.Count("request.received", 1)
		str, length, chr, err := parseQuery(r)
		if err != nil {
			stats.Count("request.refused", 1)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		stats.Histogram("pad.length", float64(length))
		padded := leftpad(str, length, chr)

		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer{Str: padded}); err != nil {
			stats.Count("request.broken", 1)
		}
	})
}

// parseQuery reads str, len and chr; chr is a space when absent.
func parseQuery(r *http.Request) (str string, length int, chr rune, err error) {
	query := r.URL.Query()
	length, err = strconv.Atoi(query.Get("len"))
	if err != nil || length < 0 || length > maxLen {
		return "", 0, 0, errors.New("len: want a number from 0 to " + strconv.Itoa(maxLen))
	}
	chr = ' '
	if c := query.Get("chr"); c != "" {
		var size int
		chr, size = utf8.DecodeRuneInString(c)
		if size != len(c) || chr == utf8.RuneError {
			return "", 0, 0, errors.New("chr: want one character")
		}
	}
	return query.Get("str"), length, chr, nil
}
