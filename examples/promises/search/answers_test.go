package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestAnswers(t *testing.T) {
	handler := newHandler()
	for query, want := range map[string]struct {
		lines int
		first string
		last  string
	}{
		"Kettle":          {26, "new-00000\tSteel Kettle, Model 0 of the Kitchen Line", "brands:109"},
		"STONE toaster":   {26, "new-00004\tStone Toaster, Model 4 of the Kitchen Line", "brands:22"},
		"of the kitchen":  {26, "new-00000\tSteel Kettle, Model 0 of the Kitchen Line", "brands:120"},
		"no such product": {1, "", "brands:0"},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/search?q="+url.QueryEscape(query), nil))
		lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
		if len(lines) != want.lines || lines[len(lines)-1] != want.last {
			t.Errorf("%s: %d lines, last %q; want %d and %q", query, len(lines), lines[len(lines)-1], want.lines, want.last)
			continue
		}
		if want.first == "" {
			continue
		}
		cells := strings.Split(lines[0], "\t")
		if got := strings.Join(cells[:2], "\t"); got != want.first {
			t.Errorf("%s: first %q, want %q", query, got, want.first)
		}
		seen, err := time.Parse("2006-01-02 15:04:05", cells[2])
		if err != nil || time.Since(seen) > time.Minute || time.Since(seen) < 0 {
			t.Errorf("%s: checked at %s, %v", query, cells[2], err)
		}
	}
}
