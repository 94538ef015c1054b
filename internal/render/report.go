package render

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/recording"
)

// ReportPage is what `hone report` writes for people without hone: findings, pictures and phases.
type ReportPage struct {
	FindingsPage
	Flame    string // a whole HTML page, shown in a frame; "" for none
	Trace    string // what stands out in the execution trace, as text; "" for none
	NoSource bool   // leave source text out
	// Names, if set, replaces the names of functions and files in the page. The names of the
	// program and its load, and all source text, are then left out.
	Names func(name string) string
}

var (
	//go:embed report.html
	reportTemplate string
	//go:embed report.css
	reportStyle string
)

// reportView is the data of the template.
type reportView struct {
	Title, Trouble, Silence string
	Style                   template.CSS
	Rows                    [][2]string
	Findings, Settings      []reportFinding
	Others                  []reportFinding
	Phases                  [][]string
	Notes                   []string
	Flame                   template.HTMLAttr // the frame's page
	Trace                   string
}

// reportFinding is one card. Left and Width are the position of its saving's bar, in percent.
type reportFinding struct {
	*diagnose.Finding
	Number, Place, Saves, Span, Tied, With, Cost string
	Value, Left, Width                           float64
	Lines                                        [][3]string // line, source, share
	AlsoLines                                    []string
}

// ReportHTML writes one self-contained page that needs no network.
func ReportHTML(w io.Writer, p ReportPage) error {
	t, err := template.New("report").Parse(reportTemplate)
	if err != nil {
		return err
	}
	v := newReportView(p)
	v.Style = template.CSS(reportStyle)
	if p.Flame != "" {
		v.Flame = template.HTMLAttr(`srcdoc="` + html.EscapeString(p.Flame) + `"`)
	}
	return t.Execute(w, v)
}

func newReportView(p ReportPage) *reportView {
	if p.Names != nil {
		p.anonymize()
	}
	v := &reportView{Title: reportTitle(p.Manifest), Trace: p.Trace, Notes: p.Report.Notes}
	if trouble := p.Manifest.Trouble(); trouble != "" {
		v.Trouble = sentence(trouble)
	}
	for _, r := range headerRows(p.FindingsPage, Style{Width: 1 << 16}) { // the browser wraps lines
		if name := strings.TrimSpace(r[0]); p.Names == nil || slices.Contains(namelessRows(), name) {
			v.Rows = append(v.Rows, [2]string{name, r[1]})
		}
	}
	shown, generic := split(p.Report.Findings)
	if !inCode(shown) {
		v.Silence = silence(p.FindingsPage)
	}
	top := p.Top
	if top <= 0 {
		top = defaultTop
	}
	cards := func(list []diagnose.Finding) (cards []reportFinding) {
		for i := range list[:min(top, len(list))] {
			cards = append(cards, p.card(&list[i]))
		}
		return cards
	}
	v.Findings, v.Settings, v.Others = cards(shown), cards(p.Report.Settings), cards(generic)
	v.Phases = phaseRows(p.Manifest)
	return v
}

// namelessRows are the rows of the header that contain only figures.
func namelessRows() []string {
	return []string{"throughput", "service time", "latency", "a run", "CPU", "GC", "profiled", "overhead", "recorded in"}
}

// anonymize replaces the user's names, and leaves out everything that may contain one.
func (p *ReportPage) anonymize() {
	p.NoSource = true
	m := p.Manifest
	m.Target.Arg, m.Target.Args = "(names left out)", nil
	if m.Load != nil {
		load := *m.Load
		load.Targets = nil
		m.Load = &load
	}
	p.Manifest = m
	r := *p.Report
	r.Notes = []string{"The names of functions and files outside the standard library are replaced; text that may contain other names is left out."}
	nameless := func(list []diagnose.Finding) []diagnose.Finding {
		list = slices.Clone(list)
		for i := range list {
			f := &list[i]
			if f.Function != "" && p.Names(f.Function) != f.Function {
				dir, base := path.Split(filepath.ToSlash(f.File))
				f.File = p.Names(dir) + p.Names(base)
			}
			f.Function, f.Module = p.Names(f.Function), ""
			if f.Entry != nil {
				entry := *f.Entry
				entry.File = p.Names(path.Base(filepath.ToSlash(entry.File)))
				f.Entry = &entry
			}
		}
		return list
	}
	r.Findings, r.Settings = nameless(r.Findings), nameless(r.Settings)
	p.Report = &r
}

// impersonal replaces text that quotes source by the rule's documentation: its first paragraph says
// why, the second what to do.
func impersonal(f diagnose.Finding) diagnose.Finding {
	f.Cause, f.Fix, f.Evidence, f.Source, f.Patch = "", "", nil, "", nil
	if r, ok := diagnose.Explain(f.Rule); ok {
		f.Title = r.Title
		paragraphs := strings.Split(strings.TrimSpace(r.Doc), "\n\n")
		f.Cause = strings.Join(strings.Fields(paragraphs[0]), " ")
		f.Fix = "See hone rules " + r.ID + "."
		if len(paragraphs) > 1 && !strings.HasPrefix(paragraphs[1], "It is fine") && !strings.HasPrefix(paragraphs[1], "Seen in") {
			f.Fix = strings.Join(strings.Fields(paragraphs[1]), " ")
		}
	}
	return f
}

