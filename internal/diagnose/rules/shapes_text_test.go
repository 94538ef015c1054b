package rules_test

import (
	"testing"

	fmtthenbytes "github.com/hone-go/hone/internal/diagnose/rules/fmt-then-bytes"
	foldcompare "github.com/hone-go/hone/internal/diagnose/rules/fold-compare"
)

// TestFmtThenBytesShapes: what gets a formatted text, and could format it itself.
func TestFmtThenBytesShapes(t *testing.T) {
	const head = "import (\n\t\"bytes\"\n\t\"fmt\"\n\t\"io\"\n\t\"log\"\n)\n\nvar _, _ = bytes.Equal, log.Print"
	checkShapes(t, fmtthenbytes.Rule(), head, "fmt.Sprintf", 64, []shape{
		{"func F(w io.Writer, n int) { w.Write([]byte(fmt.Sprintf(\"%d\", n))) } @", "Use fmt.Fprintf(w, …)"},
		{"func F(b []byte, n int) []byte { return append(b, fmt.Sprintf(\"%d\", n)...) } @", "Use fmt.Appendf(b, …)"},
		{"func F(b []byte, n int) []byte {\n\ts := fmt.Sprintf(\"%d\", n) @\n\tb = append(b, s...)\n\treturn b\n}", "Use fmt.Appendf(b, …)"},
		{"func F(w io.Writer, n int) { fmt.Fprint(w, fmt.Sprintf(\"%d\", n)) } @", "Use fmt.Fprintf(w, …)."},
		{"func F(w io.Writer, n int) { fmt.Fprintln(w, fmt.Sprintf(\"%d\", n)) } @", "with \"\\n\" at the end"},
		{"func F(n int) { fmt.Println(fmt.Sprintf(\"%d\", n)) } @", "Use fmt.Printf(…), with"},
		{"func F(n int) { log.Println(fmt.Sprintf(\"%d\", n)) } @", "Use log.Printf(…)."},
		{"func F(l *log.Logger, n int) { l.Print(fmt.Sprintf(\"%d\", n)) } @", "Use l.Printf(…)."},
		{"func F(n int) *bytes.Buffer { return bytes.NewBufferString(fmt.Sprintf(\"%d\", n)) } @", "bytes.NewBuffer(fmt.Appendf(nil, …))"},
		{"func F(n int) { fmt.Println(\"a\", fmt.Sprintf(\"%d\", n)) } @", ""},
		{"func F(all []string, n int) []string { return append(all, fmt.Sprintf(\"%d\", n)) } @", ""},
		{"func F(b []byte, n int) ([]byte, string) {\n\ts := fmt.Sprintf(\"%d\", n) @\n\tb = append(b, s...)\n\treturn b, s\n}", ""},
	})
	checkShapes(t, fmtthenbytes.Rule(), head, "fmt.Sprint", 64, []shape{
		{"func F(w io.Writer, n int) { fmt.Fprint(w, fmt.Sprint(\"n\", n)) } @", "Use fmt.Fprint(w, …)."},
		{"func F(w io.Writer, n int) { fmt.Fprintln(w, fmt.Sprint(\"n\", n)) } @", ""},
	})
}

// TestFoldCompareShapes: comparisons of converted texts by operators and by calls.
func TestFoldCompareShapes(t *testing.T) {
	const head = "import (\n\t\"bytes\"\n\t\"strings\"\n)\n\nvar _, _ = bytes.Equal, strings.Contains"
	checkShapes(t, foldcompare.Rule(), head, "unicode.ToLower strings.Map strings.ToLower", 0, []shape{
		{"func F(a, b string) bool { return strings.ToLower(a) == strings.ToLower(b) } @", "strings.EqualFold(a, b)"},
		{"func F(s string) bool {\n\ts = strings.ToLower(s) @\n\treturn s == \"a\" || s == \"b\"\n}", "compare it with 2 texts"},
		{"func F(s string) bool {\n\tprintln(s)\n\ts = strings.ToLower(s) @\n\treturn s == \"a\"\n}", "compare it with 1 text"},
		{"func F(s string) string {\n\ts = strings.ToLower(s) @\n\tif s == \"a\" { return \"\" }\n\treturn s\n}", ""},
		{"func F(a, b string) bool { return strings.EqualFold(strings.ToLower(a), b) } @", "strings.EqualFold ignores case itself"},
	})
	checkShapes(t, foldcompare.Rule(), head, "bytes.ToLower", 0, []shape{
		{"func F(a, b []byte) bool { return bytes.Equal(bytes.ToLower(a), bytes.ToLower(b)) } @", "bytes.EqualFold(a, b)"},
		{"func F(a, b []byte) bool { return bytes.Equal(bytes.ToLower(a), b) } @", ""},
		{"func F(a []byte) bool { return bytes.Equal(bytes.ToLower(a), []byte(\"gzip\")) } @", "bytes.EqualFold(a, []byte(\"gzip\"))"},
		{"func F(a []byte) bool { return string(bytes.ToLower(a)) == \"gzip\" } @", "strings.EqualFold(string(a), \"gzip\")"},
		{"func F(a []byte) bool { return bytes.HasPrefix(bytes.ToLower(a), []byte(\"bearer \")) } @", "bytes.EqualFold(a[:7], "},
		{"func F(a []byte) bool { return bytes.Contains(bytes.ToLower(a), []byte(\"gzip\")) } @", ""},
		{"func F(a []byte) string { return string(bytes.ToLower(a)) } @", ""},
	})
}
