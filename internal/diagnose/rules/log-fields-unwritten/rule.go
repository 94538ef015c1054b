// Package logfieldsunwritten finds loggers that are copied with more fields for lines that are not
// written, or for one line.
package logfieldsunwritten

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// leastSamples is the minimum number of samples of copying the logger. With so many, writing a
	// line for each copy would have samples too: it takes longer.
	leastSamples = 10
	// mostWritten is the most that writing may take, as a share of the samples of the copies.
	mostWritten = 0.05
)

// Rule is log-fields-unwritten.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "log-fields-unwritten",
		Kind:  rule.Alloc,
		Title: "Logger copied with more fields for one line or none",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The few lines that are written need their fields. The test of the level remains.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
				Specificity: 2,
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `logger.With("id", id) copies the logger, encodes the fields or puts them
into a map, and allocates for all of that, at once and for every level. If the
copy then serves only debug lines, whose level is off, or the lines of an error
that does not occur, nothing of it is ever written.

Pass the fields in the line itself, where a disabled level costs a test: slog's
LogAttrs, zap's fields, logrus behind IsLevelEnabled. Copy the logger in the
branch that reports the error. zap has WithLazy, which encodes the fields when a
line is written. Keep a copy with fields that stay the same. A copy for one
line, log.With("id", id).Info("stored"), is only a detour for its fields.

It is fine where several lines are written with the copy. The rule reports
copies for one line, and those for several if the profile shows that copying
takes time and that writing takes none: in the lines that use the copy or, if the
function passes it on, in the whole program.

Seen in the field: knative/pkg#1968, spacemeshos/go-spacemesh#3083 (60 GB in an
hour), nspcc-dev/neofs-node#3409, NikolaLohinski/gonja#84 (71 % of the
allocations of a lexer, for trace lines).`

// library is how a logging package copies its loggers, and how it writes a line.
type library struct {
	copies []string // as profiles name them
	// writes are functions that only lines reach that are written.
	writes []string
	// line is the function that tests the level of a line, when what it calls after that is in no
	// function of writes.
	line []string
	fix  string
	// only says that a copy is the only way to give fields to a line.
	only bool
}

func libraries() []library {
	const pass = "Pass the fields in the lines themselves, where a level that is off costs only a test, and copy the logger in the branch that reports an error."
	return []library{
		{
			copies: []string{"log/slog.(*Logger).With", "log/slog.(*Logger).WithGroup"},
			writes: []string{"log/slog.NewRecord", "log/slog.(*commonHandler).handle", "log/slog.(*defaultHandler).Handle"},
			line:   []string{"log/slog.(*Logger).log", "log/slog.(*Logger).logAttrs"},
			fix:    pass,
		},
		{
			copies: []string{"go.uber.org/zap.(*Logger).With", "go.uber.org/zap.(*Logger).Named", "go.uber.org/zap.(*SugaredLogger).With", "go.uber.org/zap.(*SugaredLogger).Named"},
			writes: []string{"go.uber.org/zap/zapcore.(*CheckedEntry).Write"},
			fix:    pass + " zap's WithLazy encodes the fields when the first line is written.",
		},
		{
			copies: []string{"github.com/sirupsen/logrus.(*Logger).With*", "github.com/sirupsen/logrus.(*Entry).With*"},
			writes: []string{"github.com/sirupsen/logrus.(*Entry).log", "github.com/sirupsen/logrus.Entry.log", "github.com/sirupsen/logrus.(*Entry).write"},
			fix:    "Test the level first (IsLevelEnabled), and copy the logger in the branch that reports an error.",
			only:   true,
		},
		{
			copies: []string{"github.com/rs/zerolog.Logger.With", "github.com/rs/zerolog.(*Logger).With", "github.com/rs/zerolog.Context.*"},
			writes: []string{"github.com/rs/zerolog.(*Event).msg", "github.com/rs/zerolog.(*Event).write"},
			fix:    "Add the fields to the events, which are nil when their level is off, and copy the logger in the branch that reports an error.",
		},
		{
			copies: []string{"github.com/hashicorp/go-hclog.(*intLogger).With", "github.com/hashicorp/go-hclog.(*intLogger).Named"},
			writes: []string{"github.com/hashicorp/go-hclog.(*intLogger).logPlain", "github.com/hashicorp/go-hclog.(*intLogger).logJSON"},
			fix:    pass,
		},
	}
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, libraries: libraries()}
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass      *rule.Pass
	libraries []library
}

