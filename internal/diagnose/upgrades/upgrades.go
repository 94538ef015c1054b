package upgrades

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/gocode/changed"
	"github.com/hone-go/hone/internal/recording"
)

// mostComments is how many new comments of the newer release are quoted.
const mostComments = 2

// Sources returns the source of both releases of a module; false without a module cache.
func Sources(code *gocode.Index, m recording.ModuleUpgrade) (from, to changed.Release, ok bool) {
	a, ok := code.ModuleDir(m.Path, m.From)
	b, _ := code.ModuleDir(m.Path, m.To)
	return changed.Release{Module: m.Path, Version: m.From, Dir: a}, changed.Release{Module: m.Path, Version: m.To, Dir: b}, ok
}

// Words says what a release changed in a function, in sentences; "" if nothing that it does
// differs. measure, which may be nil, knows the cost of the old function's lines.
func Words(c *changed.Change, release string, measure changed.Measure) string {
	gone, now := c.Words(measure)
	var sentences []string
	if !c.Removed && (gone != "" || now != "") {
		name := c.Name
		if c.Now != "" {
			name += ", which is " + c.Now + " now"
		}
		sentences = append(sentences, fmt.Sprintf("%s changed %s.", release, name))
	}
	for _, s := range []string{gone, now} {
		if s != "" {
			sentences = append(sentences, s)
		}
	}
	if len(sentences) == 0 {
		return ""
	}
	for _, s := range c.Comments[:min(len(c.Comments), mostComments)] {
		if strings.Contains(now, strings.TrimSuffix(s, ".")) { // it stands with a declaration
			continue
		}
		sentences = append(sentences, fmt.Sprintf("A comment there says: %q.", strings.TrimSuffix(s, ".")))
	}
	return strings.Join(sentences, " ")
}

// Beside says what a release changed in other functions of a function's package that ran, in
// sentences; "" if nothing there tells much.
func Beside(code *gocode.Index, m recording.ModuleUpgrade, function string, measure changed.Measure) string {
	from, to, ok := Sources(code, m)
	if !ok {
		return ""
	}
	list, err := changed.Beside(from, to, function)
	if err != nil {
		return ""
	}
	var sentences []string
	for i := range list {
		if words := Words(&list[i], m.To, measure); words != "" && list[i].Ran(measure) {
			sentences = append(sentences, words)
		}
	}
	return strings.Join(sentences, " ")
}

// Patch returns the lines that differ; nil if there are none.
func Patch(c *changed.Change, release string) *rule.Patch {
	if c == nil || len(c.Diff) == 0 {
		return nil
	}
	p := &rule.Patch{Release: release}
	for _, l := range c.Diff {
		p.Lines = append(p.Lines, rule.PatchLine{Op: string(rune(l.Op)), Line: l.Old, Text: l.Text})
	}
	return p
}

// In says what the newer release of a module changed in the function of that name; "" if that is
// not known.
func In(code *gocode.Index, m recording.ModuleUpgrade, function string) string {
	from, to, ok := Sources(code, m)
	if !ok {
		return ""
	}
	c, err := changed.Function(from, to, function)
	if err != nil {
		return ""
	}
	if words := Words(c, m.To, nil); words != "" {
		return words
	}
	if c.Same {
		return fmt.Sprintf("%s has the same function.", m.To)
	}
	return ""
}
