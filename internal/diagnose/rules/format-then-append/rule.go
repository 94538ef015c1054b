// Package formatthenappend finds strings that are formatted only to be copied into a buffer.
package formatthenappend

import (
	"context"
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

// formatter is a function that returns a new string and has a twin that appends.
type formatter struct {
	call string // as types write it
	row  string // as profiles write it
	twin string
}

var formatters = []formatter{
	{"strconv.Itoa", "strconv.Itoa", "strconv.AppendInt"},
	{"strconv.FormatInt", "strconv.FormatInt", "strconv.AppendInt"},
	{"strconv.FormatUint", "strconv.FormatUint", "strconv.AppendUint"},
	{"strconv.FormatFloat", "strconv.FormatFloat", "strconv.AppendFloat"},
	{"strconv.Quote", "strconv.Quote", "strconv.AppendQuote"},
	{"strconv.QuoteToASCII", "strconv.QuoteToASCII", "strconv.AppendQuoteToASCII"},
	{"(time.Time).Format", "time.Time.Format", "Time.AppendFormat"},
}

// Rule is format-then-append.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "format-then-append",
		Kind:  rule.Alloc,
		Title: "String formatted only to be copied into a buffer",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// The rows are what the temporary string costs: its allocation, not the digits,
				// which the twin makes too. The rest pays for growing the buffer a little more.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
				Specificity: 1,
			},
			Loop: find,
		},
	}
}

const doc = `strconv.Itoa, FormatFloat, Quote or Time.Format make a string on the heap. If
the string is then only appended, written or formatted into something larger, it
was not needed. Each of these functions has a variant (AppendInt, AppendFloat,
AppendQuote, AppendFormat) that appends directly to a []byte, for example
b.AvailableBuffer of a bytes.Buffer or bufio.Writer.

It is fine when the string is kept, returned, compared or used as a key. Small
numbers (0 to 99) are not allocated by Itoa at all; the rule speaks only where
the profile shows the allocation.

Seen in the field: quasilyte/go-perfguard#62, and the left-pad service of
"Profiling and optimizing Go web applications" (artem.krylysov.com, 2017).`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		for _, f := range formatters {
			m := finder.TakeCalls(s, f.row)
			m.CPU = stacks.Select(m.CPU, copying)
			if !allocated(m) {
				continue
			}
			place := p.Place(s)
			if place == nil {
				continue // without the source nothing is known of where the string goes
			}
			calls := syntax.CallsOf(place, f.call)
			sink, ok := flow.Copied(place, calls)
			if !ok {
				continue
			}
			m.Cause = fmt.Sprintf("%s allocates a string that is only %s, and then discarded.", f.call, sink)
			m.Fix = safety.DestinationOf(place, calls).Advise(fmt.Sprintf("Append directly to the buffer with %s.", f.twin))
			m.Confidence = evidence.Weigh(p, s, false)
			m.Evidence = evidence.Compiler(p, s)
			matches = append(matches, m)
		}
	}
	return matches, nil
}

// allocated reports whether the profile shows that the string is made on the heap:
// a short one that does not escape is made on the stack.
func allocated(m rule.Match) bool {
	return len(m.Allocs) > 0 || slices.ContainsFunc(m.CPU, func(r *site.Row) bool { return r.Class == site.Malloc })
}

// copying are the CPU rows of making the string from the digits.
func copying(r *site.Row) bool {
	return r.Class == site.Malloc || r.Class == site.Assist || r.Below("runtime.slicebytetostring")
}
