package repeatedwork

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// text judges functions that read a long text more than once, with another destination or another
// question: the body of a request that is decoded into a map for one field and then into a struct.
func (s *search) text(in *inputs.Function) *found {
	decodes := in
	if in = s.getsText(in); !s.decodes(decodes) || float64(in.Texts) < 0.9*float64(in.Calls) {
		return nil
	}
	f := &found{Function: decodes, where: sameText, confidence: rule.Likely}
	switch p := s.pass; {
	case in.TextsInRequest >= leastCalls:
		var n float64
		n, f.unit = p.Inputs.Apart()
		f.repeats = 1 - float64(in.TextsPerRequest)/float64(in.TextsInRequest)
		f.words = fmt.Sprintf("%s calls in each %s, with %s", units.Number(float64(in.TextsInRequest)/n), f.unit, differentTexts(units.Number(float64(in.TextsPerRequest)/n)))
		if float64(in.TextsPerRequest) < seldomCalled*n {
			f.words = fmt.Sprintf("in %s calls, each text came %s times in one %s", units.Count(in.TextsInRequest), units.Number(float64(in.TextsInRequest)/float64(max(in.TextsPerRequest, 1))), f.unit)
		}
	case p.Manifest.Unit() == "run" && p.Inputs.Requests+p.Inputs.Iterations == 0 && in.Texts >= 10*leastCalls:
		f.unit = "run"
		f.repeats = 1 - float64(in.DifferentTexts)/float64(in.Texts)
		f.words = fmt.Sprintf("%s calls, with %s", units.Count(in.Texts), differentTexts(units.Count(in.DifferentTexts)))
	}
	if f.nested = s.costs[decodes.Name].Recursive; f.nested {
		f.reader = s.readerOf(in.Name)
		if f.repeats < leastNested {
			return nil
		}
	}
	if f.repeats < leastRepeats || s.byReceiver(decodes) {
		return nil
	}
	return f
}

// leastNested is the minimum share of repeats for a decoder that calls UnmarshalJSON methods, which
// decode again what they get: one call more for each text is how such a method works.
const leastNested = 0.6

// readerOf returns the function of the main module that got the texts of a function before it, in
// most of the requests; "" if there is none, or if it only passes them on.
func (s *search) readerOf(name string) string {
	for _, p := range s.pass.Inputs.Pairs {
		in, first := s.pass.Inputs.Of(name), s.pass.Inputs.Of(p.First)
		if p.Then != name || first == nil || float64(p.Times) < 0.9*float64(in.TextsPerRequest) {
			continue
		}
		if c := s.costs[first.Name]; c != nil && s.inside(first.Name) != nil && !s.together(first.Name, strings.Replace(name, newDecoder, decode, 1)) {
			return first.Name
		}
	}
	return ""
}

// inside returns the decoder that a function calls with the text that it gets; nil if there is
// none.
func (s *search) inside(wrapper string) *inputs.Function {
	for _, p := range s.pass.Inputs.Pairs {
		if p.First != wrapper {
			continue
		}
		in := s.pass.Inputs.Of(strings.Replace(p.Then, newDecoder, decode, 1))
		if in != nil && s.costs[wrapper] != nil && funcname.Match(in.Name, codecs.Decoders()...) && s.together(wrapper, in.Name) {
			return in
		}
	}
	return nil
}

// The constructor of a decoder gets the text that its method decodes.
const newDecoder, decode = ".NewDecoder", ".(*Decoder).Decode"

// getsText returns the function that gets the text which a function decodes: itself, or the
// constructor of a decoder.
func (s *search) getsText(in *inputs.Function) *inputs.Function {
	if pkg, ok := strings.CutSuffix(in.Name, decode); ok {
		if maker := s.pass.Inputs.Of(pkg + newDecoder); maker != nil {
			return maker
		}
	}
	return in
}

