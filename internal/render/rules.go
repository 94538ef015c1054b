package render

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
)

// Rules draws the list of `hone rules`, by kind.
func Rules(w io.Writer, rules []rule.Rule, s Style) {
	width := 0
	for _, r := range rules {
		width = max(width, len(r.ID))
	}
	for i, kind := range kindsOf(rules) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, s.paint(strong, kind.Words()))
		for _, r := range ofKind(rules, kind) {
			fmt.Fprintf(w, "  %s  %s\n", s.paint(code, padRight(r.ID, width)), wrap(r.Title, strings.Repeat(" ", width+4), s.width()))
		}
	}
	fmt.Fprintf(w, "\n%s. hone rules NAME explains one.\n", plural(len(rules), "rule"))
}

// Rule draws one rule with its prose.
func Rule(w io.Writer, r rule.Rule, s Style) {
	fmt.Fprintf(w, "%s  %s\n", s.paint(strong, r.ID), r.Title)
	facts := r.Kind.Words()
	if len(r.Needs) > 0 {
		facts += " · needs " + needs(r)
	}
	fmt.Fprintf(w, "%s\n\n%s\n", s.paint(faint, facts), strings.TrimSpace(r.Doc))
}

// RulesJSON is the form of `hone rules -json`.
func RulesJSON(rules []rule.Rule) any {
	type ruleJSON struct {
		ID    string    `json:"id"`
		Kind  rule.Kind `json:"kind"` // as in findings
		Title string    `json:"title"`
		Doc   string    `json:"doc"`             // why it costs, what to do, when it is fine
		Needs string    `json:"needs,omitempty"` // beside the profiles of CPU and allocations
	}
	list := []ruleJSON{}
	for _, r := range rules {
		list = append(list, ruleJSON{r.ID, r.Kind, r.Title, strings.TrimSpace(r.Doc), needs(r)})
	}
	return struct {
		Schema string     `json:"schema"`
		Rules  []ruleJSON `json:"rules"`
	}{"hone/rules/v1", list}
}

// RulesMarkdown writes the catalogue of rules, a paragraph each: docs/rules.md.
func RulesMarkdown(w io.Writer, rules []rule.Rule) {
	fmt.Fprintf(w, `# Rules

The mistakes that hone knows, %d of them, by what they cost. Made by
`+"`hone rules -markdown`"+`: change the rule's own words, in its folder below
`+"`internal/diagnose/rules`"+`, not this page. `+"`hone rules NAME`"+` tells more of one: what to do,
and when it is fine.

Every rule looks at the profiles of CPU and allocations, and most at the source and at
what the compiler decided. What one needs besides is said with it.
`, len(rules))
	for _, kind := range kindsOf(rules) {
		words := kind.Words()
		fmt.Fprintf(w, "\n## %s\n", strings.ToUpper(words[:1])+words[1:])
		for _, r := range ofKind(rules, kind) {
			why, seen := digest(r.Doc)
			if len(r.Needs) > 0 {
				why += " *Needs " + needs(r) + ".*"
			}
			fmt.Fprintf(w, "\n**%s**: %s.\n%s %s\n", r.ID, markdown(r.Title), why, seen)
		}
	}
}

// digest takes from a rule's prose why it costs, and where it was seen.
func digest(doc string) (why, seen string) {
	for i, p := range strings.Split(strings.TrimSpace(doc), "\n\n") {
		text := markdown(strings.Join(strings.Fields(p), " "))
		switch {
		case i == 0:
			why = text
		case strings.HasPrefix(p, "Seen in the field:"):
			seen = text
		}
	}
	return why, seen
}

// reference is an issue of a repository as prose names it: "golang/go#31588".
var reference = regexp.MustCompile(`\b([\w.-]+/[\w.-]+)#(\d+)\b`)

// markdown keeps the signs of code from being taken for formatting, and links references.
func markdown(text string) string {
	text = strings.NewReplacer(`*`, `\*`, `_`, `\_`, `<`, `\<`, `[`, `\[`, `]`, `\]`, "`", "\\`").Replace(text)
	return reference.ReplaceAllString(text, "[$1#$2](https://github.com/$1/issues/$2)")
}

func needs(r rule.Rule) string {
	words := make([]string, len(r.Needs))
	for i, n := range r.Needs {
		words[i] = string(n)
	}
	return funcname.List(words)
}

// kindsOf lists the kinds that have rules.
func kindsOf(rules []rule.Rule) []rule.Kind {
	var kinds []rule.Kind
	for _, k := range rule.Kinds() {
		if len(ofKind(rules, k)) > 0 {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func ofKind(rules []rule.Rule, kind rule.Kind) []rule.Rule {
	var found []rule.Rule
	for _, r := range rules {
		if r.Kind == kind {
			found = append(found, r)
		}
	}
	return found
}
