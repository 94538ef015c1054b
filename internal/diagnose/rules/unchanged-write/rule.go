// Package unchangedwrite finds writes of a state that has the written value already.
package unchangedwrite

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastSame is the minimum share of writes that had the value of the last one.
	leastSame = 0.75
	// leastCalls is the minimum number of writes about something that was written before.
	leastCalls = 50
	// leastShare is the minimum share of a function's calls that a line must make for the inputs of
	// that function to be those of the line.
	leastShare = 0.9
	// seldom is how often other statements may write to the same table, for each write.
	seldom = 0.02
)

// Rule is unchanged-write.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "unchanged-write",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedInputs, rule.NeedCounts},
		Title: "State written again though it did not change",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it with the share of writes that changed nothing.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.5, High: 1},
				Specificity: 4, // it says why the line writes too often
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A check that runs every second, or a handler, stores what it found: the
status of a device in its row, the current list in a file, a setting under its
key. Nearly every time that is what was stored before. The write costs a round
trip and the database's work all the same: a new version of the row, entries in
indexes and in the log, a sync, and a notification to all who watch it.

Keep what was written last, by its key, and write only what differs. Forget it
after an error, so that the next attempt writes. A database can compare as well
(WHERE id = ? AND status <> ?, IS DISTINCT FROM for columns with NULL), which
saves the new version of the row, not the round trip.

It is fine where the write is the message: a sign of life, a lease that must not
expire. The rule uses counted inputs: it reports UPDATE statements that only set
columns to given values, upserts, whole files, PUT requests and keys of a store,
if three quarters of the writes or more had the same values as the last one for
the same row, file or key, and nothing else in the program writes there. If the
load sends bodies, which it repeats, it reports only requests that write the same
rows whatever they ask for, and that are too short to name them: a change of one
setting that saves all settings. Note what has changed, and write only that.

Seen in the field: crossplane/crossplane#7283 (a status updated on every pass,
which starts the next one), cybozu-go/moco#146, IBM/staticroute-operator#60.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, sql: sqltext.Of(p)}
	lines := finder.Remember(p, s.look)
	judge := func(c *finder.Case) bool {
		w := lines.At(&c.Site.Frame)
		if w != nil {
			w.describe(c)
		}
		return w != nil
	}
	return finder.Line{Start: finder.Frames(lines.Calling((*write).calls)), Judge: judge}
}

// search examines lines of one recording.
type search struct {
	pass *rule.Pass
	sql  sqltext.Program
	own  float64 // executions of the line that is examined, for each unit of work
}

// write is a line that writes what was written before.
type write struct {
	*sink
	place    *gocode.Place
	function string // whose inputs were counted
	of       inputs.Again
	same     float64 // share of the writes
	each     bool    // by a part of the input, not only as a whole
	rows     float64 // that each request writes without naming them; 0 for other writes
}

// calls reports whether a function of a profile is the one that writes.
func (w *write) calls(function string) bool {
	fn := w.place.Callee(w.call)
	return fn != nil && funcname.Name(function) == fn.Name()
}

// look returns the write of an unchanged state on a line; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *write {
	runs, ok := evidence.Executions(s.pass, *f)
	if p.Decl == nil || p.Func != p.Decl && p.Func == nil || !ok || runs.PerUnit <= 0 {
		return nil
	}
	s.own = runs.PerUnit
	for _, call := range syntax.Calls(p) {
		out := s.sinkOf(p, call)
		if out == nil {
			continue
		}
		w := s.byCallee(p, out)
		if w == nil && p.Func == p.Decl && runs.PerCall > leastShare && runs.PerCall < 1/leastShare {
			w = s.byCaller(f, p, out)
		}
		if w == nil || w.same < leastSame || w.of.Calls < leastCalls {
			continue
		}
		w.place = p
		if w.rows = s.unnamed(f, w, runs.PerUnit); w.rows > 0 || !s.sent(w) {
			return w
		}
	}
	return nil
}

// byCallee judges the inputs of the function that executes a statement, whose arguments are all
// that is written.
func (s *search) byCallee(p *gocode.Place, out *sink) *write {
	if out.sql == nil {
		return nil
	}
	name := p.Callee(out.call).Name() // of a method of an interface as well
	file := path.Base(filepath.ToSlash(p.Fset.Position(p.Nodes[0].Pos()).Filename))
	for i := range s.pass.Inputs.Functions {
		in := &s.pass.Inputs.Functions[i]
		if called := funcname.Name(in.Name); called != name && called != name+"Context" || in.Hashed < in.Calls {
			continue
		}
		var parts []int
		for _, k := range out.sql.keys {
			parts = append(parts, len(in.Params)+k)
		}
		for _, at := range in.Sites {
			if at.Line != p.Line || path.Base(filepath.ToSlash(at.File)) != file {
				continue
			}
			if w := best(in.Name, at.Again, parts); w != nil {
				w.sink = out
				return w
			}
		}
	}
	return nil
}