// byReceiver reports whether a method with a text as its only parameter reads fields of its
// receiver, changes none, and hardly ever got a text again with the same receiver: each of several
// tables or matchers goes through the text, for a result of its own.
func (s *search) byReceiver(in *inputs.Function) bool {
	const apart = 0.9 // share of calls with another receiver or text
	if len(in.Params) != 1 || float64(in.Stable) < apart*float64(in.Calls) && float64(in.StablePerRequest) < apart*float64(in.InRequest) {
		return false
	}
	p, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok || p.Decl == nil || p.Decl.Body == nil || p.Decl.Recv == nil || len(p.Decl.Recv.List[0].Names) == 0 {
		return false
	}
	recv, ok := p.Object(p.Decl.Recv.List[0].Names[0]).(*types.Var)
	if !ok {
		return false
	}
	reads := 0
	for _, id := range syntax.Uses(p, recv) {
		if id == p.Decl.Recv.List[0].Names[0] {
			continue
		}
		reads++
		sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr)
		if !ok || syntax.Defines(p, sel) {
			return false
		}
		if v, ok := p.Object(sel.Sel).(*types.Var); !ok || !v.IsField() {
			return false
		}
	}
	return reads > 0
}

// textOfTwo judges functions that get a text which another function read before in the same
// request.
func (s *search) textOfTwo(in *inputs.Function) *found {
	gets := s.getsText(in)
	for _, p := range s.pass.Inputs.Pairs {
		if p.Then != gets.Name || p.Times < leastCalls || gets.TextsInRequest == 0 {
			continue
		}
		first := s.pass.Inputs.Of(strings.Replace(p.First, newDecoder, decode, 1))
		if first == nil || first == in || !s.decodes(in) || s.together(first.Name, in.Name) {
			continue
		}
		if through := s.inside(first.Name); !s.decodes(first) && (through == nil || !s.decodes(through)) {
			continue
		}
		repeats := min(1, float64(p.Times)/float64(gets.TextsInRequest))
		if repeats < leastRepeats {
			continue
		}
		_, unit := s.pass.Inputs.Apart()
		return &found{
			Function: in, where: sameText, unit: unit, other: first.Name, confidence: rule.Likely,
			repeats: repeats / 2, // one of the two has to stay
			words:   fmt.Sprintf("%s texts that %s had gone through before in the same %s", units.Count(p.Times), symbol.Short(funcname.Typed(first.Name)), unit),
		}
	}
	return nil
}

// decodes reports whether a function reads a whole text, by its name, costs more than a lookup and
// has no side effects, by the profile. A recursion may read another part each time, except that a
// decoder calls methods of the values that it fills.
func (s *search) decodes(in *inputs.Function) bool {
	if funcname.Match(in.Name, "bufio.New*", "encoding/*.New*") {
		return false // keeps the reader, and reads nothing yet
	}
	c := s.costs[in.Name]
	return c != nil && (!c.Recursive || funcname.Match(in.Name, codecs.Decoders()...)) && worth(s.pass, c, in) && s.quiet(in.Name) &&
		startsWith(in, "Unmarshal", "Decode", "Parse", "Compile", "Scan", "Sum", "Hash", "Digest", "Valid", "Verify", "Get", "Extract", "Tokenize", "Split",
			"Decompress", "Inflate", "New", "Load", "From", "Lookup", "Find", "Must")
}

// together reports whether one of two functions calls the other, by the profile.
func (s *search) together(a, b string) bool {
	in := func(r *site.Row, name string) bool {
		return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
	}
	return slices.ContainsFunc(s.costs[a].Rows, func(r *site.Row) bool { return in(r, b) })
}

func differentTexts(n string) string {
	if n == "1" {
		return "one text"
	}
	return n + " different texts"
}

// describeText fills in the words for a text that is read more than once.
func (f *found) describeText(m *rule.Match, name string) {
	m.Cause = fmt.Sprintf("%s goes through the same text again: %s.", name, f.words)
	m.Fix = "Parse it once and pass the result on. If one field decides how the rest is decoded, decode that field alone first (json.RawMessage keeps the rest unchanged)."
	if f.nested {
		m.Cause += " The decoder scans a text to find its end before it calls UnmarshalJSON with it, and the method has it decoded again."
		if f.reader != "" {
			m.Cause += fmt.Sprintf(" Before that, %s has gone through the text too.", symbol.Short(funcname.Typed(f.reader)))
		}
		m.Fix = "Decode it once, into one struct with all fields, of which json.RawMessage keeps what depends on another field, and make the value from that struct without UnmarshalJSON. A method UnmarshalJSON that stays needs one decoder for all fields."
	}
	if f.other == "" && f.unit == "run" {
		m.Fix = "Parse each text once and use the result for everything, or cache the results by their text."
	}
}
