package changed

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// commentAt returns the first sentence of the comment that ends on the line before a position, or
// stands on its line.
func (f *file) commentAt(pos token.Pos) string {
	line := f.line(pos)
	i, _ := slices.BinarySearchFunc(f.syntax.Comments, line-1, func(g *ast.CommentGroup, line int) int { return f.line(g.End()) - line })
	for ; i < len(f.syntax.Comments); i++ {
		g := f.syntax.Comments[i]
		switch end := f.line(g.End()); {
		case end > line:
			return ""
		case g.Pos() > pos && end == line, end == line-1 && f.alone(g):
			return firstSentence(g)
		}
	}
	return ""
}

// alone reports whether a comment starts its line.
func (f *file) alone(g *ast.CommentGroup) bool {
	set := f.pkg.tree.fset.File(g.Pos())
	start := set.LineStart(set.Line(g.Pos()))
	return strings.TrimSpace(string(f.source(start, g.Pos()))) == ""
}

// performance are the beginnings of words about cost.
var performanceWords = []string{"alloc", "cache", "caching", "avoid", "reus", "fast", "slow", "cop", "quadratic", "o(n", "leak", "pool", "lock",
	"contention", "expensive", "cheap", "once", "laz", "prealloc", "grow", "buffer", "memor", "garbage", "goroutine", "timer", "close", "drain",
	"perf", "optimi", "efficien", "speed", "overhead", "latency", "benchmark", "throughput", "cpu", "heap", "concatenat", "inline", "stack"}

// aboutCost reports whether a text has a word about cost.
func aboutCost(text string) bool {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r != '(' && (r < 'a' || r > 'z') }) {
		for _, p := range performanceWords {
			if strings.HasPrefix(strings.TrimLeft(word, "("), p) {
				return true
			}
		}
	}
	return false
}

// comments returns sentences of the new function's comments that the old one does not have: those
// about cost, or else the first.
func (d *difference) comments() []string {
	const most, limit = 3, 200
	old := map[string]bool{}
	for _, f := range readers(d.was, d.old) {
		for _, s := range f.sentences() {
			old[s] = true
		}
	}
	var about, other []string
	for _, f := range readers(d.now, d.new) {
		for _, s := range f.sentences() {
			if old[s] || len(s) > limit || len(s) < 12 || strings.HasPrefix(s, "TODO") {
				continue
			}
			old[s] = true
			switch {
			case aboutCost(s):
				about = append(about, s)
			case !strings.HasPrefix(s, f.decl.Name.Name+" "): // else it says what the function is for
				other = append(other, s)
			}
		}
	}
	if len(about) > 0 {
		return about[:min(len(about), most)]
	}
	return other[:min(len(other), 1)]
}

// sentences are those of the comments on and in a function.
func (f *function) sentences() (list []string) {
	if f.decl.Doc != nil {
		list = sentences(f.decl.Doc.Text())
	}
	for _, g := range f.file.syntax.Comments {
		if g.Pos() > f.decl.Pos() && g.End() <= f.decl.End() {
			list = append(list, sentences(g.Text())...)
		}
	}
	return list
}
