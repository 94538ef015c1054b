package gocode

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// HeadWords returns the compiler's verdict on a function as a whole, for facts at its name: kind is
// "inlining". Both are "" when the fact is not worth a line.
func (f *Fact) HeadWords() (kind, text string) {
	if f.Code == "cannotInlineFunction" && len(f.Chain) == 1 {
		return "inlining", "is not inlined: " + f.Message
	}
	return "", ""
}

// Words describes a fact in plain words: kind is "escape", "inlining", "bounds check" or "copy".
// Both are "" for facts that are not reported (constants in an interface, nil checks, leaks).
func (f *Fact) Words() (kind, text string) {
	switch f.Code {
	case "escape":
		// "text" escapes: a constant in an interface needs no memory.
		if f.Message == "" || strings.HasPrefix(f.Message, `"`) {
			return "", ""
		}
		kind, text = "escape", f.Message+reason(f.Flow, f.Chain[len(f.Chain)-1])
		if rest, ok := strings.CutPrefix(text, "~r0 "); ok {
			text = "the result of an inlined call " + rest
		}
	case "cannotInlineCall":
		kind, text = "inlining", "a call is not inlined: "+f.Message
	case "isInBounds":
		kind, text = "bounds check", "an index is checked"
	case "isSliceInBounds":
		kind, text = "bounds check", "the bounds of a slice are checked"
	case "copy":
		kind, text = "copy", "copies "+f.Message
	default:
		return "", ""
	}
	if n := len(f.Chain); n > 1 {
		in := f.Chain[n-1]
		text += fmt.Sprintf(" (in a call inlined from %s:%d)", baseName(in.File), in.Line)
	}
	return kind, text
}

// reason describes the step by which a value got out: the last of the compiler's flow.
func reason(flow []FlowStep, at Pos) string {
	for _, s := range slices.Backward(flow) {
		step, ok := strings.CutPrefix(s.Text, "from ")
		if !ok {
			continue
		}
		what, why := splitStep(step)
		words := stepWords(what, why)
		if s.Pos.Line > 0 && (s.Pos.Line != at.Line || baseName(s.Pos.File) != baseName(at.File)) {
			words += fmt.Sprintf(", %s:%d", baseName(s.Pos.File), s.Pos.Line)
		}
		return ": " + words
	}
	return ""
}

// stepWords describes one step of a flow; why is the compiler's tag for it.
func stepWords(what, why string) string {
	switch why {
	case "":
		return what
	case "return":
		return "returned"
	case "call parameter":
		return "passed to " + callee(what)
	case "captured by a closure":
		return why
	case "interface-converted":
		return "put into an interface"
	case "non-constant size":
		return "its size is not constant"
	case "too large for stack":
		return "too large for the stack"
	case "assign", "assign-pair":
		return "assigned in " + what
	}
	return what + " (" + why + ")"
}

// callee returns a call without its arguments: (*T).M of (*T).M(a, f(b)). A call that cannot be
// parsed is returned unchanged.
func callee(call string) string {
	depth := 0
	for i := len(call) - 1; i > 0; i-- {
		switch call[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return call[:i]
			}
		case '"', '`', '\'':
			open := strings.LastIndexByte(call[:i], call[i])
			if open < 0 {
				return call
			}
			i = open
		}
		if depth == 0 {
			break
		}
	}
	return call
}

// baseName is the last element of a path as either system writes it.
func baseName(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }

// Path says step by step how a value of an escape gets out, from the value outwards: "x is captured
// by a closure, a.go:12". nil when the compiler gave no flow, and for facts that are no escapes.
func (f *Fact) Path() []string {
	var steps []string
	for _, s := range f.Flow {
		step, ok := strings.CutPrefix(s.Text, "from ")
		if !ok {
			continue
		}
		what, why := splitStep(step)
		words := pathWords(what, why)
		if s.Pos.Line > 0 {
			words += fmt.Sprintf(", %s:%d", baseName(s.Pos.File), s.Pos.Line)
		}
		if len(steps) == 0 || steps[len(steps)-1] != words {
			steps = append(steps, words)
		}
	}
	return steps
}

// splitStep takes "x (why)" apart; why is "" when the compiler gave none.
func splitStep(step string) (what, why string) {
	if i := strings.LastIndex(step, " ("); i >= 0 && strings.HasSuffix(step, ")") {
		return step[:i], step[i+2 : len(step)-1]
	}
	return step, ""
}

// pathWords say one step of a path; the tags are those of cmd/compile/internal/escape.
func pathWords(what, why string) string {
	switch why {
	case "":
		return what
	case "spill":
		return what + " is put in memory"
	case "address-of":
		return "its address is taken: " + what
	case "captured by a closure":
		return what + " is captured by a closure"
	case "interface-converted":
		return what + " is put into an interface"
	case "return":
		return "it is returned: " + what
	case "call parameter":
		return "it is passed to " + callee(what)
	case "non-constant size":
		return "the size of " + what + " is not constant"
	case "too large for stack":
		return what + " is too large for the stack"
	case "send":
		return "it is sent on a channel: " + what
	case "range", "range-deref", "dot", "dot of pointer", "indirection", "slice":
		return "it is read from " + what
	case "key of map put", "map literal key", "map literal value":
		return "it is put into a map: " + what
	case "slice-literal-element":
		return "it is an element of " + what
	case "struct literal element", "array literal element":
		return "it is a part of " + what
	case "assign", "assign-pair":
		return "it is assigned: " + what
	}
	return what + " (" + why + ")"
}
