package labelled_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/labelled"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// TestUnlimited: labels that clients choose, and labels with few values.
func TestUnlimited(t *testing.T) {
	const program = `package main

import (
	"cmp"
	"errors"
	"expvar"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

type counter struct{}

func (counter) Inc() {}

type vec struct{}

func (vec) WithLabelValues(values ...string) counter { return counter{} }

func (vec) With(labels map[string]string) counter { return counter{} }

func GetOrCreateCounter(name string) counter { return counter{} }

var (
	seen  vec
	named = expvar.NewMap("named")
)

type info struct{ path, code string }

func host(r *http.Request) string {
	h, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return h
}

func normalizePath(r *http.Request) string { return r.URL.Path }

func class(r *http.Request) string {
	if r.Header.Get("X-Internal") != "" {
		return "internal"
	}
	return "external"
}

func record(i info) {
	seen.WithLabelValues(i.code, i.path).Inc() //@ many field
}

func handle(w http.ResponseWriter, r *http.Request) {
	seen.WithLabelValues(r.Method, r.URL.Path).Inc()                        //@ many path
	seen.WithLabelValues(host(r)).Inc()                                     //@ many address
	seen.With(map[string]string{"agent": r.UserAgent()}).Inc()              //@ many agent
	GetOrCreateCounter(fmt.Sprintf("seen{path=%q}", r.URL.Path)).Inc()      //@ many name
	GetOrCreateCounter("seen{id=" + strings.ToLower(r.FormValue("id"))).Inc() //@ many form
	named.Add(cmp.Or(r.Header.Get("X-Tenant"), "none"), 1)                  //@ many map
	id := r.PathValue("id")
	seen.WithLabelValues(id[:8]).Inc() //@ many part
	err := errors.New("no " + id)
	seen.WithLabelValues(err.Error()).Inc() //@ many error
	record(info{r.URL.Path, strconv.Itoa(200)})

	seen.WithLabelValues(r.Method, r.Pattern).Inc()      //@ few pattern
	seen.WithLabelValues(normalizePath(r)).Inc()         //@ few normalized
	seen.WithLabelValues(class(r)).Inc()                 //@ few class
	seen.WithLabelValues(http.StatusText(404)).Inc()     //@ few status
	seen.WithLabelValues(fmt.Sprintf("%T", err)).Inc()   //@ few type
	out, _ := http.NewRequest("GET", "http://stock/x", nil)
	seen.WithLabelValues(out.URL.Host).Inc()             //@ few service
	u, _ := url.Parse("http://stock/x")
	seen.WithLabelValues(u.Path).Inc()                   //@ few own
	named.Add("requests", 1)                             //@ few constant
}

func main() {}
`
	code, places := ruletest.PlacesIn(t, program)
	for name, p := range places {
		got := false
		for _, call := range syntax.Calls(p) {
			if labels, ok := labelled.Labels(code, p, call); ok {
				got = got || len(labelled.Unlimited(code, labels)) > 0
			}
		}
		if want := strings.HasPrefix(name, "many "); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
