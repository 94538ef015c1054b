// Command inbox takes messages as JSON and answers how they were filed.
package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"example.com/promises/serve"
)

type message struct {
	id, sender, subject string
	size                int
	urgent              bool
	words               []string
}

type filed struct {
	ID     string `json:"id"`
	Folder string `json:"folder"`
	Labels int    `json:"labels"`
}

type inbox struct{ log *slog.Logger }

// file finds the folder of a message by its sender, and counts the words that are labels.
func (in *inbox) file(m message) filed {
	f := filed{ID: m.id, Folder: "in"}
	switch {
	case m.urgent:
		f.Folder = "urgent"
	case strings.HasSuffix(m.sender, "@lists.example.com"):
		f.Folder = "lists"
	}
	for i, w := range m.words {
		if in.isLabel(m, i, w) {
			f.Labels++
		}
	}
	return f
}

func newHandler() http.Handler {
	in := &inbox{log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m, err := parse(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(in.file(m))
	})
	return mux
}

func main() { serve.Main(newHandler()) }
