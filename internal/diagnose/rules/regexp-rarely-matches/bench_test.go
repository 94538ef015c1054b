package regexprarelymatches

import (
	"regexp"
	"strings"
	"testing"
)

// BenchmarkTest compares an expression that does not match with a test for its literal, also in a
// lower-case copy.
func BenchmarkTest(b *testing.B) {
	re, folded := regexp.MustCompile(`(\d+)ms .*timeout`), regexp.MustCompile(`(?i)(\d+)ms .*timeout`)
	line := "2024-05-06 07:08:09 Worker 3 took 21ms for request 77, answered with status 200 "
	for _, t := range []struct{ name, text string }{{"20", line[:20]}, {"80", line}, {"8000", strings.Repeat(line, 100)}} {
		for name, match := range map[string]func() bool{
			"engine":  func() bool { return re.MatchString(t.text) },
			"literal": func() bool { return strings.Contains(t.text, "timeout") },
			"folded":  func() bool { return folded.MatchString(t.text) },
			"lower":   func() bool { return strings.Contains(strings.ToLower(t.text), "timeout") },
		} {
			b.Run(t.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if match() {
						b.Fatal("matches")
					}
				}
			})
		}
	}
}
