package repeatedwork

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	fewCalls  = 1000 // least number of calls that show repeated inputs
	fewRepeat = 0.9  // share of calls with an input seen before
	mostFew   = 16   // inputs of a program that serves no requests
	mostFiles = 64
	// leastShare is the minimum share of CPU, or of the allocated bytes, that must pass through a
	// function for its results to be kept across requests.
	leastShare = 0.08
	// variety is how many times as many different inputs another function must get: then the load,
	// or the rows that the program processes, do vary.
	variety = 10
)

// few judges functions that always get the same few inputs, in all requests. Their purity cannot be
// proved, so the findings are likely: the functions return something, they ask no other service (by
// their name and by the profile), and their receiver does not change.
func (s *search) few(in *inputs.Function) *found {
	c := s.costs[in.Name]
	different, least := in.Identical, int64(fewCalls) // the receiver counts: it must stay the same
	same := s.answersTheSame(in)
	if same {
		different = in.Stable
	}
	if same || len(in.Params) == 0 && proved(in) {
		least = s.enough(least)
	}
	if c == nil || c.Recursive || in.Calls < least || !worth(s.pass, c, in) {
		return nil
	}
	f := &found{Function: in, where: always, repeats: 1 - float64(different)/float64(in.Calls)}
	if f.repeats < fewRepeat {
		return nil
	}
	if in.Different == 1 && len(in.Params) > 0 && s.sendsBodies() || hashesSecrets(in) {
		return nil // the body that the load sends with each request, or a part of it; or what must not be kept
	}
	if s.changedByCallers(in.Name) {
		return nil // each caller needs a result of its own
	}
	if in.Stable > 0 && !in.ByValue() && !s.returnsTheSame(in) {
		return nil // memory behind an address is hashed in part: a reused buffer is another input
	}
	fine, file := s.pureBelow(in.Name)
	unchanged := s.readsUnchanged(in)
	switch {
	case !fine && same && different <= mostVariables && s.asks(in.Name): // settings or keys; looking up rows by their key is the purpose of a store
		f.where = asked
	case !fine || s.allocatesOnly(in.Name) || !(same && !symbol.Standard(in.Package)) && !unchanged && !s.seemsToAnswer(in):
		return nil
	}
	requests := s.pass.Inputs.Requests > 0
	switch varied := s.varied(in, different); {
	case varied && !file && f.where != asked && s.share(in.Name) < leastShare:
		return nil // a cache across requests must be worth it
	case varied && !file:
	case f.where == asked:
		return nil
	case file && in.ByValue() && different <= mostFiles:
		f.file = true
	case !differsInRequests(in) && s.loop(in.Name, float64(in.Calls)/float64(different)):
		f.where = inLoop
	case !requests && s.pass.Manifest.Unit() == "run" && in.ByValue() && different <= mostFew:
	default:
		return nil
	}
	f.words = few(in, different)
	if !in.ByValue() {
		f.words += " (of pointers the address and what they point at)"
	}
	f.confidence = rule.Likely
	if f.chosen = f.where == always && !f.file && s.pass.Inputs.Chosen(in); f.chosen {
		f.confidence = rule.Hint
	}
	f.pointer = unchanged && f.where == always
	f.shared = s.own(in) // the function itself is the place to keep results
	return f
}

// enough returns the number of calls that show repeated inputs where the results were compared: a
// program that exits may repeat the same work to measure itself, so it must have more.
func (s *search) enough(inRun int64) int64 {
	if s.pass.Inputs.Requests > 0 || s.pass.Manifest.Target.Bench != "" {
		return provedCalls
	}
	return inRun
}

// everywhere widens a finding about the calls in a request to all calls, if nearly all have an
// input that some request had before: a cache then saves the first call in each request, too.
func (s *search) everywhere(f *found) {
	different := f.Identical
	if f.where != inRequest || f.recursive || !f.ByValue() || f.Calls < fewCalls || s.pass.Inputs.Chosen(f.Function) || !s.varied(f.Function, different) {
		return
	}
	repeats := 1 - float64(different)/float64(f.Calls)
	confidence := s.pure(f.Function, always)
	if repeats < fewRepeat || repeats < f.repeats || confidence == "" || s.share(f.Name) < leastShare {
		return
	}
	f.where, f.repeats, f.confidence, f.several = always, repeats, confidence, false
	f.words = few(f.Function, different)
}

// few says how many calls of a function were examined, and with how many inputs.
func few(in *inputs.Function, different int64) string {
	calls := units.Count(in.Calls) + " calls"
	if in.Stopped {
		calls = "the first " + calls
	}
	return calls + ", with " + evidence.Different(units.Count(different))
}

// share returns the part of CPU, or of the allocated bytes if that is larger, that passes through a
// function.
func (s *search) share(name string) float64 {
	c, t := s.costs[name], s.pass.Table.Totals
	return max(float64(c.Nanoseconds)*1e-9/max(t.TotalSeconds, 1e-9), float64(c.Bytes)/max(float64(t.AllocBytes), 1))
}

// sendsBodies reports whether requests of the load have a body: it is the same for all with one
// method and path.
func (s *search) sendsBodies() bool {
	l := s.pass.Manifest.Load
	return l != nil && slices.ContainsFunc(l.Targets, func(t string) bool { return !strings.HasPrefix(t, "GET ") && !strings.HasPrefix(t, "HEAD ") })
}

