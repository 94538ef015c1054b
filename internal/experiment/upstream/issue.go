package upstream

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/rewrite"
)

// workaround returns what the caller of a dependency can do about a finding in it; "" if the rule
// has no workaround.
func workaround(f *diagnose.Finding) string {
	if f.Entry == nil {
		return ""
	}
	at := fmt.Sprintf("%s:%d", f.Entry.File, f.Entry.Line)
	switch f.Rule {
	case "regexp-compile-per-call", "template-parse-per-call", "replacer-per-call", "constant-work", "repeated-work", "unchanged-input", "loop-invariant-call":
		return "Where the input is the same, keep the result of the call on " + at + " and use it again."
	case "heavy-ctor-per-call":
		return "If the module takes an object of yours, or a function that creates one, pass it one from a sync.Pool; " + at + " leads there."
	case "client-per-request", "ctor-per-call", "sql-open-per-call", "sql-prepare-per-query":
		return "Create the object once and share it, rather than on " + at + " for each call."
	case "log-args-boxed", "log-text-unwritten", "debug-logging-on":
		return "Test the level before the call on " + at + ", or turn the logging off."
	case "hot-mutex", "lock-convoy", "atomic-hotspot":
		return "Call it less often on " + at + ": in batches, or through an instance for each goroutine."
	case "small-writes", "unbuffered-log", "byte-at-a-time":
		return "Pass it a bufio.Writer on " + at + " and flush that."
	case "small-reads":
		return "Pass it a bufio.Reader on " + at + "."
	}
	return ""
}

// issue returns a text for the module's maintainers.
func issue(f *diagnose.Finding, r *Result) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: %s\n\n", f.Function, lowerFirst(f.Title))
	fmt.Fprintf(&b, "Module %s %s, %s:%d.\n\n%s\n\n", f.Module, f.Version, f.File, f.Line, f.Cause)
	if f.Source != "" {
		fmt.Fprintf(&b, "    %s\n\n", strings.TrimSpace(f.Source))
	}
	b.WriteString("## Profile\n\n")
	if c := f.Cost.WithGC; c != nil {
		fmt.Fprintf(&b, "%.1f to %.1f %% of the program's CPU, garbage collection included (95 %%).\n", 100*c.Low, 100*c.High)
	}
	if s := f.Cost.AllocBytesShare; s != nil {
		fmt.Fprintf(&b, "%.1f %% of all allocated bytes.\n", 100**s)
	}
	b.WriteString("\n| line | function | share |\n|---|---|---|\n")
	for _, s := range f.Sites {
		if s.Role != "" { // the text contains none of the caller's code
			continue
		}
		fmt.Fprintf(&b, "| %s:%d | %s | %.1f %% |\n", s.File, s.Line, strings.ReplaceAll(s.Function, "|", "\\|"), 100*s.Share)
	}
	if len(f.Evidence) > 0 {
		b.WriteString("\n")
	}
	for _, e := range f.Evidence {
		fmt.Fprintf(&b, "- %s: %s\n", e.What, e.Value)
	}
	advice, _, _ := strings.Cut(f.Fix, " The line belongs to ")
	fmt.Fprintf(&b, "\n## What to change\n\n%s\n", advice)
	if x := r.Fork; x != nil && x.Diff != "" {
		fmt.Fprintf(&b, "\n```diff\n%s```\n\n", x.Diff)
		if x.Risk != rewrite.Judgement {
			fmt.Fprintf(&b, "Old and new do the same: %s. ", x.Why)
		}
		fmt.Fprintf(&b, "The tests of the package %s.\n", x.Tests)
		writeTrial(&b, x)
	}
	fmt.Fprintf(&b, "\n## How it was measured\n\nBy hone, which records a program under load and attributes its cost to lines:\n\n    hone run %s\n", r.Target)
	if r.Fork != nil && r.Fork.Trial != nil {
		fmt.Fprintf(&b, "    hone try %s -with dep:%s=DIR-OF-THE-PATCHED-COPY\n", r.Target, f.Module)
	}
	return b.Bytes()
}

// writeTrial writes the rows of the trial that have a verdict.
func writeTrial(b *bytes.Buffer, x *Fork) {
	if x.Trial == nil || len(x.Trial.Outcomes) == 0 || x.Trial.Outcomes[0].Comparison == nil {
		return
	}
	fmt.Fprintf(b, "\n%d runs of each, interleaved:\n\n| metric | change | 95 %% |\n|---|---|---|\n", x.Trial.Runs)
	for _, row := range x.Trial.Outcomes[0].Comparison.Rows {
		if row.Ratio == nil || row.Verdict == compare.Unknown {
			continue
		}
		interval := ""
		if row.Low != nil && row.High != nil {
			interval = fmt.Sprintf("%+.1f to %+.1f %%", 100*(*row.Low-1), 100*(*row.High-1))
		}
		fmt.Fprintf(b, "| %s | %+.1f %% | %s |\n", row.Metric, 100*(*row.Ratio-1), interval)
	}
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
