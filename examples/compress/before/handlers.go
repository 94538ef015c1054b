package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/go-chi/chi"
	"github.com/go-chi/chi/middleware"
)

// maxBody bounds a request's body in bytes.
const maxBody = 64 << 10

// newHandler routes the service's API.
func newHandler(flags *flagStore) http.Handler {
	router := chi.NewRouter()
	router.Use(middleware.Compress(gzip.DefaultCompression))
	router.Use(middleware.Heartbeat("/health"))
	router.Route("/api/v1", func(r chi.Router) {
		r.Get("/flags", listHandler(flags))
		r.Get("/flags/{key}", flagHandler(flags))
		r.Post("/evaluate", evaluateHandler(flags))
	})
	return router
}

// listHandler answers with all flags.
func listHandler(flags *flagStore) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, map[string]any{"flags": flags.all()})
	}
}

// flagHandler answers with one flag.
func flagHandler(flags *flagStore) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		flag, err := flags.get(chi.URLParam(r, "key"))
		if err != nil {
			refuse(w, http.StatusNotFound, err)
			return
		}
		answer(w, http.StatusOK, flag)
	}
}

// evaluateHandler decides which variant of a flag an entity sees.
func evaluateHandler(flags *flagStore) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var req evaluation
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req)
		if err == nil && (req.FlagKey == "" || req.EntityID == "") {
			err = errors.New("flagKey and entityId are required")
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		flag, err := flags.get(req.FlagKey)
		if err != nil {
			refuse(w, http.StatusNotFound, err)
			return
		}
		answer(w, http.StatusOK, flag.evaluate(req))
	}
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The status is sent: an error here means that the client has gone.
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, err error) {
	answer(w, status, map[string]string{"error": err.Error()})
}
