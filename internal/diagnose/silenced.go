package diagnose

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/choice"
	"github.com/hone-go/hone/internal/diagnose/rule"
)

// Choice is which rules the user turned off and which findings the user silenced.
type Choice struct {
	Rules string       // a list of rules as in -rules; "" for that of File
	File  *choice.File // nil when there is none
}

// CheckRules returns an error when a list of rules names something that does not exist.
func CheckRules(list string) error {
	_, err := choice.KnownRules(Rules()).Off(list)
	return err
}

// Silenced is a finding that the user silenced.
type Silenced struct {
	Rule     string `json:"rule"`
	Function string `json:"function"` // "" for the program as a whole
	File     string `json:"file"`     // relative to its module
	Line     int    `json:"line"`
	By       string `json:"by"` // file and line of the comment, or the path of hone.json
	Reason   string `json:"reason"`
	// Share is its cost as a share of all CPU, with the collector's work for it.
	Share float64 `json:"cpu_share"`
}

// silencer decides whether a claim is silenced.
type silencer struct {
	pass  *rule.Pass
	known choice.Known
	file  *choice.File
	said  map[claimPlace]muting
	notes []string
}

// claimPlace is the position of a claim.
type claimPlace struct {
	rule, file string
	line       int
}

// muting is why a claim is silenced; zero when it is not.
type muting struct{ by, reason string }

// chosen returns the rules that run and those that are off.
func (c Choice) chosen(rules []rule.Rule) (run []rule.Rule, off []string, err error) {
	list := c.Rules
	if list == "" && c.File != nil {
		list = c.File.Rules
	}
	off, err = choice.KnownRules(rules).Off(list)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rules {
		if !slices.Contains(off, r.ID) {
			run = append(run, r)
		}
	}
	return run, off, nil
}

// muted returns what silences a claim: a comment on its line, the line above or its function, or
// hone.json.
func (s *silencer) muted(c *claim) muting {
	at := claimPlace{rule: c.rule.ID}
	if site := c.match.Site; site != nil {
		at.file, at.line = site.File, site.Line
	}
	m, ok := s.said[at]
	if !ok {
		m = s.judge(c)
		s.said[at] = m
	}
	return m
}

func (s *silencer) judge(c *claim) muting {
	file, function := "", ""
	if site := c.match.Site; site != nil {
		file, function = site.Owner.File, site.Function
		for _, comment := range s.comments(c) {
			if comment.Covers(s.known, c.rule.ID) {
				return muting{fmt.Sprintf("%s:%d", filepath.Base(site.File), comment.Line), comment.Reason}
			}
		}
	}
	if s.file == nil {
		return muting{}
	}
	for _, g := range s.file.Ignore {
		if g.Covers(s.known, c.rule.ID, file, function) {
			return muting{s.file.Path, g.Reason}
		}
	}
	return muting{}
}

// comments returns the directives on a claim's line, on the line above and on its function.
func (s *silencer) comments(c *claim) []choice.Comment {
	site := c.match.Site
	var found []choice.Comment
	add := func(text string, line int) {
		comment, ok, err := choice.ParseComment(text, line, s.known)
		switch {
		case err != nil:
			note := fmt.Sprintf("%s:%d silences nothing: %v", filepath.Base(site.File), line, err)
			if !slices.Contains(s.notes, note) {
				s.notes = append(s.notes, note)
			}
		case ok:
			found = append(found, comment)
		}
	}
	if s.pass.Code != nil && site.Line > 0 {
		first := max(1, site.Line-1)
		lines, err := s.pass.Code.Lines(site.File, first, site.Line)
		if err == nil { // without source there are no comments
			for i, text := range lines {
				if first+i == site.Line || strings.HasPrefix(strings.TrimSpace(text), "//") {
					add(text, first+i)
				}
			}
		}
	}
	if place := s.pass.Place(site); place != nil && place.Decl != nil && place.Decl.Doc != nil {
		for _, comment := range place.Decl.Doc.List {
			add(comment.Text, place.Fset.Position(comment.Pos()).Line)
		}
	}
	return found
}

// silence splits drafts into those that are shown and descriptions of those that are silenced.
// Drafts that would not be shown anyway are in neither.
func (e *engine) silence(drafts []*draft) (shown []*draft, silenced []Silenced) {
	for _, d := range drafts {
		switch {
		case d.muted == muting{}:
			shown = append(shown, d)
		case e.above(d):
			silenced = append(silenced, e.silenced(d))
		}
	}
	return shown, silenced
}

// silenced describes a draft that is silenced.
func (e *engine) silenced(d *draft) Silenced {
	s := Silenced{Rule: d.rule.ID, By: d.muted.by, Reason: d.muted.reason, Share: d.share.Value}
	if len(d.lines) > 0 {
		if at := d.lines[0].site; at != nil {
			s.Function, s.File, s.Line = at.Function, cmp.Or(at.Owner.File, at.File), at.Line
		}
	}
	return s
}
