package render

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/screen"
	"github.com/hone-go/hone/profile/symbol"
)

// FindingsPage is the page of findings.
type FindingsPage struct {
	Report   *diagnose.Report
	Manifest recording.Manifest
	Top      int  // number of findings to draw; 0 = 10
	Verbose  bool // all evidence, hints in full, all notes
}

// defaultTop is how many findings the page shows by default.
const defaultTop = 10

// Findings draws the page of `hone run` and `hone findings`: a header with the program's figures,
// the ranked findings in code, then the settings and the other expensive lines.
func Findings(w io.Writer, p FindingsPage, s Style) {
	header(w, p, s)
	shown, generic := split(p.Report.Findings)
	settings := p.Report.Settings
	top := p.Top
	if top <= 0 {
		top = defaultTop
	}
	all, longest := len(shown)+len(settings), max(len(shown), len(settings))
	none := !inCode(shown)
	shown, settings = shown[:min(top, len(shown))], settings[:min(top, len(settings))]
	rest := all - len(shown) - len(settings)
	fmt.Fprintln(w)
	if none {
		fmt.Fprintln(w, wrap(s.paint(strong, "No findings in the code.")+" "+silence(p), "", s.width()))
		if len(shown) > 0 {
			fmt.Fprintln(w, "About the program as a whole:")
		}
		fmt.Fprintln(w)
	}
	for i := range shown {
		finding(w, &shown[i], p, s)
	}
	if len(settings) > 0 {
		fmt.Fprintf(w, "%s\n\n", s.paint(strong, "Settings to try")+s.paint(faint, "  how the program is built and run, not its code"))
		for i := range settings {
			finding(w, &settings[i], p, s)
		}
	}
	otherLines(w, generic, p, s)
	footer(w, p, longest, rest, s)
}

// fewSamples is the number of CPU samples below which no finding is reliable: the share of a line
// that takes half of the CPU is not known to within ±10 %.
const fewSamples = 20

// silence says why there is no finding.
func silence(p FindingsPage) string {
	m := p.Manifest
	if n := p.Report.Resources.CPUSamples; n < fewSamples {
		if m.Load == nil && m.Target.Kind != "program" && m.Target.Kind != "bench" {
			return "The program had almost nothing to do while hone recorded it: send it requests with -load."
		}
		return "The CPU profile has too few samples: give the program more work, or a longer -duration."
	}
	return "None of the mistakes that hone knows costs enough here to be worth fixing."
}

// inCode reports whether any finding is about a line rather than the program as a whole.
func inCode(fs []diagnose.Finding) bool {
	for _, f := range fs {
		if f.File != "" {
			return true
		}
	}
	return false
}

// finding draws one finding: headline, location, source, why, fix, evidence.
func finding(w io.Writer, f *diagnose.Finding, p FindingsPage, s Style) {
	number := fmt.Sprintf("%2s", f.Label())
	line(w, "%s  %s", s.paint(strong, number), headline(f, s))
	const indent = "    "
	if f.File != "" || !f.Setting {
		line(w, "%s", indent+placeLine(f, s))
	}
	for _, line := range sourceLines(f, s) {
		fmt.Fprintln(w, indent+line)
	}
	part := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s%s  %s\n", indent, s.paint(faint, padRight(name, 4)), wrap(text, indent+"      ", s.width()))
		}
	}
	part("why", f.Cause)
	for _, line := range patchLines(f, p.Verbose, s) {
		fmt.Fprintln(w, indent+line)
	}
	part("fix", f.Fix)
	part("with", withLine(f))
	part("cost", costLine(f))
	part("try", triedLine(f))
	for i := range f.Also {
		part("also", alsoLine(&f.Also[i]))
	}
	for i, e := range f.Evidence {
		if i > 0 && !p.Verbose {
			break
		}
		if p.Verbose || e.Command == "" {
			part("seen", e.What+": "+e.Value)
		}
		if e.Command != "" { // never wrapped, so that it can be copied
			line(w, "%s%s  %s", indent, s.paint(faint, "see "), s.paint(code, e.Command))
		}
	}
	fmt.Fprintln(w)
}

