package load

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/units"
)

// Outcome is what became of the requests of a load.
type Outcome struct {
	Status     map[int]int64    `json:"status,omitempty"`      // answers by status
	Errors     map[string]int64 `json:"errors,omitempty"`      // requests without an answer, by kind
	RedirectTo string           `json:"redirect_to,omitempty"` // the Location of one answer of 3xx
	Expect     string           `json:"expect,omitempty"`      // the statuses that are successes; "" = all below 400
}

// Outcome returns what became of r's requests.
func (r *Result) Outcome() Outcome {
	return Outcome{Status: r.Status, Errors: r.Errors, RedirectTo: r.RedirectTo, Expect: r.Expect.String()}
}

// Failures says what the failed requests got, most first: "1,200 answers of 500, 34 timeouts"; "" when
// none failed.
func (o Outcome) Failures() string {
	expect, _ := ParseExpect(o.Expect) // what cannot be read is the default
	return o.list(func(status int) bool { return !expect.Has(status) })
}

// Trouble says what all requests got when none of them did what a load is for: all failed, or all were
// answered by a redirect that nobody expects. It is "" when some succeeded.
func (o Outcome) Trouble() string {
	expect, _ := ParseExpect(o.Expect)
	useless := func(status int) bool {
		return !expect.Has(status) || expect.set == nil && status/100 == 3
	}
	var all, redirects int64
	for status, n := range o.Status {
		if !useless(status) && n > 0 {
			return ""
		}
		if status/100 == 3 {
			redirects += n
		}
		all += n
	}
	answers := all
	for _, n := range o.Errors {
		all += n
	}
	switch {
	case all == 0:
		return ""
	case answers == 0:
		return fmt.Sprintf("no request was answered: %s", o.list(useless))
	case answers == all && len(o.Status) == 1:
		for status := range o.Status {
			text := fmt.Sprintf("all %s answers are %s", units.Count(all), o.answer(status))
			if redirects > 0 {
				return text + ": what is measured is the redirect, not the page; give the URL that it leads to or the header that logs in, or say that it is meant with -expect 3xx"
			}
			return text + fmt.Sprintf(": what is measured is the error; if it is meant, say so with -expect %d", status)
		}
	}
	return fmt.Sprintf("none of %s requests succeeded: %s", units.Count(all), o.list(useless))
}

// list writes the answers of some statuses and all errors, most first.
func (o Outcome) list(of func(status int) bool) string {
	type item struct {
		n    int64
		text string
	}
	var items []item
	for _, status := range slices.Sorted(maps.Keys(o.Status)) {
		if n := o.Status[status]; n > 0 && of(status) {
			items = append(items, item{n, "answers of " + o.answer(status)})
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(o.Errors)) {
		if n := o.Errors[kind]; n > 0 {
			items = append(items, item{n, errorWords(kind)})
		}
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(b.n, a.n) })
	words := make([]string, len(items))
	for i, x := range items {
		words[i] = units.Count(x.n) + " " + x.text
	}
	return strings.Join(words, ", ")
}

// answer names a status, and where a redirect leads.
func (o Outcome) answer(status int) string {
	if status/100 == 3 && o.RedirectTo != "" {
		return fmt.Sprintf("%d to %s", status, o.RedirectTo)
	}
	return fmt.Sprint(status)
}

// errorWords says in the plural what a kind of transport error is.
func errorWords(kind string) string {
	switch kind {
	case ErrRefused:
		return "refused connections"
	case ErrReset, ErrEOF:
		return "connections closed without an answer (a handler that panics does that)"
	case ErrTimeout:
		return "timeouts"
	case ErrMalformed:
		return "answers that are not HTTP/1"
	}
	return "errors of kind " + kind
}
