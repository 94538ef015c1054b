// Package formatthenappend finds strings that are formatted only to be copied into a buffer.
package formatthenappend

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

// Rule is format-then-append.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "format-then-append",
		Kind:  rule.Alloc,
		Title: "String formatted only to be copied into a buffer",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// The rows are the allocation of the temporary string, not the formatting,
				// which the variant does too. The buffer grows a little more.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
				Specificity: 1,
			},
			Lines: lines(),
		},
	}
}

const doc = `strconv.Itoa, FormatFloat, Quote or Time.Format make a string on the heap. If
the string is then only appended, written or formatted into something larger, it
was not needed. Each of these functions has a variant (AppendInt, AppendFloat,
AppendQuote, AppendFormat) that appends directly to a []byte, for example
b.AvailableBuffer of a bytes.Buffer or bufio.Writer. The same holds for strings
that become elements of a list which is only joined, and for those that a
function returns to callers which only copy them.

Escaped texts can be written directly, too: strings.Replacer has WriteString, and
hex, base32 and base64 have AppendEncode and NewEncoder. HTMLEscapeString of
text/template and html/template copies each text to a []byte and then grows a
buffer piece by piece; a Replacer that is created once does the same without an
allocation.

It is fine when the string is kept, returned, compared or used as a key. Small
numbers (0 to 99) are not allocated by Itoa at all; the rule reports only lines
where the profile shows the allocation.

Seen in the field: quasilyte/go-perfguard#62, and the left-pad service of
"Profiling and optimizing Go web applications" (artem.krylysov.com, 2017);
escaped texts in maragudk/gomponents#350 and maragudk/gomponents#352.`

// lines are the patterns to find: one for each formatter.
func lines() []finder.Line {
	var lines []finder.Line
	for _, f := range formatters {
		lines = append(lines, finder.Line{Start: finder.Sites(f.temporary), Judge: f.judge})
	}
	return lines
}

// temporary selects the rows that allocate the string; none when it is not on the heap.
func (f formatter) temporary(s *site.Site) rule.Match {
	m := finder.TakeCalls(s, f.row)
	m.CPU = stacks.Select(m.CPU, copying)
	if !allocated(m) {
		return rule.Match{Site: s}
	}
	return m
}

func (f formatter) judge(c *finder.Case) bool {
	calls := syntax.CallsOf(c.Place, f.call)
	var made []ast.Expr
	for _, call := range calls {
		made = append(made, call)
	}
	sink, far, ok := flow.CopiedFar(c.Pass.Syntax, c.Place, made)
	if !ok || !far && strings.HasPrefix(f.call, "fmt.") {
		return false // fmt-then-bytes reports what is written where it is formatted
	}
	if f.writer && !written(sink) {
		return false
	}
	if far {
		c.Confidence = rule.Likely // what else calls the function, such as tests, is not seen
	}
	c.Cause = fmt.Sprintf("%s allocates a string that is only %s, and then discarded.", f.call, sink)
	if f.fix != "" {
		c.Fix = f.fix
	} else {
		c.Fix = safety.DestinationOf(c.Place, calls).Advise(fmt.Sprintf("Append directly to the buffer with %s.", f.variant))
	}
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return true
}

// allocated reports whether the profile shows the string on the heap: a short one that does not
// escape is on the stack.
func allocated(m rule.Match) bool {
	return len(m.Allocs) > 0 || slices.ContainsFunc(m.CPU, func(r *site.Row) bool { return r.Class == site.Malloc })
}

// copying reports whether a CPU row allocates the string or copies the formatted bytes into it.
func copying(r *site.Row) bool {
	return r.Class == site.Malloc || r.Class == site.Assist || r.Below("runtime.slicebytetostring")
}
