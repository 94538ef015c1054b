package leakgrowth

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestChained: values that refer to the one before, and others.
func TestChained(t *testing.T) {
	places := ruletest.Places(t, `package main

import (
	"context"
	"errors"
)

type job struct {
	id   int
	prev *job
}

type queue struct {
	last *job
	ctx  context.Context
	err  error
	end  func()
}

func (q *queue) run(id int) *job {
	last := q.last
	j := &job{id: id, prev: last} //@ job
	q.last = j
	return j
}

func (q *queue) note(k any) {
	q.ctx = context.WithValue(q.ctx, k, 1) //@ context
}

func (q *queue) local(k any) context.Context {
	ctx := context.WithValue(q.ctx, k, 1) //@ local
	return ctx
}

func (q *queue) failed(err error) {
	q.err = errors.Join(q.err, err) //@ error
}

func (q *queue) onEnd(f func()) {
	old := q.end
	q.end = func() { //@ closure
		old()
		f()
	}
}

func (q *queue) other(f func()) {
	q.end = func() { f() } //@ replaced
}

type page struct {
	text string
	prev *page
}

type book struct{ open *page }

func (b *book) turn(text string) {
	b.open = &page{text: text, prev: b.open} //@ cut
}

func (b *book) close() { b.open = nil }

func main() {}
`)
	for name, want := range map[string]string{
		"job":      "Each refers to the one before (prev: q.last), and q.last is set to the new one (main.go:23)",
		"context":  "wraps the value of q.ctx (context.WithValue)",
		"error":    "wraps the value of q.err (errors.Join)",
		"closure":  "wraps the value of q.end (a function literal that uses it)",
		"local":    "",
		"replaced": "",
		"cut":      "",
	} {
		got := ""
		if k := chained(places[name]); k != nil {
			got = k.words
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
