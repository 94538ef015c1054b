package gocode

import (
	"bytes"
	"strconv"
	"strings"
)

// The text that the compiler prints under -m=2. It is the fallback for a file whose log another
// file of the same base name has overwritten, and for files that cgo rewrote. It has no inline
// chains, but its lines follow //line directives.

// readText reads the compiler's output about one package; resolve makes a printed file name
// absolute. Lines that are not about a decision are left out.
func readText(text []byte, resolve func(string) string) []Fact {
	p := textReader{resolve: resolve, open: map[textKey]int{}, leaks: map[Pos]bool{}}
	for line := range bytes.Lines(text) {
		if pos, msg, ok := splitPos(strings.TrimRight(string(line), "\r\n")); ok {
			pos.File = resolve(pos.File)
			p.line(pos, msg)
		}
	}
	return p.facts
}

type textReader struct {
	resolve func(string) string
	facts   []Fact
	open    map[textKey]int // explained escapes that wait for a verdict
	leaks   map[Pos]bool    // explained leaks
	inFlow  bool            // the last fact takes the steps that follow
}

type textKey struct {
	pos  Pos
	name string
}

func (p *textReader) add(code, msg string, pos Pos) int {
	p.facts = append(p.facts, Fact{Code: code, Message: msg, Chain: []Pos{pos}, short: true})
	return len(p.facts) - 1
}

func (p *textReader) line(pos Pos, msg string) {
	if step, ok := strings.CutPrefix(msg, "  "); ok {
		if p.inFlow {
			p.step(pos, strings.TrimSpace(step))
		}
		return
	}
	p.inFlow = false
	switch {
	case strings.HasPrefix(msg, "can inline "):
		if _, cost, ok := strings.Cut(msg, " with cost "); ok {
			cost, _, _ = strings.Cut(cost, " ")
			p.add("canInlineFunction", "cost: "+cost, pos)
		}
	case strings.HasPrefix(msg, "cannot inline "):
		if _, why, ok := strings.Cut(msg, ": "); ok {
			p.add("cannotInlineFunction", why, pos)
		}
	case msg == "Found IsInBounds" || msg == "Found IsSliceInBounds":
		p.add("is"+strings.TrimPrefix(msg, "Found Is"), "", pos)
	case strings.HasPrefix(msg, "parameter ") && strings.HasSuffix(msg, ":"):
		p.explainedLeak(pos, msg)
	case strings.HasPrefix(msg, "leaking param"):
		if !p.leaks[pos] {
			p.add("leak", msg, pos)
		}
	case strings.HasPrefix(msg, "moved to heap: "):
		p.verdict(pos, strings.TrimPrefix(msg, "moved to heap: "), msg)
	case strings.HasSuffix(msg, " escapes to heap"):
		p.verdict(pos, strings.TrimSuffix(msg, " escapes to heap"), msg)
	case strings.HasSuffix(msg, ":"):
		if i := strings.LastIndex(msg, " escapes to heap in "); i >= 0 {
			key := textKey{pos, msg[:i]}
			if _, twice := p.open[key]; !twice { // each way out is explained; the first is enough
				p.open[key] = p.add("escape", msg[:i]+" escapes to heap", pos)
				p.inFlow = true
			}
		}
	}
}

// verdict takes the final word on an expression or variable.
func (p *textReader) verdict(pos Pos, name, msg string) {
	if i, ok := p.open[textKey{pos, name}]; ok {
		p.facts[i].Message = msg
		return
	}
	p.open[textKey{pos, name}] = p.add("escape", msg, pos)
}

// explainedLeak takes "parameter p leaks to {heap} for f with derefs=0:".
func (p *textReader) explainedLeak(pos Pos, msg string) {
	msg = strings.TrimSuffix(msg, ":")
	i, j := strings.LastIndex(msg, " for "), strings.LastIndex(msg, " with derefs=")
	if i < 0 || j < i {
		return
	}
	p.add("leak", msg[:i]+msg[j:], pos)
	p.leaks[pos] = true
	p.inFlow = true
}

// step takes a line of an explanation: "flow: a = &b:" or "from e (why) at file:line:col".
func (p *textReader) step(pos Pos, text string) {
	f := &p.facts[len(p.facts)-1]
	if len(f.Flow) > 1000 {
		return
	}
	if i := strings.LastIndex(text, " at "); i >= 0 && strings.HasPrefix(text, "from ") {
		if at, _, ok := splitPos(text[i+len(" at "):] + ": "); ok {
			at.File = p.resolve(at.File)
			pos, text = at, text[:i]
		}
	}
	f.Flow = append(f.Flow, FlowStep{pos, flowText(text)})
}

// splitPos splits "file:line:col: message"; the column may be missing. A file on Windows
// has a colon of its own.
func splitPos(s string) (Pos, string, bool) {
	for i := 2; i < len(s); i++ {
		if s[i] != ':' {
			continue
		}
		line, rest, ok := leadingNumber(s[i+1:])
		if !ok {
			continue
		}
		pos := Pos{File: s[:i], Line: line}
		if col, after, ok := leadingNumber(rest); ok {
			pos.Col, rest = col, after
		}
		if msg, ok := strings.CutPrefix(rest, " "); ok {
			return pos, msg, true
		}
	}
	return Pos{}, "", false
}

// leadingNumber splits "12:rest".
func leadingNumber(s string) (n int, rest string, ok bool) {
	num, rest, ok := strings.Cut(s, ":")
	if !ok || len(num) == 0 || len(num) > 9 || num[0] == '-' || num[0] == '+' {
		return 0, "", false
	}
	n, err := strconv.Atoi(num)
	return n, rest, err == nil && n > 0
}