func (p ReportPage) card(f *diagnose.Finding) reportFinding {
	if p.NoSource {
		own := impersonal(*f)
		own.Also = nil
		for _, also := range f.Also {
			own.Also = append(own.Also, impersonal(also))
		}
		f = &own
	}
	c := reportFinding{Finding: f, Number: f.Label(), With: withLine(f), Cost: costLine(f), Tied: strings.Join(f.Ties(), ", ")}
	if f.File != "" || !f.Setting {
		c.Place = placeLine(f, Style{})
	}
	if s := f.Whole(); s != nil {
		c.Saves, c.Span = fmt.Sprintf("%s of %s", percent(s.Share), resource(s)), span(s.Low, s.High)
		bound := func(x float64) float64 { return 100 * max(0, min(1, x)) }
		c.Value, c.Left = bound(s.Share), bound(s.Low)
		c.Width = bound(s.High) - c.Left
	}
	for _, l := range f.Sites {
		if l.Source != "" && l.Role == "" && len(c.Lines) < maxSourceLines && !p.NoSource {
			c.Lines = append(c.Lines, [3]string{fmt.Sprint(l.Line), strings.TrimSpace(l.Source), percent(l.Share)})
		}
	}
	for i := range f.Also {
		c.AlsoLines = append(c.AlsoLines, alsoLine(&f.Also[i]))
	}
	return c
}

// phaseRows returns the phases of a recording with their load; the first row is the head.
func phaseRows(m recording.Manifest) [][]string {
	rows := [][]string{{"phase", "seconds", "requests/s", "p50", "p99", "CPU per " + m.Unit()}}
	for _, ph := range m.Phases {
		row := []string{ph.Name, significant(ph.Seconds), "", "", "", ""}
		n := float64(ph.Requests)
		if n > 0 && ph.Seconds > 0 {
			row[2] = group(n / ph.Seconds)
		}
		q := ph.Latency
		if q == nil {
			q = ph.Service
		}
		if q != nil {
			row[3], row[4] = seconds(q.P50), seconds(q.P99)
		}
		if n == 0 && m.Load == nil {
			n = float64(ph.Runs)
		}
		if n > 0 && ph.CPUSeconds > 0 && m.Target.Bench == "" {
			row[5] = seconds(ph.CPUSeconds / n)
		}
		rows = append(rows, row)
	}
	return rows
}

// ReportMarkdown writes the findings for a pull request or a ticket.
func ReportMarkdown(w io.Writer, p ReportPage) error {
	v := newReportView(p)
	var b strings.Builder
	fmt.Fprintf(&b, "## hone: %s\n\n", mdText(v.Title))
	if v.Trouble != "" {
		fmt.Fprintf(&b, "**%s**\n\n", mdText(v.Trouble))
	}
	b.WriteString("| | |\n|---|---|\n")
	for _, r := range v.Rows {
		fmt.Fprintf(&b, "| %s | %s |\n", mdText(r[0]), mdText(r[1]))
	}
	b.WriteByte('\n')
	if v.Silence != "" {
		fmt.Fprintf(&b, "**No findings in the code.** %s\n\n", mdText(v.Silence))
	}
	for _, c := range v.Findings {
		c.markdown(&b)
	}
	if len(v.Settings) > 0 {
		b.WriteString("### Settings to try\n\n")
		for _, c := range v.Settings {
			c.markdown(&b)
		}
	}
	if len(v.Notes) > 0 {
		b.WriteString("<details><summary>Notes</summary>\n\n")
		for _, n := range v.Notes {
			fmt.Fprintf(&b, "- %s\n", mdText(n))
		}
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *reportFinding) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "#### %s. %s", c.Number, mdText(c.Title))
	if c.Saves != "" {
		fmt.Fprintf(b, ": saves %s (95 %%: %s)", c.Saves, c.Span)
	}
	fmt.Fprintf(b, "\n\n*%s*", c.Confidence)
	if c.Place != "" {
		fmt.Fprintf(b, " · %s", mdText(c.Place))
	}
	b.WriteString("\n\n")
	if len(c.Lines) > 0 {
		var texts []string
		for _, l := range c.Lines {
			texts = append(texts, l[1])
		}
		fence := fenceOf(texts)
		fmt.Fprintf(b, "%sgo\n", fence)
		for _, l := range c.Lines {
			fmt.Fprintf(b, "%s  // line %s, %s\n", l[1], l[0], l[2])
		}
		fmt.Fprintf(b, "%s\n\n", fence)
	}
	fmt.Fprintf(b, "**Why** %s\n\n", mdText(c.Cause))
	c.patch(b)
	fmt.Fprintf(b, "**Fix** %s\n\n", mdText(c.Fix))
	for _, x := range []struct{ name, text string }{{"With", c.With}, {"Cost", c.Cost}} {
		if x.text != "" {
			fmt.Fprintf(b, "**%s** %s\n\n", x.name, mdText(x.text))
		}
	}
}

// patch writes what a newer release changed as a diff.
func (c *reportFinding) patch(b *strings.Builder) {
	if c.Patch == nil {
		return
	}
	var lines []string
	for _, l := range c.Patch.Lines {
		lines = append(lines, l.Text)
	}
	fence := fenceOf(lines)
	fmt.Fprintf(b, "In %s:\n\n%sdiff\n", mdText(c.Patch.Release), fence)
	for _, l := range c.Patch.Lines {
		fmt.Fprintf(b, "%s%s\n", l.Op, patchText(l))
	}
	fmt.Fprintf(b, "%s\n\n", fence)
}

// fenceOf returns the fence of a block of code that none of its lines contains.
func fenceOf(lines []string) string {
	fence := "```"
	for _, l := range lines {
		for strings.Contains(l, fence) {
			fence += "`"
		}
	}
	return fence
}

// mdText escapes what would be markup, so that names from profiles stay text.
func mdText(text string) string {
	return mdEscapes.Replace(text)
}

var mdEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "[", `\[`, "]", `\]`, "|", `\|`, "#", `\#`, "\n", " ", "\r", " ",
)
