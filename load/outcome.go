package load

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/units"
)

// Outcome counts the requests of a load by how they ended.
type Outcome struct {
	Status     map[int]int64       `json:"status,omitempty"`      // responses by status
	Errors     map[ErrorKind]int64 `json:"errors,omitempty"`      // requests without a response, by kind of error
	RedirectTo string              `json:"redirect_to,omitempty"` // the Location of one answer of 3xx
	Expect     string              `json:"expect,omitempty"`      // the statuses that are successes; "" = all below 400
}

// Outcome returns the outcome of r's requests.
func (r *Result) Outcome() Outcome {
	return Outcome{Status: r.Status, Errors: r.Errors, RedirectTo: r.RedirectTo, Expect: r.Expect.String()}
}

// Failures describes the failed requests, most frequent first: "1,200 answers of 500, 34 timeouts".
// It returns "" if none failed.
func (o Outcome) Failures() string {
	expect, _ := ParseExpect(o.Expect) // the default if invalid
	return o.list(func(status int) bool { return !expect.Has(status) })
}

// Trouble describes the outcome if no request succeeded: all failed, or all got an unexpected
// redirect. It returns "" if some succeeded.
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

// list describes the responses with the statuses that of selects and all errors, most frequent
// first.
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

// answer describes a status and the target of a redirect.
func (o Outcome) answer(status int) string {
	if status/100 == 3 && o.RedirectTo != "" {
		return fmt.Sprintf("%d to %s", status, o.RedirectTo)
	}
	return fmt.Sprint(status)
}

// errorWords returns the plural for a kind of transport error.
func errorWords(kind ErrorKind) string {
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
	return "errors of kind " + string(kind)
}
