package gocode

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The text form of facts, for tests that read recorded compiler output. A line names a package, a
// fact, or, after a tab, a step of the flow of the fact above it:
//
//	package example.com/app
//	example.com/app/main.go:14:12 escape: string(c) + s escapes to heap
//		example.com/app/main.go:14:7 from string(c) + s (spill)
//
// Positions of a chain are joined by ">", outermost first. Files are named as by
// [Index.TrimmedPath].

// Dump writes the facts with the given codes, in a stable order, with the flow of escapes.
func (f *Facts) Dump(w io.Writer, codes ...string) error {
	out := bufio.NewWriter(w)
	seen := map[*packageFacts]bool{}
	var all []*packageFacts
	for _, files := range f.files {
		for _, ff := range files {
			if !seen[ff.pkg] {
				seen[ff.pkg] = true
				all = append(all, ff.pkg)
			}
		}
	}
	slices.SortFunc(all, func(a, b *packageFacts) int { return strings.Compare(a.Package, b.Package) })
	for _, p := range all {
		fmt.Fprintf(out, "package %s\n", p.Package)
		var facts []string
		for i := range p.Records {
			if fact := p.fact(&p.Records[i]); slices.Contains(codes, fact.Code) && !fact.short {
				facts = append(facts, f.text(&fact))
			}
		}
		slices.Sort(facts)
		for _, text := range slices.Compact(facts) {
			out.WriteString(text)
		}
	}
	return out.Flush()
}

func (f *Facts) text(fact *Fact) string {
	var b strings.Builder
	for i, p := range fact.Chain {
		if i > 0 {
			b.WriteByte('>')
		}
		b.WriteString(f.position(p))
	}
	fmt.Fprintf(&b, " %s: %s\n", fact.Code, singleLine(fact.Message))
	if fact.Code != "escape" {
		return b.String() // of others nobody asks how
	}
	for _, s := range fact.Flow {
		fmt.Fprintf(&b, "\t%s %s\n", f.position(s.Pos), singleLine(s.Text))
	}
	return b.String()
}

func (f *Facts) position(p Pos) string {
	return fmt.Sprintf("%s:%d:%d", f.index.TrimmedPath("", p.File), p.Line, p.Col)
}

func singleLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// ReadFacts reads what Dump wrote. An error names the line.
func (x *Index) ReadFacts(r io.Reader) (*Facts, error) {
	f := &Facts{index: x, files: map[string][]*factFile{}, lacking: map[string]string{}}
	var t *table
	var fact *Fact
	keep := func() {
		if fact != nil {
			t.add(*fact)
		}
		fact = nil
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		fail := func(what string) (*Facts, error) { return nil, fmt.Errorf("read facts: line %d: %s", n, what) }
		if name, ok := strings.CutPrefix(line, "package "); ok {
			if keep(); t != nil {
				f.add(t.facts)
			}
			t = newTable(name)
			continue
		}
		step, indented := strings.CutPrefix(line, "\t")
		at, text, _ := strings.Cut(step, " ")
		chain, err := parseChain(at)
		switch {
		case err != nil:
			return fail(err.Error())
		case t == nil:
			return fail("no package is named yet")
		case indented && fact == nil:
			return fail("a step of a flow without a fact")
		case indented:
			fact.Flow = append(fact.Flow, FlowStep{chain[0], text})
			continue
		}
		keep()
		code, message, ok := strings.Cut(text, ": ")
		if !ok {
			return fail("want POSITION CODE: MESSAGE")
		}
		fact = &Fact{Code: code, Message: message, Chain: chain}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	if keep(); t != nil {
		f.add(t.facts)
	}
	return f, nil
}

func parseChain(text string) ([]Pos, error) {
	var chain []Pos
	for part := range strings.SplitSeq(text, ">") {
		file, rest := cutLast(part)
		name, line := cutLast(file)
		l, err1 := strconv.Atoi(line)
		c, err2 := strconv.Atoi(rest)
		if err1 != nil || err2 != nil || l < 0 || c < 0 {
			return nil, fmt.Errorf("%q: want FILE:LINE:COLUMN", part)
		}
		chain = append(chain, Pos{name, l, c})
	}
	return chain, nil
}

// cutLast cuts around the last colon.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+1:]
}