// own reports whether a function belongs to the program's module.
func (s *search) own(in *inputs.Function) bool {
	for _, r := range s.costs[in.Name].Rows {
		for _, f := range r.Stack {
			if f.Function == in.Name {
				return f.Owner.Kind == gocode.Main
			}
		}
	}
	return false
}

// differsInRequests reports whether most calls in a request have inputs of their own: those that
// repeat come from other requests, not from a loop in one.
func differsInRequests(in *inputs.Function) bool {
	return in.InRequest >= leastCalls && float64(in.PerRequest) > mostNew*float64(in.InRequest)
}

// loop reports whether a function is called in a loop that gives it the same input in each
// iteration: it repeats its inputs as often as the loop iterates.
func (s *search) loop(name string, repeats float64) bool {
	const fewest = 3
	if s.pass.Counts == nil {
		return false
	}
	var most *site.Frame
	var value int64
	for _, r := range s.costs[name].Rows {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
		if i+1 < len(r.Stack) && r.Value > value {
			most, value = r.Stack[i+1], r.Value
		}
	}
	if most == nil || repeats < fewest {
		return false
	}
	place, ok := s.pass.Syntax.At(most.File, most.Line)
	if !ok {
		return false
	}
	stmt := place.Loop()
	if stmt == nil {
		return false
	}
	l, ok := s.pass.Counts.Loop(most.Owner.Package, most.File, syntax.Line(place, stmt.Pos()))
	return ok && l.Iterations >= fewest && l.Entries > 1 && repeats >= 0.8*l.Iterations && repeats <= 1.25*l.Iterations
}

// varied reports whether the load, or the rows that the program processes, varied while the calls
// of a function with so many different inputs were examined. If they were examined during few
// requests, it is enough that each of these requests, which differ, had all the inputs.
func (s *search) varied(in *inputs.Function, different int64) bool {
	most := s.pass.Inputs.Targets
	for _, f := range s.pass.Inputs.Functions {
		if s.betweenOperations(&f) {
			most = max(most, f.Different)
		}
	}
	requests := in.StoppedAfter
	if !in.Stopped || requests == 0 {
		return most >= variety*different
	}
	return min(most, requests) >= variety*different ||
		min(s.pass.Inputs.Targets, requests/2) >= variety && float64(in.PerRequest) >= 0.9*float64(different*requests)
}

// betweenOperations reports whether a function's different inputs say that the load varied: in a
// benchmark, they must be many more than its calls in one operation. Otherwise each operation may
// have all of them, and do the same as the one before.
func (s *search) betweenOperations(f *inputs.Function) bool {
	window := s.pass.Inputs.Units
	if s.pass.Manifest.Target.Bench == "" || window <= 0 {
		return true
	}
	return !f.Stopped && float64(f.Different) >= variety*float64(f.Calls)/(window+1)
}

// pureBelow reports whether the profile shows no side effects below a function, and whether it
// reads a file.
func (s *search) pureBelow(name string) (fine, file bool) {
	return effects.PureBelow(s.costs[name].Rows, func(r *site.Row) int {
		return slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
	})
}

// seemsToAnswer reports whether a function seems to be called only for its result: by its body if
// it is the program's, by its name and signature if it is another module's.
func (s *search) seemsToAnswer(in *inputs.Function) bool {
	if symbol.Standard(in.Package) {
		return makes(in) && strings.Contains(in.Package, "/") // encoding/json, html/template: not fmt, io, sort
	}
	place, ok := s.pass.Syntax.At(in.File, in.Line)
	if !ok {
		return false
	}
	signature := syntax.SignatureOf(place)
	if signature == nil || !answers(signature) || takesFunction(signature) {
		return false
	}
	if decl, ok := place.Func.(*ast.FuncDecl); !ok {
		return false // a function literal, whose purpose is unknown
	} else if fn, ok := place.Info.Defs[decl.Name].(*types.Func); !ok || effects.Impure(fn) {
		return false
	}
	if s.own(in) {
		return effects.LooksPureOfFiles(place) && !effects.ChangesReached(s.pass.Syntax, place) || proved(in) && effects.LooksPureLocked(place)
	}
	if !takesText(signature) {
		return false // a handle or an index: what it refers to changes
	}
	if signature.Recv() != nil {
		return makes(in) || strings.HasPrefix(in.Name[strings.LastIndexByte(in.Name, '.')+1:], "Get")
	}
	return in.ByValue() || makes(in)
}

// takesText reports whether a parameter is a string or a list.
func takesText(s *types.Signature) bool {
	for v := range s.Params().Variables() {
		switch t := v.Type().Underlying().(type) {
		case *types.Slice, *types.Interface, *types.Struct:
			return true
		case *types.Basic:
			if t.Info()&types.IsString != 0 {
				return true
			}
		}
	}
	return false
}

// takesFunction reports whether a parameter is a function: the result depends on what that does.
func takesFunction(s *types.Signature) bool {
	for v := range s.Params().Variables() {
		if _, ok := v.Type().Underlying().(*types.Signature); ok {
			return true
		}
	}
	return false
}

// makes reports whether the name of a function says that it converts its input.
func makes(in *inputs.Function) bool {
	return startsWith(in,
		"Marshal", "Encode", "Format", "Render", "Parse", "Compile", "Build", "Clone", "Copy", "DeepCopy", "Convert", "Decode", "Unmarshal",
		"Load", "New", "Must", "Make", "Create", "Derive", "Generate", "Compute", "Expand", "Resolve", "Scale", "Resize", "Hash", "Sum", "Digest")
}
