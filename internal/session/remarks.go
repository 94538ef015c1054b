package session

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile"
)

// Remark is what is known about a line beside its cost: a decision of the compiler, or the calls that
// the profile shows to be inlined there. It is no cost: whether a line allocates, a profile says.
type Remark struct {
	Line int64
	Kind string // "escape", "inlining", "inlined call", "bounds check" or "copy"
	Text string // "s escapes to the heap: returned"
}

// RemarkOptions says how much may be spent on remarks.
type RemarkOptions struct {
	// All asks the compiler about all packages of the listing. Otherwise it is asked about one, the dearest that
	// is not of the standard library, and only when Source.KnownBuild.
	All bool
}

// maxRemarkPackages bounds how many packages are compiled for one listing.
const maxRemarkPackages = 16

// AddRemarks adds to a listing what the compiler says about the lines that cost something and, at their heads, why
// functions are not inlined; and which calls the profile shows inlined on a line. The compiler is asked through the facts of src.Code; what it
// has no word on stays as it is, and the listing's notes say why.
func AddRemarks(ctx context.Context, c Config, src *Source, l *Listing, o RemarkOptions) error {
	calls := inlinedCalls(src.Profile)
	pkgs := remarkPackages(src, l, o)
	var facts *gocode.Facts
	if len(pkgs) > 0 {
		var err error
		if facts, err = src.Code.Facts(ctx, pkgs); err != nil {
			return fmt.Errorf("ask the compiler: %w", err)
		}
		_, lacking := facts.Packages()
		for _, p := range pkgs {
			if why := lacking[p]; why != "" {
				l.Notes = append(l.Notes, fmt.Sprintf("no remarks of the compiler on %s: %s", p, why))
			}
		}
	}
	for i := range l.Functions {
		f := &l.Functions[i]
		file := sourceFile(src, l.View, f.File)
		known := facts
		if moved := src.Code.Moved(ctx, file); moved != "" && f.Problem == "" {
			known = nil // what the compiler says now may be about other lines
			l.Notes = append(l.Notes, f.Name+": "+moved+"; so the lines may be others, and the compiler is not quoted")
		}
		f.Remarks = remarksOn(&f.FuncLines, file, known, calls)
	}
	return nil
}

// remarkPackages chooses the packages to ask the compiler about.
func remarkPackages(src *Source, l *Listing, o RemarkOptions) []string {
	if !o.All && !src.KnownBuild {
		return nil
	}
	cost := map[string]int64{}
	var pkgs []string
	for i := range l.Functions {
		f := &l.Functions[i]
		owner := src.Code.Owner(f.Name, sourceFile(src, l.View, f.File))
		if owner.Package == "" || owner.Kind == gocode.Unknown || owner.Kind == gocode.Std && !o.All {
			continue
		}
		if cost[owner.Package] += f.Cum; !slices.Contains(pkgs, owner.Package) {
			pkgs = append(pkgs, owner.Package)
		}
	}
	slices.SortStableFunc(pkgs, func(a, b string) int {
		switch {
		case cost[a] > cost[b]:
			return -1
		case cost[a] < cost[b]:
			return 1
		}
		return strings.Compare(a, b)
	})
	most := 1
	if o.All {
		most = maxRemarkPackages
	}
	if len(pkgs) > most {
		more := "; with -remarks it is asked about all"
		if o.All {
			more = ""
		}
		l.Notes = append(l.Notes, fmt.Sprintf("the compiler was asked about %s only, of %d packages%s", strings.Join(pkgs[:most], ", "), len(pkgs), more))
		pkgs = pkgs[:most]
	}
	return pkgs
}

// callSite is a line of a function as the profile names it.
type callSite struct {
	function string
	line     int64
}

// inlinedCalls lists, by line, the functions that the profile shows inlined into it.
func inlinedCalls(p *profile.Profile) map[callSite][]string {
	calls := map[callSite][]string{}
	for i := range p.Locations {
		lines := p.Locations[i].Lines
		for k := 1; k < len(lines); k++ {
			at := callSite{p.Functions[lines[k].Func].Name, lines[k].Line}
			if callee := p.Functions[lines[k-1].Func].Name; !slices.Contains(calls[at], callee) {
				calls[at] = append(calls[at], callee)
			}
		}
	}
	return calls
}

// remarksOn collects the remarks on a function's head and on the lines of it that cost something.
func remarksOn(f *profile.FuncLines, file string, facts *gocode.Facts, calls map[callSite][]string) []Remark {
	var out []Remark
	add := func(line int64, kind, text string) {
		if r := (Remark{line, kind, text}); text != "" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	head := f.StartLine
	if facts != nil && head > 0 {
		for _, fact := range facts.At(file, int(head)) {
			if kind, text := headWords(&fact); kind != "" {
				add(head, kind, text)
			}
		}
	}
	for _, c := range f.Lines {
		names := slices.Clone(calls[callSite{f.Name, c.Line}])
		slices.Sort(names)
		for _, name := range names {
			add(c.Line, "inlined call", name+" is inlined here")
		}
		if facts == nil || c.Line <= 0 {
			continue
		}
		checks := map[string]int{}
		for _, fact := range facts.At(file, int(c.Line)) {
			kind, text := lineWords(&fact)
			if kind == "bounds check" {
				checks[text]++
				continue
			}
			add(c.Line, kind, text)
		}
		for _, text := range slices.Sorted(maps.Keys(checks)) {
			if n := checks[text]; n > 1 {
				add(c.Line, "bounds check", fmt.Sprintf("%s, %d times", text, n))
				continue
			}
			add(c.Line, "bounds check", text)
		}
	}
	slices.SortStableFunc(out, func(a, b Remark) int { return int(a.Line - b.Line) })
	return out
}

// headWords are the compiler's words about a function as a whole.
func headWords(f *gocode.Fact) (kind, text string) {
	if f.Code == "cannotInlineFunction" && len(f.Chain) == 1 {
		return "inlining", "is not inlined: " + f.Message
	}
	return "", ""
}

// lineWords are the compiler's words about what happens on a line.
func lineWords(f *gocode.Fact) (kind, text string) {
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
		text += fmt.Sprintf(" (in a call inlined from %s:%d)", path.Base(strings.ReplaceAll(in.File, `\`, "/")), in.Line)
	}
	return kind, text
}

// reason says in words by which step a value got out: the last of the compiler's flow.
func reason(flow []gocode.FlowStep, at gocode.Pos) string {
	for _, s := range slices.Backward(flow) {
		step, ok := strings.CutPrefix(s.Text, "from ")
		if !ok {
			continue
		}
		what, why := step, ""
		if i := strings.LastIndex(step, " ("); i >= 0 && strings.HasSuffix(step, ")") {
			what, why = step[:i], step[i+2:len(step)-1]
		}
		words := stepWords(what, why)
		if s.Pos.Line > 0 && (s.Pos.Line != at.Line || path.Base(s.Pos.File) != path.Base(at.File)) {
			words += fmt.Sprintf(", %s:%d", path.Base(strings.ReplaceAll(s.Pos.File, `\`, "/")), s.Pos.Line)
		}
		return ": " + words
	}
	return ""
}

// stepWords says one step of a flow in words; why is the compiler's tag for it.
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

// callee is a call without its arguments: (*T).M of (*T).M(a, f(b)). A call that cannot be taken apart
// stays whole.
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
