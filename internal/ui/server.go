package ui

import (
	"context"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Source is something to look at.
type Source struct {
	Name string `json:"name"` // for people
	Path string `json:"-"`    // for commands
	Kind string `json:"kind"` // "recording", "profile", "trace" or "history"
}

// Backend answers what the pages ask.
type Backend interface {
	// Sources lists what there is now; new ones come last.
	Sources() []Source
	// Run runs a command of hone and writes what it prints.
	Run(ctx context.Context, w io.Writer, args ...string) error
	// Part opens a part of a recording; its manifest is the part "manifest.json".
	Part(path, name string) (io.ReadCloser, error)
}

// Options say how to serve.
type Options struct {
	Backend Backend
	// Token, when not empty, must come with each request: as the cookie that the address /?token=TOKEN sets.
	Token string
	// AnyHost lets requests come under any name, as a server that is not on loopback must; it needs a Token.
	AnyHost bool
}

//go:embed files
var files embed.FS

// New returns the handler.
func New(o Options) (http.Handler, error) {
	if o.AnyHost && o.Token == "" {
		return nil, errors.New("a server that others can reach needs a token")
	}
	s := &server{Options: o, answers: newAnswers()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.index)
	mux.HandleFunc("GET /files/{name}", s.file)
	mux.HandleFunc("GET /api/sources", s.sources)
	mux.HandleFunc("GET /api/{view}", s.view)
	mux.HandleFunc("GET /page/{view}", s.page)
	mux.HandleFunc("GET /part/{name...}", s.part)
	return s.guard(mux), nil
}

type server struct {
	Options
	answers *answers
}

const cookie = "hone_token"

// guard lets nobody in who should not be, and forbids pages what they do not need.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
		if !s.AnyHost && !loopback(r.Host) {
			http.Error(w, "this server answers on loopback names only", http.StatusForbidden)
			return
		}
		if s.Token != "" && !s.admitted(w, r) {
			http.Error(w, "this server needs a token: open the address that hone ui printed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// loopback reports whether a Host header names this machine to itself: a page elsewhere whose name resolves to 127.0.0.1
// comes under its own name.
func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (s *server) admitted(w http.ResponseWriter, r *http.Request) bool {
	same := func(t string) bool { return subtle.ConstantTimeCompare([]byte(t), []byte(s.Token)) == 1 }
	if c, err := r.Cookie(cookie); err == nil && same(c.Value) {
		return true
	}
	if !same(r.URL.Query().Get("token")) {
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return true
}

func (s *server) index(w http.ResponseWriter, _ *http.Request) { serveFile(w, "index.html") }

func (s *server) file(w http.ResponseWriter, r *http.Request) { serveFile(w, r.PathValue("name")) }

func serveFile(w http.ResponseWriter, name string) {
	data, err := files.ReadFile(path.Join("files", path.Base(path.Clean("/"+name))))
	if err != nil {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	if path.Ext(name) == ".html" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	w.Write(data)
}

func (s *server) sources(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(s.Backend.Sources())
}

// source is the one that a request is about.
func (s *server) source(r *http.Request, key string) (Source, error) {
	all := s.Backend.Sources()
	i, err := strconv.Atoi(r.URL.Query().Get(key))
	if err != nil || i < 0 || i >= len(all) {
		return Source{}, fmt.Errorf("%s: no such source", key)
	}
	return all[i], nil
}

func (s *server) view(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, views(), "application/json", "-json")
}

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, pages(), "text/html; charset=utf-8")
}

// answer runs the command that a view stands for.
func (s *server) answer(w http.ResponseWriter, r *http.Request, all map[string]view, contentType string, more ...string) {
	v, ok := all[r.PathValue("view")]
	if !ok {
		http.Error(w, "no such view", http.StatusNotFound)
		return
	}
	src, err := s.source(r, "src")
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	args, err := v.args(r.URL.Query(), src.Path, func() (string, error) {
		base, err := s.source(r, "base")
		return base.Path, err
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	args = slices.Insert(args, v.words, more...)
	data, err := s.answers.get(r.Context(), args, s.Backend.Run)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	if v.svg {
		contentType = "image/svg+xml"
	}
	w.Header().Set("Content-Type", contentType)
	if contentType != "application/json" {
		w.Header().Set("Content-Security-Policy", framed(data))
	}
	w.Write(data)
}

// part hands a part of a recording over as a file.
func (s *server) part(w http.ResponseWriter, r *http.Request) {
	src, err := s.source(r, "src")
	if err != nil || src.Kind != "recording" {
		http.Error(w, "no such recording", http.StatusNotFound)
		return
	}
	name := r.PathValue("name")
	part, err := s.Backend.Part(src.Path, name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	defer part.Close()
	if name == "manifest.json" {
		w.Header().Set("Content-Type", "application/json")
	} else {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	}
	io.Copy(w, part) // the browser sees that it was cut short
}
