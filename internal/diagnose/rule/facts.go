package rule

import (
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/site"
)

// Escapes returns the compiler's words on what escapes at a site, each once and
// in its order; known is false when there are no facts about the site's package.
func (p *Pass) Escapes(s *site.Site) (words []string, known bool) {
	if p.Facts == nil {
		return nil, false
	}
	have, _ := p.Facts.Packages()
	if !slices.Contains(have, s.Owner.Package) {
		return nil, false
	}
	for _, f := range p.Facts.On(s.File, s.Line) {
		text := f.Message
		constant := strings.HasPrefix(text, `"`) // "text" escapes: in an interface it needs no memory
		if !strings.HasPrefix(f.Code, "escape") || text == "" || constant || slices.Contains(words, text) {
			continue
		}
		words = append(words, text)
	}
	return words, true
}

// Weigh gives the confidence of a match that the profile shows and the syntax
// confirms. compiler says whether the compiler has a word in it at all: then
// measured needs its record at the line.
func (p *Pass) Weigh(s *site.Site, compiler bool) Confidence {
	if !compiler {
		return Measured
	}
	if words, _ := p.Escapes(s); len(words) > 0 {
		return Measured
	}
	return Likely
}

// Reasons returns what the compiler says of the memory that a site allocates, with the step by which
// the value got out ("s escapes to heap: returned"), each once and in its order. nil when it says nothing
// or there are no facts about the site's package.
func (p *Pass) Reasons(s *site.Site) (words []string) {
	if p.Facts == nil {
		return nil
	}
	for _, f := range p.Facts.On(s.File, s.Line) {
		if kind, text := f.Words(); kind == "escape" && !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	return words
}

// CompilerSaid names the evidence that the compiler gave.
const CompilerSaid = "the compiler's decision"

// Compiler returns the compiler's words at a site as evidence.
func (p *Pass) Compiler(s *site.Site) []Evidence {
	words, _ := p.Escapes(s)
	if len(words) == 0 {
		return nil
	}
	return []Evidence{{
		What:    CompilerSaid,
		Value:   strings.Join(words, "; "),
		Command: "go build -gcflags=-m=2 " + s.Owner.Package,
	}}
}
