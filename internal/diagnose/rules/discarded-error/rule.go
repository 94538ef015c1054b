// Package discardederror finds calls that mostly fail, with errors that nobody reads.
package discardederror

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// least is the minimum share of calls that must fail: below it, the error is an exception.
const least = 0.25

// Rule is discarded-error.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "discarded-error",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Call that mostly fails, with an error that nobody reads",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// For errors that are created and dropped. Calls of parsers have a fraction of
				// their own: see describe.
				Fraction: rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Removes:  true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function tries whether a text is a number, then whether it is a
time, then a bool, and looks only at whether the error is nil. A failing call of
strconv or time.Parse copies the text and allocates an error of 50 to 100 bytes
for it, which the caller discards: a failure costs more than a success. The same
holds for functions of the program that report "not found" by fmt.Errorf, or by
an error with a stack trace, to callers that only test for nil.

Look at the text before parsing it: length and first byte are enough to reject
most texts. Where failing is normal, return a bool, or an error that is a
package variable.

It is fine where failures are rare. The rule counts them: it reports calls of
which at least a quarter failed while executions were counted, and whose error
is dropped or only compared, with nil or by errors.Is.

Seen in the field: open-policy-agent/opa#8758 (strconv.Atoi replaced for its
failures), golang/go#43241 and golang/go#72951 (errors of strconv and time that
dominate a run).`

// makers are functions that create errors, as profiles name them; all functions of a package called
// errors are too.
func makers() []string {
	return []string{
		"errors.New", "fmt.Errorf", "strconv.syntaxError", "strconv.rangeError", "strconv.baseError", "strconv.bitSizeError",
		"time.newParseError", "time.quote", "golang.org/x/xerrors.*",
	}
}

// makes reports whether a function creates an error.
func makes(function string) bool {
	if funcname.Match(function, makers()...) {
		return true
	}
	pkg, _, _ := strings.Cut(function[strings.LastIndexByte(function, '/')+1:], ".")
	return pkg == "errors" && strings.Contains(function, "/")
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, making: map[gocode.Pos]bool{}}
	s.lines = finder.Remember(p, s.look)
	p.EachRow(s.note)
	p.EachRow(s.learn)
	for _, at := range p.Table.Sites {
		for _, r := range at.Allocs {
			s.note(r)
			s.count(r)
		}
	}
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[failing]
	// making are the lines that call functions which create errors.
	making map[gocode.Pos]bool
}

// failing is a call whose error nobody reads.
type failing struct {
	place  *gocode.Place
	call   *ast.CallExpr
	callee string  // as the type checker names it
	parses bool    // a text that the caller could test first
	runs   float64 // of the line, for each unit of work
	share  float64 // share of the calls that fail; negative when not known
	made   bool    // the samples show that the call creates errors
	// compared is true if the error is compared with another by errors.Is.
	compared bool
	// errors holds, for each line below the call that creates errors, the number of objects that it
	// allocated.
	errors map[gocode.Pos]int64
	frame  *site.Frame
}

// look returns the call on a line whose error nobody reads; nil when there is none.
func (s *search) look(f *site.Frame, p *gocode.Place) *failing {
	if p.Func == nil {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		if found := s.discards(f, p, call); found != nil {
			return found
		}
	}
	return nil
}

// discards returns what is known about a call whose last result is an error that nobody reads.
func (s *search) discards(f *site.Frame, p *gocode.Place, call *ast.CallExpr) *failing {
	fn := p.Callee(call)
	if fn == nil || !returnsError(fn) {
		return nil
	}
	e, ok := evidence.Executions(s.pass, *f)
	if !ok || e.PerUnit <= 0 {
		return nil
	}
	test, ok := unread(p, call)
	if !ok {
		return nil
	}
	found := &failing{place: p, call: call, callee: gocode.FullName(fn), parses: parser(fn), runs: e.PerUnit, share: -1, errors: map[gocode.Pos]int64{}, frame: f}
	if test != nil {
		found.share = s.share(f, p, test, e.PerUnit)
		_, found.compared = ast.Unparen(test.Cond).(*ast.CallExpr)
	}
	return found
}

// share returns the part of the calls before a test that failed, by how often its body ran;
// negative when that is not known.
func (s *search) share(f *site.Frame, p *gocode.Place, test *ast.IfStmt, runs float64) float64 {
	if len(test.Body.List) == 0 {
		return -1
	}
	body := syntax.Line(p, test.Body.List[0].Pos())
	if body == syntax.Line(p, test.Pos()) {
		return -1
	}
	at := *f
	at.Line = body
	e, ok := evidence.Executions(s.pass, at)
	if !ok {
		return -1
	}
	part := min(1, e.PerUnit/runs)
	if succeeds(test.Cond) {
		part = 1 - part
	}
	return part
}

// learn records that errors are created below such a call.
func (s *search) learn(r *site.Row) {
	if i, found := s.calls(r); found != nil {
		found.made = found.made || s.madeBelow(r, i)
	}
}

// count adds up the objects of errors that are created below such a call.
func (s *search) count(r *site.Row) {
	i, found := s.calls(r)
	if found == nil {
		return
	}
	found.made = found.made || s.madeBelow(r, i)
	if f := r.Stack[0]; i > 0 && makes(f.Function) {
		found.errors[gocode.Pos{File: f.File, Line: f.Line}] += r.Count
	}
}

// note stores the lines of the program and of dependencies that call what creates errors.
func (s *search) note(r *site.Row) {
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency || makes(f.Function) {
			continue
		}
		if makes(r.Stack[i-1].Function) {
			s.making[gocode.Pos{File: f.File, Line: f.Line}] = true
		}
	}
}

// madeBelow reports whether a row creates an error below a frame, or boxes the arguments of that.
func (s *search) madeBelow(r *site.Row, i int) bool {
	for j, f := range r.Stack[:i] {
		if makes(f.Function) {
			return true
		}
		boxes := j == 0 || funcname.Match(r.Stack[j-1].Function, "runtime.convT*")
		if boxes && s.making[gocode.Pos{File: f.File, Line: f.Line}] {
			return true
		}
	}
	return false
}

// failed returns the share of calls that fail: by the branch after the call or, without one, by the
// allocated errors. Each error takes at least one object from each line that creates it.
func (s *search) failed(f *failing) float64 {
	if f.share >= 0 {
		return f.share
	}
	most := int64(0)
	for _, n := range f.errors {
		most = max(most, n)
	}
	share, _ := evidence.PerExecution(s.pass, *f.frame, float64(most))
	return min(1, share)
}

// calls returns the frame of a row, nearest to the leaf, that makes such a call.
func (s *search) calls(r *site.Row) (int, *failing) {
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if found := s.lines.At(f); found != nil && called(found.callee, r.Stack[i-1].Function) {
			return i, found
		}
	}
	return -1, nil
}

// called reports whether a function of a profile is the one that the type checker names. An
// interface's method matches any method of that name.
func called(typed, profile string) bool {
	if funcname.Typed(profile) == typed {
		return true
	}
	name := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	return name(typed) == name(profile) && (strings.HasPrefix(profile, "main.") || strings.HasPrefix(typed, "("))
}

// caller returns the frame whose call mostly fails: for parsers the whole call counts, for others
// the error that they create.
func (s *search) caller(r *site.Row) int {
	i, found := s.calls(r)
	if found == nil || !found.made || s.failed(found) < least {
		return -1
	}
	if found.parses {
		return i
	}
	if s.madeBelow(r, i) {
		return i
	}
	return -1
}

func (s *search) judge(c *finder.Case) bool {
	f := s.lines.At(&c.Site.Frame)
	if f == nil {
		return false
	}
	share, name := s.failed(f), symbol.Short(f.callee)
	about := ""
	if f.share < 0 { // a sampled number of objects
		about, c.Confidence = "about ", rule.Likely
	}
	c.Cause = fmt.Sprintf("%s fails in %s%s of its calls here, and nobody reads the error: it is built only to be discarded.", name, about, units.Percent(share))
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s of the calls of %s fail", units.Percent(share), name)})
	if f.parses {
		// A test of one or two bytes replaces most failing calls; texts that look right and are not
		// still fail.
		c.Fraction = &rule.Fraction{Expect: 0.8 * share, Low: 0.3 * share, High: 0.97 * share}
		c.Fix = fmt.Sprintf("Look at the text before the call (its length, its first byte), so that %s gets only what it can parse; or use a parser that returns a bool.", name)
		return true
	}
	c.Fix = fmt.Sprintf("Where failing is normal, let %s return a bool, or an error that is a package variable.", name)
	if f.compared {
		c.Cause = fmt.Sprintf("%s fails in %s%s of its calls here with an error that errors.Is compares with another, and nobody reads its text: it is built only to be discarded.", name, about, units.Percent(share))
		c.Fix = fmt.Sprintf("Where failing is normal, let %s return the error that is tested for itself, without a text around it, or a bool.", name)
	}
	return true
}

// returnsError reports whether a function's last result is an error.
func returnsError(fn *types.Func) bool {
	results := fn.Signature().Results()
	return results.Len() > 0 && types.Identical(results.At(results.Len()-1).Type(), types.Universe.Lookup("error").Type())
}

// parser reports whether a function turns a text, its first argument, into a value.
func parser(fn *types.Func) bool {
	params := fn.Signature().Params()
	text := false
	for i := range params.Len() {
		t := params.At(i).Type().Underlying()
		if b, ok := t.(*types.Basic); ok && b.Kind() == types.String {
			text = true
		}
		if s, ok := t.(*types.Slice); ok && types.Identical(s.Elem(), types.Typ[types.Byte]) {
			text = true
		}
	}
	if !text {
		return false
	}
	for _, word := range []string{"Parse", "parse", "Atoi", "Unquote", "DecodeString", "Unmarshal"} {
		if strings.HasPrefix(fn.Name(), word) {
			return true
		}
	}
	return false
}
