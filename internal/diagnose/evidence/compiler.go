package evidence

import (
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// Escapes returns the compiler's messages about what escapes at a site, each once and in its order;
// known is false when there are no facts about the site's package.
func Escapes(p *rule.Pass, s *site.Site) (words []string, known bool) {
	if p.Facts == nil {
		return nil, false
	}
	have, _ := p.Facts.Packages()
	if !slices.Contains(have, s.Owner.Package) {
		return nil, false
	}
	for _, f := range p.Facts.On(s.File, s.Line) {
		text := f.Message
		constant := strings.HasPrefix(text, `"`) // "text" escapes: as an interface it needs no memory
		if !strings.HasPrefix(f.Code, "escape") || text == "" || constant || slices.Contains(words, text) {
			continue
		}
		words = append(words, text)
	}
	return words, true
}

// Weigh returns the confidence of a match that the profile shows and the syntax confirms. compiler
// reports whether the compiler decides about the mistake at all: measured then needs its message
// about the line.
func Weigh(p *rule.Pass, s *site.Site, compiler bool) rule.Confidence {
	if !compiler {
		return rule.Measured
	}
	if words, _ := Escapes(p, s); len(words) > 0 {
		return rule.Measured
	}
	return rule.Likely
}

// EscapeReasons returns the compiler's messages about the memory that a site allocates, with the
// step that makes the value escape ("s escapes to heap: returned"), each once and in its order. nil
// when there are none, or no facts about the site's package.
func EscapeReasons(p *rule.Pass, s *site.Site) (words []string) {
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

// CompilerSaid names the evidence from the compiler.
const CompilerSaid = "the compiler's decision"

// Compiler returns the compiler's messages about a site as evidence.
func Compiler(p *rule.Pass, s *site.Site) []rule.Evidence {
	words, _ := Escapes(p, s)
	if len(words) == 0 {
		return nil
	}
	return []rule.Evidence{{
		What:    CompilerSaid,
		Value:   strings.Join(words, "; "),
		Command: "go build -gcflags=-m=2 " + s.Owner.Package,
	}}
}

// EscapeFlow returns the steps by which the compiler explains that something on the line of a site
// escapes: a variable by its name, an expression as the compiler writes it ("make([]byte, 64)",
// "func literal"). false when there is no such message.
func EscapeFlow(p *rule.Pass, s *site.Site, what string) (steps []string, ok bool) {
	if p.Facts == nil {
		return nil, false
	}
	for _, f := range p.Facts.At(s.File, s.Line) {
		if f.Code != "escape" {
			continue
		}
		if Escaping(f.Message) != what {
			continue
		}
		ok = true
		for _, step := range f.Flow {
			steps = append(steps, step.Text)
		}
	}
	return steps, ok
}

// Escaping returns the variable or the expression that escapes according to a message of the
// compiler.
func Escaping(message string) string {
	name := strings.TrimPrefix(message, "moved to heap: ")
	return strings.TrimSuffix(strings.TrimSuffix(name, ":"), " escapes to heap")
}

// HasReason reports whether one of the steps of a flow gives a reason: "call parameter", "captured
// by a closure", "too large for stack", …
func HasReason(steps []string, reason string) bool {
	for _, s := range steps {
		if strings.Contains(s, "("+reason) {
			return true
		}
	}
	return false
}

// HasFacts reports whether there are compiler facts about a site's package, so that no message
// means that nothing escapes.
func HasFacts(p *rule.Pass, s *site.Site) bool {
	_, known := Escapes(p, s)
	return known
}
