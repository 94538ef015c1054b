// Package offsetpaging finds loops that query the pages of a table one after the other by a growing
// offset.
package offsetpaging

import (
	"context"
	"fmt"
	"regexp"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastPages is the minimum number of pages for each unit of work.
const leastPages = 8

// Rule is offset-paging.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "offset-paging",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Pages of a table fetched by a growing offset",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it by the number of pages.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.3, High: 1},
				Specificity: 2, // io-in-loop would ask for larger pages
			},
			Prepare: prepare,
		},
	}
}

const doc = `A program goes through a table page by page: LIMIT 200 OFFSET 0, then 200, then
400. A database cannot go to the 400th row directly: it produces all rows before
it and drops them. Page k costs k times as much as the first, and all n pages
n²/2 pages, however good the index is.

Ask for what comes after the last row of the previous page: WHERE id > ? ORDER
BY id LIMIT 200. That is one search in the index. With several columns in the
order, compare all of them, (a, b) > (?, ?), the last a unique one. Or read all
rows by one query and a cursor, if the program can keep it open. Rows that are
inserted or deleted meanwhile no longer shift what the next page has.

It is fine for the first few pages, which people look at. The rule reports
queries that run at least eight times for each unit of work, as counted, with an
offset that a loop around the query or around its callers changes. The share of
skipped rows in the query's cost is estimated from the number of pages.

Seen in the field: go-surreal/som#544 (an iterator over all records),
transitland/transitland-datastore#1170 (20 s became 0.3 s at offset 1,000,000).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := search{pass: p, byOffset: regexp.MustCompile(byOffset), toOffset: regexp.MustCompile(toOffset), functions: map[function]*query{}, lines: map[gocode.Pos]*query{}}
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

// search remembers the functions that query by an offset.
type search struct {
	pass      *rule.Pass
	byOffset  *regexp.Regexp
	toOffset  *regexp.Regexp
	functions map[function]*query
	lines     map[gocode.Pos]*query
}

type function struct{ name, file string }

// caller returns the frame of the function, nearest the leaf, that queries by a growing offset; -1
// for none.
func (s *search) caller(r *site.Row) int {
	for i, f := range r.Stack {
		if f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency {
			continue
		}
		id := function{f.Function, f.File}
		q, seen := s.functions[id]
		if !seen {
			if place, ok := s.pass.Syntax.At(f.File, f.Line); ok && place.Decl != nil {
				q = s.look(place, r.Stack[i:])
			}
			s.functions[id] = q
		}
		if q != nil {
			s.lines[gocode.Pos{File: f.File, Line: f.Line}] = q
			return i
		}
	}
	return -1
}

func (s *search) judge(c *finder.Case) bool {
	q := s.lines[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if q == nil || len(c.CPU) == 0 {
		return false
	}
	pages := q.runs
	// Each page costs its own rows and the skipped ones, half of all pages on average; its own rows
	// remain.
	spare := pages / 2 / (pages/2 + 1)
	c.Fraction = &rule.Fraction{Expect: 0.8 * spare, Low: 0.2 * spare, High: 1}
	c.Cause = fmt.Sprintf("%s asks for a page of rows by %s, which %s changes: each time the database reads all rows before the page, and skips them. It runs %s times per %s, so page k costs about k times as much as the first.",
		syntax.FuncName(q.place), q.text, q.loop, units.Number(pages), s.pass.Manifest.Unit())
	c.Fix = "Ask for the rows after the last one of the previous page (WHERE id > ? ORDER BY id LIMIT n), which an index finds directly; or read all rows by one query."
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("the query runs %s times per %s", units.Number(pages), s.pass.Manifest.Unit())})
	return true
}
