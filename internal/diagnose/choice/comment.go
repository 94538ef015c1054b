package choice

import (
	"fmt"
	"strings"
)

// directive is the start of a comment that silences a finding, after "//".
const directive = "hone:ignore"

// Comment is a directive in source.
type Comment struct {
	Line   int
	Rules  []string // names as in a list of rules, without a minus
	Reason string
}

// ParseComment parses the text of a comment, or of a line of source that may end in one. ok reports
// whether it holds a directive, err why the directive silences nothing.
func ParseComment(text string, line int, known Known) (c Comment, ok bool, err error) {
	_, rest, found := strings.Cut(text, "//"+directive)
	if !found || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return c, false, nil
	}
	rules, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
	c = Comment{Line: line, Rules: strings.Split(rules, ","), Reason: strings.TrimSpace(reason)}
	for _, name := range c.Rules {
		if _, err := known.named(name); err != nil {
			return c, true, fmt.Errorf("//%s: %w", directive, err)
		}
	}
	if c.Reason == "" {
		return c, true, fmt.Errorf("//%s %s: want a reason after the rule", directive, rules)
	}
	return c, true, nil
}

// Covers reports whether a comment names a rule.
func (c Comment) Covers(known Known, id string) bool {
	for _, name := range c.Rules {
		if known.Is(name, id) {
			return true
		}
	}
	return false
}
