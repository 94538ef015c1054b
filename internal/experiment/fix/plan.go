package fix

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/rewrite"
)

// Schema is the version of Result's JSON form.
const Schema = "hone/fix/v1"

// Fix is what can be done about a finding: a change, or why there is none.
type Fix struct {
	Finding  string           `json:"finding,omitempty"` // its label; "" for one that is below the floor on its own
	Rule     string           `json:"rule"`
	Title    string           `json:"title"`
	Function string           `json:"function"`
	File     string           `json:"file"` // relative to the module
	Line     int              `json:"line"`
	Saving   *diagnose.Saving `json:"saving,omitempty"` // predicted by the finding
	Risk     rewrite.Risk     `json:"risk,omitempty"`   // "types": types alone show that old and new do the same; "context": a condition was checked
	Why      string           `json:"why,omitempty"`    // why old and new do the same
	Diff     string           `json:"diff,omitempty"`   // unified, on top of the previous changes
	// Proposal is a change that does not do exactly the same, which the user has to judge. It is
	// shown, and never applied.
	Proposal string `json:"proposal,omitempty"`
	Left     string `json:"left,omitempty"` // why the line is not changed
}

// Plan is the changes for some findings.
type Plan struct {
	Fixes []Fix `json:"fixes"`

	root  string            // of the module
	files map[string][]byte // new content, by path relative to the root
	old   map[string][]byte
}

// Changed lists the files that change, relative to the module.
func (p *Plan) Changed() []string {
	var names []string
	for name := range p.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// wanted is a finding with its lines.
type wanted struct {
	fix   Fix
	lines []int
}

// Make rewrites the lines of findings in the module at root. Findings in other modules, and those
// whose rule has no rewrite, are left out unless they are asked for by number.
func Make(ctx context.Context, root string, findings []*diagnose.Finding, numbers []int, buildFlags []string) (*Plan, error) {
	p := &Plan{Fixes: []Fix{}, root: root, files: map[string][]byte{}, old: map[string][]byte{}}
	list, err := choose(findings, numbers)
	if err != nil {
		return nil, err
	}
	moved := map[string]*lineMap{}
	for _, w := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if w.fix.Left == "" {
			if err := p.make(ctx, &w, moved, buildFlags); err != nil {
				w.fix.Left = err.Error()
			}
		}
		p.Fixes = append(p.Fixes, w.fix)
	}
	return p, nil
}

// choose returns the findings that numbers name, or all that could be rewritten.
func choose(findings []*diagnose.Finding, numbers []int) (list []wanted, err error) {
	rules := rewrite.Rules()
	for _, n := range numbers {
		if !slices.ContainsFunc(findings, func(f *diagnose.Finding) bool { return f.Rank == n }) {
			return nil, fmt.Errorf("there is no finding %d", n)
		}
	}
	for _, f := range findings {
		asked := slices.Contains(numbers, f.Rank)
		if len(numbers) > 0 && !asked {
			continue
		}
		all := append([]diagnose.Finding{*f}, f.Also...)
		for i := range all {
			x := &all[i]
			w := wanted{fix: Fix{Rule: x.Rule, Title: x.Title, Function: x.Function, File: x.File, Line: x.Line, Saving: x.Whole()}}
			if x.Rank > 0 {
				w.fix.Finding = x.Label()
			}
			switch {
			case x.Version != "" || strings.HasPrefix(x.File, ".."):
				w.fix.Left = "the line is in " + x.Module + ": hone fix " + x.Label() + " -fork DIR looks for a version without the problem (hone tune deps), or patches a copy"
			case x.Line == 0 || !slices.Contains(rules, x.Rule):
				w.fix.Left = rewrite.ErrNoRewrite.Error()
			}
			if w.fix.Left != "" && (!asked || i > 0) {
				continue
			}
			w.lines = []int{x.Line}
			for _, s := range x.Sites {
				if s.Role == "" && s.File == x.File && s.Line > 0 && !slices.Contains(w.lines, s.Line) {
					w.lines = append(w.lines, s.Line)
				}
			}
			list = append(list, w)
		}
	}
	return list, nil
}

// make computes one change on top of the previous ones.
func (p *Plan) make(ctx context.Context, w *wanted, moved map[string]*lineMap, buildFlags []string) error {
	name := w.fix.File
	path := filepath.Join(p.root, filepath.FromSlash(name))
	overlay := map[string][]byte{}
	for n, text := range p.files {
		overlay[filepath.Join(p.root, filepath.FromSlash(n))] = text
	}
	pkg, err := rewrite.Load(ctx, filepath.Dir(path), buildFlags, overlay)
	if err != nil {
		return err
	}
	m := moved[name]
	if m == nil {
		m = &lineMap{}
		moved[name] = m
	}
	var lines []int
	for _, l := range w.lines {
		if n := m.now(l); n > 0 {
			lines = append(lines, n)
		}
	}
	if len(lines) == 0 {
		return errors.New("a previous change removed the line")
	}
	c, err := rewrite.Suggest(pkg, path, overlay, w.fix.Rule, lines)
	if err != nil {
		return err
	}
	w.fix.Risk, w.fix.Why = c.Risk, c.Why
	if c.Risk == rewrite.Judgement {
		w.fix.Proposal = unified(name, c.Old, c.New)
		return nil
	}
	if p.old[name] == nil {
		p.old[name] = c.Old
	}
	p.files[name] = c.New
	m.add(c.Old, c.New)
	w.fix.Diff = unified(name, c.Old, c.New)
	return nil
}

// unified returns the difference of a file's texts as git and patch read it.
func unified(name string, old, new []byte) string {
	text := string(diff.Diff("a/"+name, old, "b/"+name, new))
	_, text, _ = strings.Cut(text, "\n") // the line "diff a b"
	return text
}

// Patch returns all changes as one diff, relative to the module.
func (p *Plan) Patch() []byte {
	var out []byte
	for _, name := range p.Changed() {
		out = append(out, unified(name, p.old[name], p.files[name])...)
	}
	return out
}
