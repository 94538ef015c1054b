package rules_test

import (
	"testing"

	formatthenappend "github.com/hone-go/hone/internal/diagnose/rules/format-then-append"
)

// TestEscapedThenWrittenShapes: escaped texts that are only written, and those that are kept or
// become a part of bytes.
func TestEscapedThenWrittenShapes(t *testing.T) {
	const head = "import (\n\t\"bufio\"\n\t\"fmt\"\n\t\"html\"\n\t\"io\"\n\t\"strings\"\n)\n\nvar _, _, _ = io.EOF, fmt.Sprint, bufio.NewWriter\n\nvar marks = strings.NewReplacer(\"<\", \"&lt;\")\n\nvar last = html.EscapeString(\"\")\n\ntype page struct{ b strings.Builder }\n\nfunc (p *page) text(s string) { p.b.WriteString(s) }"
	checkShapes(t, formatthenappend.Rule(), head, "html.EscapeString", 64, []shape{
		{"func F(b *strings.Builder, s string) { b.WriteString(html.EscapeString(s)) } @", "WriteString(w, text)"},
		{"func F(w io.Writer, s string) { io.WriteString(w, html.EscapeString(s)) } @", "WriteString(w, text)"},
		{"func F(w io.Writer, s string) { w.Write([]byte(html.EscapeString(s))) } @", "WriteString(w, text)"},
		{"func F(w io.Writer, s string) { fmt.Fprintf(w, \"<b>%s</b>\", html.EscapeString(s)) } @", "printed to a writer"},
		{"func F(w *bufio.Writer, s string) { w.WriteString(\"<b>\" + html.EscapeString(s) + \"</b>\") } @", "WriteString(w, text)"},
		{"func F(p *page, s string) { p.text(html.EscapeString(s)) } @", "WriteString(w, text)"},
		{"func F(w *bufio.Writer, s string) { w.WriteString(safe_N(s)) }\n\nfunc safe_N(s string) string {\n\treturn html.EscapeString(s) @\n}", "WriteString(w, text)"},
		{"func F(b *strings.Builder, s string) {\n\tlast = html.EscapeString(s) @\n\tb.WriteString(last)\n}", ""},
		{"func F(b []byte, s string) []byte { return append(b, html.EscapeString(s)...) } @", ""},
		{"func F(s string) string { return fmt.Sprintf(\"<b>%s</b>\", html.EscapeString(s)) } @", ""},
		{"func F(m map[string]int, s string) { m[html.EscapeString(s)]++ } @", ""},
	})
	checkShapes(t, formatthenappend.Rule(), head, "strings.(*Replacer).Replace", 64, []shape{
		{"func F(w io.Writer, s string) { io.WriteString(w, marks.Replace(s)) } @", "WriteString(w, text)"},
		{"func F(s string) string { return marks.Replace(s) } @", ""},
	})
}