// copied returns the index of the first frame of a row that copies a logger, and its library.
func (s *search) copied(r *site.Row) (int, *library) {
	for i, f := range r.Stack {
		for j := range s.libraries {
			if l := &s.libraries[j]; funcname.Match(f.Function, l.copies...) {
				return i, l
			}
		}
	}
	return -1, nil
}

// caller returns the frame of a row whose line copies a logger, outside of the functions that wrap
// such a copy.
func (s *search) caller(r *site.Row) int {
	i, _ := s.copied(r)
	if i < 0 {
		return -1
	}
	for i < len(r.Stack) && s.wraps(r.Stack[i]) {
		i++
	}
	if i == len(r.Stack) {
		return -1
	}
	if k := r.Stack[i].Owner.Kind; k != gocode.Main && k != gocode.Dependency {
		return -1
	}
	return i
}

// base returns the name of a function without its package and receiver.
func base(function string) string {
	name, _, _ := strings.Cut(function, "[")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// wraps reports whether a frame's function copies a logger for its caller: the library's own ones,
// and functions named With… that return a logger or a copy of their receiver.
func (s *search) wraps(f *site.Frame) bool {
	for _, l := range s.libraries {
		if funcname.Match(f.Function, l.copies...) {
			return true
		}
	}
	name := base(f.Function)
	if f.Owner.Kind == gocode.Std {
		return name == "With"
	}
	if !strings.HasPrefix(strings.ToLower(name), "with") {
		return false
	}
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok {
		return true
	}
	sig := syntax.SignatureOf(place)
	if sig == nil || sig.Results().Len() != 1 {
		return false
	}
	result := sig.Results().At(0).Type()
	name = types.TypeString(result, func(*types.Package) string { return "" })
	return strings.Contains(strings.ToLower(name), "log") || sig.Recv() != nil && types.Identical(sig.Recv().Type(), result)
}

func (s *search) judge(c *finder.Case) bool {
	call := s.call(c)
	if call == nil || !loops.PerCall(c.Place, call) {
		return false
	}
	_, samples := stacks.Sum(c.CPU)
	_, l := s.copied(c.CPU[0])
	uses, stays := stays(c.Place, call)
	if samples < leastSamples || float64(s.written(l, c.Site, uses, stays)) > mostWritten*float64(samples) {
		if l.only || !oneLine(c.Place, call) {
			return false
		}
		c.Cause = fmt.Sprintf("%s copies the logger with its fields each time, for one line, and the copy is dropped.", syntax.Text(call.Fun))
		c.Fix = "Pass the fields to the line itself, before those that it has."
		c.Fraction = &rule.Fraction{Expect: 0.6, Low: 0.3, High: 0.9} // the line encodes them instead
		return true
	}
	where := "in the whole program"
	if stays {
		where = "with a copy in " + syntax.FuncName(c.Place)
	}
	c.Cause = fmt.Sprintf("%s copies the logger with its fields each time, but the profile shows no line that is written %s: the copies are dropped unused.",
		syntax.Text(call.Fun), where)
	c.Fix = l.fix
	return true
}

// call returns the call on the line that copies a logger, as the rows show it; nil if there is
// none.
func (s *search) call(c *finder.Case) *ast.CallExpr {
	for _, r := range c.CPU {
		i := s.caller(r)
		if i < 1 {
			continue
		}
		name := base(r.Stack[i-1].Function)
		for _, call := range syntax.Calls(c.Place) {
			if fn := c.Place.Callee(call); fn != nil && fn.Name() == name {
				return call
			}
		}
	}
	return nil
}

// written returns the number of samples in which a library writes a line: below some lines of a
// site's file, or anywhere.
func (s *search) written(l *library, at *site.Site, uses []lines, below bool) (samples int64) {
	s.pass.EachRow(func(r *site.Row) {
		if writes(l, r) && (!below || passes(r, at, uses)) {
			samples += r.Count
		}
	})
	return samples
}

// passes reports whether a row's stack has one of some lines of a site's file.
func passes(r *site.Row, at *site.Site, uses []lines) bool {
	for _, f := range r.Stack {
		if f.File == at.File && slices.ContainsFunc(uses, func(l lines) bool { return l.from <= f.Line && f.Line <= l.to }) {
			return true
		}
	}
	return false
}

// writes reports whether a row is of a line that is written.
func writes(l *library, r *site.Row) bool {
	for i, f := range r.Stack {
		if funcname.Match(f.Function, l.writes...) {
			return true
		}
		if i > 0 && funcname.Match(f.Function, l.line...) {
			next := r.Stack[i-1].Function
			return next == "runtime.Callers" || !strings.HasPrefix(next, "runtime.") && !strings.Contains(next, "nabled")
		}
	}
	return false
}