// byCaller judges the inputs of the function around a write, if what it writes depends on its
// parameters alone.
func (s *search) byCaller(f *site.Frame, p *gocode.Place, out *sink) *write {
	in := s.pass.Inputs.Of(f.Function)
	if in == nil || in.Hashed < in.Calls {
		return nil
	}
	g := givenTo(p)
	if !g.all(out.values) || len(g.used) == 0 {
		return nil
	}
	g.keeps = true
	if !g.all(out.key) || !g.hashed(in) {
		return nil
	}
	key := &given{place: p, params: g.params, keeps: true}
	key.all(out.key)
	var parts []int
	for _, v := range key.used {
		parts = append(parts, 1+slices.Index(g.params, v))
	}
	w := best(in.Name, in.Again, parts)
	if w != nil {
		w.sink = out
	}
	return w
}

// best returns the largest share of calls with the same input as the last one about the same
// object, by the parts that identify it. A part that identifies only a group of objects gives a
// lower share; so do all calls together.
func best(function string, again []inputs.Again, parts []int) *write {
	var w *write
	for _, part := range append([]int{0}, parts...) {
		if part >= len(again) || again[part].Calls < leastCalls {
			continue
		}
		of := again[part]
		if same := float64(of.Same) / float64(of.Calls); w == nil || same > w.same {
			w = &write{function: function, of: of, same: same, each: part > 0}
		}
	}
	return w
}

// sent reports whether the load sends bodies, which it repeats, and the writes belong to its
// requests.
func (s *search) sent(w *write) bool {
	in := s.pass.Inputs.Of(w.function)
	l := s.pass.Manifest.Load
	return l != nil && in != nil && in.InRequest > in.Calls/2 &&
		slices.ContainsFunc(l.Targets, func(t string) bool { return !strings.HasPrefix(t, "GET ") && !strings.HasPrefix(t, "HEAD ") })
}

// unnamed returns how many rows, files or keys a request writes if it writes the same ones whatever
// it asks for, and is too short to name them: it is then not the load that repeats the writes. It
// returns 0 for other writes.
func (s *search) unnamed(f *site.Frame, w *write, perUnit float64) (rows float64) {
	const (
		leastRows    = 16
		leastTargets = 4   // different requests
		others       = 2   // times as many rows: those of another request, or with other values
		leastBytes   = 2.0 // of a request for each row that it names: a character, and a separator
	)
	in := s.pass.Inputs.Of(w.function)
	requests := s.entering(f)
	if in == nil || requests <= 0 || s.pass.RequestBytes <= 0 || cmp.Or(in.Targets, s.pass.Inputs.Targets) < leastTargets {
		return 0
	}
	rows = perUnit / requests
	if rows < leastRows || float64(in.Different) >= others*rows || s.pass.RequestBytes/requests >= leastBytes*rows {
		return 0
	}
	return rows
}

// entering returns how many requests, of all, come to a line: the least executions for each unit of
// work of the lines that call its function, directly or not.
func (s *search) entering(f *site.Frame) (least float64) {
	s.pass.EachRow(func(r *site.Row) {
		i := slices.IndexFunc(r.Stack, func(x *site.Frame) bool { return x.File == f.File && x.Line == f.Line })
		if i < 0 {
			return
		}
		for _, above := range r.Stack[i:] {
			if e, ok := evidence.Executions(s.pass, *above); ok && above.Owner.Kind == gocode.Main && e.PerUnit > 0 && (least == 0 || e.PerUnit < least) {
				least = e.PerUnit
			}
		}
	})
	return min(least, 1)
}

func (w *write) describe(c *finder.Case) {
	which := "the last one"
	if w.each {
		which = "the last one for the same object"
	}
	c.Confidence = rule.Likely // others may write there as well, or depend on the write
	c.Cause = fmt.Sprintf("%s writes to %s what was written before: %s of the writes had the same values as %s. Each costs as much as one that changes something.",
		syntax.FuncName(w.place), w.what, units.Percent(w.same), which)
	c.Fix = fmt.Sprintf("Keep the values that were written last, by their key, and %s only if they differ; forget them after an error.", w.verb)
	if w.rows > 0 {
		c.Cause = fmt.Sprintf("Each request that comes here writes every element again, about %s, whatever it is about: %s writes each to %s by a call of its own, and %s of %s had the same values as %s.",
			units.Number(w.rows), syntax.FuncName(w.place), w.what, units.Count(w.of.Same), units.Count(w.of.Calls), which)
		c.Fix = fmt.Sprintf("Note which elements have changed, where they change (a flag in each, or a set of their keys), and %s only for these; note them again after an error.", w.verb)
	}
	c.Fraction = &rule.Fraction{Expect: 0.95 * w.same, Low: 0.7 * w.same, High: w.same}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.InputsCounted,
		Value: fmt.Sprintf("%s: %s of %s calls had the same input as %s", symbol.Short(funcname.Typed(w.function)), units.Count(w.of.Same), units.Count(w.of.Calls), which),
	})
}
