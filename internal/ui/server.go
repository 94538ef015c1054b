package ui

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/hex"
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
	"sync"
	"time"
)

// Source is a recording, profile, trace or other input that pages show.
type Source struct {
	ID   string `json:"id"`   // derived from its path, so that addresses stay valid when other sources come and go
	Name string `json:"name"` // for people
	Path string `json:"-"`    // for commands
	Kind Kind   `json:"kind"`
}

// Kind is the kind of a source, which determines its views.
type Kind string

// The kinds of sources.
const (
	KindRecording Kind = "recording"
	KindProfile   Kind = "profile"
	KindTrace     Kind = "trace"
	KindHistory   Kind = "history" // a database of hone history
	KindService   Kind = "service" // a URL, from which profiles are taken on request
	KindRun       Kind = "run"     // a recording in progress
)

// IDOf returns the ID of the source at a path.
func IDOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return "s" + hex.EncodeToString(sum[:6])
}

// Backend provides the data of the pages.
type Backend interface {
	// Sources lists the current sources; new ones come last.
	Sources() []Source
	// Run runs a command of hone and writes its output to w.
	Run(ctx context.Context, w io.Writer, args ...string) error
	// Part opens a part of a recording. "manifest.json" is its manifest, "latency.json" the
	// histogram of its requests.
	Part(path, name string) (io.ReadCloser, error)
}

// Options configure the server.
type Options struct {
	Backend Backend
	// Token, if not empty, must come with every request, in the cookie that the address
	// /?token=TOKEN sets.
	Token string
	// Feed, if not nil, provides the events of a recording in progress.
	Feed *Feed
	// Take, if not nil, takes what a page requests from a service or from a history, and returns
	// the path of the result. It needs a Feed.
	Take func(ctx context.Context, service Source, what string, length time.Duration, say func(Event)) (path string, err error)
	// AnyHost accepts requests for any host name, which a server that is not on loopback needs. It
	// requires a Token.
	AnyHost bool
}

//go:embed files
var files embed.FS

// New returns the handler. Jobs that pages start are stopped when ctx ends; wait returns when they
// have stopped.
func New(ctx context.Context, o Options) (h http.Handler, wait func(), err error) {
	if o.AnyHost && o.Token == "" {
		return nil, nil, errors.New("a server that is reachable from other machines needs a token")
	}
	s := &server{Options: o, answers: newAnswers()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.index)
	mux.HandleFunc("GET /files/{name}", s.file)
	mux.HandleFunc("GET /api/sources", s.sources)
	mux.HandleFunc("GET /api/{view}", s.view)
	mux.HandleFunc("GET /page/{view}", s.page)
	mux.HandleFunc("GET /part/{name...}", s.part)
	if o.Feed != nil {
		mux.HandleFunc("GET /api/live", func(w http.ResponseWriter, r *http.Request) { s.live(ctx, w, r) })
	}
	if o.Take != nil && o.Feed != nil {
		same := http.NewCrossOriginProtection()
		mux.Handle("POST /api/take", same.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.take(ctx, w, r) })))
		mux.Handle("POST /api/stop", same.Handler(http.HandlerFunc(s.stop)))
	}
	return s.guard(mux), s.jobs.Wait, nil
}

type server struct {
	Options
	answers *answers

	jobs   sync.WaitGroup
	busy   sync.Mutex // held by the running job
	mu     sync.Mutex
	cancel func() // stops the running job; nil before the first
}

const cookie = "hone_token"

// guard rejects unauthorized requests, and sets a policy that forbids pages everything that they do
// not need.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
		if !s.AnyHost && !loopback(r.Host) {
			http.Error(w, "this server accepts loopback host names only", http.StatusForbidden)
			return
		}
		if crossSite(r) {
			http.Error(w, "this server answers its own pages only", http.StatusForbidden)
			return
		}
		if s.Token != "" && !s.admitted(w, r) {
			http.Error(w, "this server needs a token: open the address that hone ui printed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// crossSite reports whether a page of another origin, including another port of this machine, makes
// the request. It may lead to the page, which has no data, but not load anything from it: even an
// answer that it cannot read would take time, which depends on the data.
func crossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin": // not from a browser, typed, or from our pages
		return false
	}
	return r.URL.Path != "/"
}

// loopback reports whether a Host header names the loopback interface. A page of another site whose
// name resolves to 127.0.0.1 sends that name.
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
	json.NewEncoder(w).Encode(s.all())
}

// all lists the sources with their IDs.
func (s *server) all() []Source {
	all := slices.Clone(s.Backend.Sources())
	for i := range all {
		all[i].ID = IDOf(all[i].Path)
	}
	return all
}

// find returns the source with an ID, or with a number in the list, which people can type.
func (s *server) find(id string) (Source, bool) {
	all := s.all()
	i := slices.IndexFunc(all, func(src Source) bool { return src.ID == id })
	if n, err := strconv.Atoi(id); i < 0 && err == nil {
		i = n
	}
	if i < 0 || i >= len(all) {
		return Source{}, false
	}
	return all[i], true
}

// source returns the source that a parameter of the request names.
func (s *server) source(r *http.Request, key string) (Source, error) {
	src, ok := s.find(r.URL.Query().Get(key))
	if !ok {
		return Source{}, fmt.Errorf("%s: no such source", key)
	}
	return src, nil
}

func (s *server) view(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, views(), "application/json", "-json")
}

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, pages(), "text/html; charset=utf-8")
}

// answer runs the command of a view.
func (s *server) answer(w http.ResponseWriter, r *http.Request, all map[string]view, contentType string, more ...string) {
	v, ok := all[r.PathValue("view")]
	if !ok {
		http.Error(w, "no such view", http.StatusNotFound)
		return
	}
	src, err := s.source(r, "src")
	if err == nil && !v.shows(src.Kind) {
		err = errors.New("src: this source has no such view")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	args, err := v.args(r.URL.Query(), src.Path, func() (Source, error) {
		old, err := s.source(r, "base")
		if err == nil && !v.shows(old.Kind) {
			err = errors.New("base: this source has no such view")
		}
		return old, err
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	args = slices.Insert(args, v.words, more...)
	answer := s.answers.get
	if v.db {
		answer = s.answers.compute
	}
	data, err := answer(r.Context(), args, s.Backend.Run)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	if v.svg {
		contentType = "image/svg+xml"
	}
	w.Header().Set("Content-Type", contentType)
	if contentType != "application/json" {
		w.Header().Set("Content-Security-Policy", framed(data, v.svg))
	}
	send(w, r, data)
}

// part sends a part of a recording as a file.
func (s *server) part(w http.ResponseWriter, r *http.Request) {
	src, err := s.source(r, "src")
	if err != nil || src.Kind != KindRecording {
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
	if path.Ext(name) == ".json" && r.URL.Query().Has("inline") || name == "manifest.json" {
		w.Header().Set("Content-Type", "application/json")
	} else {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	}
	io.Copy(w, part) // on an error, the browser sees that the response was cut short
}
