package render

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"
)

func reportPage() ReportPage {
	return ReportPage{FindingsPage: page(), Flame: `<!doctype html><p title="a & b">flame && "graph"</p>`, Trace: "what stands out <b>"}
}

// TestReportHTML: the page loads nothing from elsewhere, shows every finding, and treats what comes
// from profiles as text.
func TestReportHTML(t *testing.T) {
	p := reportPage()
	p.Report.Findings[0].Function = `main.<script>alert("x")</script>`
	var out bytes.Buffer
	if err := ReportHTML(&out, p); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{
		"String built by concatenation in a loop", `<div class="bar"`, "95 %:", `id="phases"`, "what stands out &lt;b&gt;", "s = string(c) &#43; s",
		`srcdoc="&lt;!doctype html&gt;&lt;p title=&#34;a &amp; b&#34;&gt;flame &amp;&amp; &#34;graph&#34;&lt;/p&gt;"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for _, never := range []string{"<script", "ZgotmplZ"} {
		if strings.Contains(text, never) {
			t.Errorf("%s in the page", never)
		}
	}
	if m := regexp.MustCompile(`(?i)(src|href)\s*=\s*"[^#"][^"]*"|url\(|@import`).FindString(text); m != "" {
		t.Errorf("the page refers to something outside: %s", m)
	}
	p.NoSource = true
	out.Reset()
	if err := ReportHTML(&out, p); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), `class="source"`) || strings.Contains(out.String(), "s = string(c)") {
		t.Error("source text with NoSource")
	}
	p.Names = func(string) string { return "XYZ" }
	out.Reset()
	if err := ReportHTML(&out, p); err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Report.Findings {
		for _, name := range []string{f.Function, f.File, p.Manifest.Target.Arg} {
			if name != "" && strings.Contains(out.String(), html.EscapeString(name)) {
				t.Errorf("%s with Names", name)
			}
		}
	}
	if !strings.Contains(out.String(), "XYZ") {
		t.Error("nothing is called by Names")
	}
}

// TestReportMarkdown: names and sentences cannot become markup.
func TestReportMarkdown(t *testing.T) {
	p := reportPage()
	p.Report.Findings[0].Cause = "It takes [x](http://example.com) <img src=y> `a` | b\n# head"
	p.Report.Findings[0].Sites[0].Source = "s = \"```\""
	var out bytes.Buffer
	if err := ReportMarkdown(&out, p); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{
		"## hone: ./cmd/server", "#### 1. String built by concatenation in a loop", "````go\ns = \"```\"", "**Fix** ",
		"It takes \\[x\\](http://example.com) &lt;img src=y&gt; \\`a\\` \\| b \\# head",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
