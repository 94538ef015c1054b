package cachemiss

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// TestChanging: what makes keys other ones each time, and keys of which that is not known.
func TestChanging(t *testing.T) {
	const src = `package main

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"time"
)

type query struct {
	name string
	since *time.Time
}

type id struct{ a, b string }

type view struct {
	tenant string
	at     time.Time
}

func key(any) {}

func all(q *query, i id, v view, at time.Time, r *http.Request, u *url.URL, n int, s *string) {
	key(fmt.Sprintf("columns:%p", q)) //@ address: the address of q is a part of it (%p)
	key(fmt.Sprintf("%+v", *q)) //@ field: field since of *q, which is printed into it, is an address
	key(fmt.Sprintf("%v", q)) //@ field behind: field since of q, which is printed into it, is an address
	key(fmt.Sprint(n, s)) //@ address of a text: the address s is a part of it
	key(fmt.Sprint(n, i)) //@ values:
	key(fmt.Sprint(n, &i)) //@ values behind:
	key(v) //@ time of a struct: its field at is a time
	key(view{tenant: "a"}) //@ struct: its field at is a time
	k := i.a + time.Now().String()
	key(k) //@ current time: the current time is a part of it
	key(fmt.Sprint(i.a, at.UnixNano())) //@ time: the time at is a part of it
	key(i.a + at.Format("2006-01")) //@ month:
	key(at.Truncate(time.Hour).Unix()) //@ hour:
	key(r.URL.RawQuery) //@ query: r.URL.RawQuery is a part of it, with all parameters of the request
	key("GET " + u.String()) //@ address of a page: u.String is a part of it
	key(u.Path) //@ path:
	key(reflect.TypeOf(q)) //@ type:
}

func main() {}
`
	for name, place := range ruletest.Places(t, src) {
		what, want, _ := strings.Cut(name, ":")
		got := ""
		for _, call := range syntax.Calls(place) {
			if fn := place.Callee(call); fn != nil && fn.Name() == "key" {
				if found := changing(place, call.Args[0]); found != nil {
					got = found.is
				}
			}
		}
		if want = strings.TrimSpace(want); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", what, got)
		}
	}
}