// withLine names the findings that a fix of this one also removes, or whose fix removes this one.
func withLine(f *diagnose.Finding) string {
	switch {
	case f.SavingWith != nil && f.Saving != nil:
		var gone []string
		if len(f.Includes) > 0 {
			gone = append(gone, ranks(f.Includes))
		}
		for _, p := range f.IncludesPart {
			gone = append(gone, fmt.Sprintf("%s of %d", percent(p.Share), p.Rank))
		}
		return fmt.Sprintf("fixing this also removes %s; without them it saves %s of %s (%s)",
			funcname.List(gone), percent(f.Saving.Share), resource(f.Saving), span(f.Saving.Low, f.Saving.High))
	case len(f.IncludedIn) > 0:
		return "fixing " + ranks(f.IncludedIn) + " also removes this"
	}
	return ""
}

// ranks lists ranks in words, with ranges for three and more in a row: "2, 4 to 6 and 9".
func ranks(of []int) string {
	var words []string
	for i := 0; i < len(of); {
		j := i
		for j+1 < len(of) && of[j+1] == of[j]+1 {
			j++
		}
		if j > i+1 {
			words = append(words, fmt.Sprintf("%d to %d", of[i], of[j]))
			i = j + 1
			continue
		}
		words = append(words, strconv.Itoa(of[i]))
		i++
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// alsoLine returns a line about a finding that is too small for an entry of its own, and in the
// same function as another.
func alsoLine(f *diagnose.Finding) string {
	text := fmt.Sprintf("line %d: %s", f.Line, f.Title)
	if f.Saving != nil {
		text += fmt.Sprintf(", saves %s of %s (%s)", percent(f.Saving.Share), resource(f.Saving), span(f.Saving.Low, f.Saving.High))
	}
	return text + ". " + f.Fix
}

// sourceLines draws the finding's lines, most expensive first, each with its share.
func sourceLines(f *diagnose.Finding, s Style) []string {
	var rows [][]string
	for _, line := range f.Sites {
		if line.Source != "" && line.Role == "" && len(rows) < maxSourceLines {
			rows = append(rows, []string{
				s.paint(faint, fmt.Sprintf("%5d │", line.Line)),
				s.paint(code, clip(strings.TrimSpace(line.Source), s.width()-30)) + " ",
				s.paint(faint, percent(line.Share)),
			})
		}
	}
	return append(table(rows, " "), roleLines(f, s)...)
}

// maxPatchLines is the largest number of lines of a patch that the page shows.
const maxPatchLines = 10

// patchLines draws what a newer release changed in a function.
func patchLines(f *diagnose.Finding, all bool, s Style) []string {
	if f.Patch == nil {
		return nil
	}
	lines := f.Patch.Lines
	if !all {
		lines = lines[:min(len(lines), maxPatchLines)]
	}
	var rows [][]string
	for _, l := range lines {
		number, role := "", faint
		if l.Line > 0 {
			number = strconv.Itoa(l.Line)
		}
		switch l.Op {
		case "+":
			role = good
		case "-":
			role = strong
		}
		rows = append(rows, []string{s.paint(faint, fmt.Sprintf("%5s │", number)), s.paint(role, clip(l.Op+" "+patchText(l), s.width()-20))})
	}
	out := append([]string{s.paint(faint, "      in "+screen.Line(f.Patch.Release)+":")}, table(rows, " ")...)
	if n := len(f.Patch.Lines) - len(lines); n > 0 {
		out = append(out, s.paint(faint, fmt.Sprintf("      … %d more lines with -v", n)))
	}
	return out
}

// patchText is the text of a line with narrow indentation, escaped.
func patchText(l rule.PatchLine) string {
	return screen.Line(strings.ReplaceAll(strings.TrimRight(l.Text, " \t\r"), "\t", "  "))
}

// roleLines returns the callers of a finding's line, the lines below it where the time goes, and
// the go statements of goroutines that wait there.
func roleLines(f *diagnose.Finding, s Style) []string {
	var rows [][]string
	for _, l := range f.Sites {
		words := map[diagnose.Role]string{diagnose.RoleCaller: "from", diagnose.RoleInside: "inside", diagnose.RoleCreator: "started"}[l.Role]
		if words == "" {
			continue
		}
		share := percent(l.Share)
		if l.Role == diagnose.RoleCreator {
			share = "" // it costs next to nothing
		}
		at := fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line)
		rows = append(rows, []string{s.paint(faint, fmt.Sprintf("%7s", words)), at, s.paint(code, clip(strings.TrimSpace(l.Source), s.width()-50)) + " ", s.paint(faint, share)})
	}
	return table(rows, " ")
}

// maxSourceLines is the largest number of a finding's lines that the page shows.
const maxSourceLines = 4

func headline(f *diagnose.Finding, s Style) string {
	h := s.paint(strong, f.Title)
	if saves := f.Whole(); saves != nil {
		h += s.paint(good, fmt.Sprintf("  saves %s of %s", percent(saves.Share), resource(saves))) +
			s.paint(faint, fmt.Sprintf(" (95 %%: %s)", span(saves.Low, saves.High)))
	}
	tied := ""
	if len(f.TiedWith) > 0 {
		tied = ", tied with " + strings.Join(f.Ties(), ", ")
	}
	return h + s.paint(faint, "  "+string(f.Confidence)+tied)
}

// resource returns what a saving is a share of.
func resource(s *diagnose.Saving) string {
	if s.Resource == "cpu" {
		return "CPU"
	}
	return cmp.Or(s.Of, s.Resource)
}

func placeLine(f *diagnose.Finding, s Style) string {
	if f.File == "" {
		return s.paint(faint, "the whole program")
	}
	line := s.paint(strong, placeOf(f)) + "  " + typed(f.Function)
	if f.Entry != nil {
		line += s.paint(faint, fmt.Sprintf("  called from %s:%d", filepath.Base(f.Entry.File), f.Entry.Line))
	}
	return line
}

func costLine(f *diagnose.Finding) string {
	var parts []string
	share := func(name string, x *float64) {
		if x != nil && *x >= 0.0005 { // less would be printed as 0.0 %
			parts = append(parts, name+" "+percent(*x))
		}
	}
	share("CPU", f.Cost.CPUShare)
	gc := "its GC work"
	if f.Setting {
		gc = "all GC work"
	}
	share(gc, f.Cost.GCShare)
	share("allocated bytes", f.Cost.AllocBytesShare)
	if f.Cost.ObjectsAtLeast {
		share("allocated objects at least", f.Cost.AllocObjectsShare)
	} else {
		share("allocated objects", f.Cost.AllocObjectsShare)
	}
	share("lock and channel waiting", f.Cost.WaitShare)
	if f.Cost.LiveBytes != nil && *f.Cost.LiveBytes > 0 {
		parts = append(parts, "live "+size(float64(*f.Cost.LiveBytes)))
	}
	return strings.Join(parts, " · ")
}

// triedLine returns the result of a trial of the fix, beside the prediction.
func triedLine(f *diagnose.Finding) string {
	t := f.Tried
	if t == nil {
		return ""
	}
	var text string
	switch {
	case t.Metric == "":
		return "not measured: " + strings.Split(t.Why, "\n")[0]
	case t.Gain:
		text = fmt.Sprintf("proved: with the fix alone %s falls by %s", t.Metric, percent(t.Share))
	default:
		text = fmt.Sprintf("tried, no gain: %s; %s changes by %s", strings.Split(t.Why, "\n")[0], t.Metric, signedPercent(-t.Share))
	}
	text += fmt.Sprintf(" (95 %%: %s; %d runs of each)", span(t.Low, t.High), t.Runs)
	if s := f.Whole(); s != nil && s.Resource == t.Metric {
		text += fmt.Sprintf("; predicted %s (%s)", percent(s.Share), span(s.Low, s.High))
	}
	return text
}

// clip shortens text to width columns.
func clip(text string, width int) string {
	r := []rune(text)
	if len(r) <= width {
		return text
	}
	return string(r[:width-1]) + "…"
}

// footer draws what the page leaves out, and the notes. -top longest shows the rest of the
// findings.
func footer(w io.Writer, p FindingsPage, longest, rest int, s Style) {
	if rest > 0 {
		fmt.Fprintf(w, "%s more with -top %d.\n", plural(rest, "finding"), longest)
	}
	if n := p.Report.Hidden.BelowFloor; n > 0 {
		fmt.Fprintf(w, "%s below the floor (%s of CPU) not shown.\n", plural(n, "finding"), percent(p.Report.Hidden.Floor))
	}
	silenced(w, p, s)
	if j := p.Report.Join; j != nil && p.Verbose {
		for _, u := range j.Unjoined {
			fmt.Fprintln(w, s.paint(faint, "not joined: ")+wrap(fmt.Sprintf("%s of CPU, %s of bytes: %s; %s", percent(u.CPU), percent(u.Bytes), u.What, u.Why), "      ", s.width()))
		}
	}
	trouble := p.Manifest.Trouble() // which the header shows
	for _, note := range p.Report.Notes {
		if trouble != "" && (note == trouble || strings.HasSuffix(note, ": "+trouble)) {
			continue
		}
		fmt.Fprintln(w, s.paint(faint, "note: ")+wrap(note, "      ", s.width()))
	}
	for _, text := range missing(p) {
		fmt.Fprintln(w, s.paint(faint, "note: ")+wrap(text, "      ", s.width()))
	}
}

// silenced counts the findings that the user silenced; with -v it lists them with their reasons.
func silenced(w io.Writer, p FindingsPage, s Style) {
	list, off := p.Report.Silenced, p.Report.RulesOff
	if len(list) > 0 {
		hint := ""
		if !p.Verbose {
			hint = " (-v lists them)"
		}
		fmt.Fprintf(w, "%s silenced by comments or hone.json%s.\n", plural(len(list), "finding"), hint)
	}
	if p.Verbose {
		for _, x := range list {
			at := "the program"
			if x.Function != "" {
				at = fmt.Sprintf("%s (%s:%d)", x.Function, x.File, x.Line)
			}
			fmt.Fprintln(w, s.paint(faint, "silenced: ")+wrap(fmt.Sprintf("%s in %s, %s of CPU; %s: %s", x.Rule, at, percent(x.Share), x.By, x.Reason), "      ", s.width()))
		}
	}
	if len(off) > 0 {
		text := plural(len(off), "rule") + " off"
		if p.Verbose || len(off) <= 5 {
			text += ": " + strings.Join(off, ", ")
		}
		fmt.Fprintln(w, wrap(text+".", "", s.width()))
	}
}

// missing describes the parts that the recording does not have. Parts with the same remedy share a
// line, because they have the same cause.
func missing(p FindingsPage) []string {
	var lines, remedies []string
	parts := map[string][]string{}
	why := map[string]string{}
	for _, x := range p.Manifest.Missing {
		if !p.Verbose && (expectedMissing(p.Manifest, x) || noted(p.Report.Notes, x.Part)) {
			continue
		}
		remedy := cmp.Or(x.How, x.Why)
		if len(parts[remedy]) == 0 {
			remedies = append(remedies, remedy)
			why[remedy] = x.Why
		}
		parts[remedy] = append(parts[remedy], x.Part)
	}
	for _, remedy := range remedies {
		line := "missing " + strings.Join(parts[remedy], ", ") + ": " + why[remedy]
		if remedy != why[remedy] {
			line += "; " + remedy
		}
		lines = append(lines, line)
	}
	return lines
}

// noted reports whether a note of the diagnosis already names a part.
func noted(notes []string, part string) bool {
	return slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, part) })
}

// expectedMissing reports whether a part is missing as a rule: ordinary runtimes do not have it, or
// the program exited before a snapshot was taken. Such parts are shown with -v only.
func expectedMissing(m recording.Manifest, x recording.Missing) bool {
	switch x.Part {
	case recording.PartLeaks:
		return true
	case recording.PartGoroutine, recording.PartGoroutineTxt, recording.PartThreads:
		return m.Target.Kind == "program" || m.Target.Kind == "bench"
	}
	return false
}

// typed returns a function's name with type arguments as the source has them, if it has some; long
// ones are left out.
func typed(function string) string {
	if !strings.Contains(function, "[") {
		return function
	}
	return symbol.Readable(function)
}
