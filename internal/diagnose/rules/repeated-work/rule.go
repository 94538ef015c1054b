// Package repeatedwork finds functions that repeat work for the same input.
package repeatedwork

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/watched"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is repeated-work.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "repeated-work",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedInputs},
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Same work repeated for the same input",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it with the share of calls whose input was seen before.
				Fraction:    rule.Fraction{Expect: 0.5, Low: 0.2, High: 1},
				Specificity: -2, // after rules that know the call, or the origin of its input
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `An expensive function gets the same input several times: the same
header is parsed by each layer of a request, the same text is compiled for each
row, the same body is decoded into a map and then into a struct, the same
settings are fetched from another service for each request, a recursion solves
the same part again, or walks a shared node of a graph once for each path to it
(because its set of visited nodes has only those on the way),
a document is parsed for its title and then again for its author, a middleware
reads the user or the project from the database and the handler reads it again.
No profile shows that. hone builds the program once more, such that expensive
functions count their inputs and compare their results, by hashes that never
leave the process. A rule or a template that is compiled into a function for
each value that it is applied to is the same mistake.

Compute the result once and pass it on, or cache it by its input: in a map for a
few inputs, in a cache with a size limit if new ones keep coming, for a limited
time if the result can change. If the result is modified by its users, copy it
first.

It is fine where the work is cheaper than a lookup: the rule leaves alone
functions of less than half a microsecond and 512 bytes per call (a fifth of
that for up to four inputs, which variables can hold). It also leaves alone
functions that visibly change something, that only allocate something to be
filled, methods without parameters unless they visibly only compute something of
an unchanged receiver (or of one that nothing writes to after it was made: the
result belongs into a field), functions that hash passwords, or that returned
different results for the same input. If all requests of a recording give a
function the same few inputs, the load may be the cause: the rule reports that
only when other functions got ten times as many different inputs and a twelfth
of the CPU is at stake, or when a file is read again. If the request decides the
input, such as a page that it names, a cache would be one of answers: that is a
hint, and work that repeats inside for other reasons comes first. So it is where
most inputs of a request are new and the others are data that happen to be
equal. A read of a database or a service repeats in a request only if all
answers were equal and no statement that may change rows runs as often; reads in
transactions belong together. Under the same conditions, it reports documents
that are made of rows again for few inputs and many requests, and results that a
caller stores in a map which has them already. It reports objects that are built
again of what the program keeps, such as an access list of policies, if code
changes that less than once in fifty calls and callers only read the object.

Seen in the field: ua-parser/uap-go#75 (the same user agents parsed again: 300
times faster with a cache), gin-gonic/gin#2100 (a query string parsed by each
layer of a request), ava-labs/avalanchego#5462 (transactions encoded and hashed
again for each look at them), microcosm-cc/bluemonday#225 (a recursion over the
words of a style: each space more doubles the time).`

const (
	leastCalls   = 100 // in requests, or for each unit of work
	leastRepeats = 0.3 // share of calls with an input seen before
	seldomCalled = 0.8 // inputs per request below which some requests do not call a function
	leastCost    = 500e-9
	leastBytes   = 512
	// Keeping the results of a few inputs needs no lookup: variables can keep them. A cheaper call
	// is worth a finding then.
	mostVariables = 4
	// mostNew is the share of repeats below which they come from the data: code that computes
	// everything twice has half of its inputs again.
	mostNew           = 0.5
	leastFetched      = 100e-9
	leastFetchedBytes = 128
	mostKept          = 10_000 // results that a program keeps; with more, the cache is a cost of its own
)

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := search{pass: p, known: map[string]*found{}, costs: watched.Costs(p)}
	s.wholes()
	judge := func(c *finder.Case) bool {
		f := s.of(c.Match)
		if f != nil {
			s.describe(f, c.Match)
			if f.fetched || f.where == asked || f.remote {
				return s.price(f, c.Match)
			}
			if !f.shared && len(c.Callees) == 1 {
				c.Uncertain = c.Derived(c.Callees[0])
			}
		}
		return f != nil
	}
	return finder.Line{Start: finder.Frames(s.caller), Judge: judge}
}

// search caches the functions that repeat work.
type search struct {
	pass  *rule.Pass
	known map[string]*found
	costs map[string]*watched.Cost
}

// found is a function that repeats work.
type found struct {
	*inputs.Function
	repeats    float64 // share of calls with an input that it had before
	words      string  // what was counted
	unit       string  // of inRequest: "request"
	where      scope
	file       bool // it reads one
	recursive  bool
	visits     bool   // it is a recursion that only adds to sets
	marks      string // of a recursion: where it marks what is on the way, and only that
	other      string // of sameText: the function that got the text before; "" for itself
	nested     bool   // of sameText: a decoder that calls methods which decode the text again
	reader     string // of nested: the function that went through the text before; "" for none
	shared     bool   // the finding is at this line, instead of one caller
	pointer    bool   // it gets a few pointers to values that did not change
	method     bool   // it has no parameters, only a receiver
	unwritten  string // the type of its receivers, which do not change; "" if that is not known
	compiles   bool   // a text into a function that is called once
	chosen     bool   // the request decides the input: the results are parts of its answer
	byData     bool   // most inputs of a request are new: some of its data happen to be equal
	several    bool   // a request has more different inputs than variables can keep results of
	confidence rule.Confidence
	conversion *conversion     // nil if it does something else
	table      string          // of stored: the element of a map
	fetched    bool            // it reads from a database or a service
	remote     bool            // of built: from another service
	before     map[string]bool // of fetched: callers inside of which the others run
	later      float64         // of fetched: share of its cost that passes through the others
	built      string          // of assembled: the type of the object
	of         []string        // of assembled: what it is built of
	inside     []*found        // of a function that is called again as a whole: what repeats in it
}

// scope is the unit in which an input repeats.
type scope int

const (
	inRequest scope = iota
	inOperation
	inRun
	inARow // of calls one after the other
	inLoop
	always    // in everything that was counted
	sameText  // a text in a request, or in a run, whatever the other parameters are
	asked     // always, of another service
	built     // always, of rows of a database
	assembled // always, of what the program keeps
	stored    // always, by a caller that keeps the result in a map
)

// caller returns the frame of a row nearest to the root that calls a function that repeats work;
// the function's own frame if several lines call it. Functions whose input the request decides, or
// whose input repeats only because data are equal, come last: what is expensive below them is so
// for other reasons.
func (s *search) caller(r *site.Row) int {
	at, _ := s.edge(r)
	return at
}

// edge returns the index of that frame, -1 for none, and that of the frame of the function.
func (s *search) edge(r *site.Row) (at, callee int) {
	at, callee = -1, -1
	explained := 0.0
	for i := len(r.Stack) - 1; i > 0; i-- {
		if k := r.Stack[i].Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if r.Stack[i].Function == r.Stack[i-1].Function {
			continue // a recursion whose first calls the profile cut off
		}
		f := s.judged(r.Stack[i-1])
		if f == nil {
			continue
		}
		if f.before[r.Stack[i].Function] {
			explained = max(explained, f.repeats) // the first of its calls
			continue
		}
		if (f.where == inRequest || f.where == sameText) && f.repeats <= explained+leastRepeats/3 {
			continue // it repeats because what calls it does
		}
		here := i
		switch {
		case f.shared:
			here = i - 1
		case f.other != "":
			here = asking(r, i)
		case f.nested:
			here = s.givingText(r, i)
		}
		if !f.chosen && !f.byData {
			return here, i - 1
		}
		if at < 0 {
			at, callee = here, i-1
		}
	}
	return at, callee
}

// givingText returns the index of the frame, from i on, that does not pass on a text that it got
// itself.
func (s *search) givingText(r *site.Row, i int) int {
	for j := i; j+1 < len(r.Stack) && r.Stack[j].Owner.Kind == gocode.Main; j++ {
		if in := s.pass.Inputs.Of(r.Stack[j].Function); in == nil || in.Texts == 0 {
			return j
		}
	}
	return i
}

// asking returns the index of the frame of the main module, from i on, that makes a framework
// decode a text; i if there is none.
func asking(r *site.Row, i int) int {
	if j := slices.IndexFunc(r.Stack[i:], func(f *site.Frame) bool { return f.Owner.Kind == gocode.Main }); j > 0 {
		return i + j
	}
	return i
}

// of returns the function of a match: that of its first row.
func (s *search) of(m *rule.Match) *found {
	for _, rows := range [][]*site.Row{m.CPU, m.Allocs} {
		for _, r := range rows {
			at, callee := s.edge(r)
			if at < 0 {
				continue
			}
			f := s.known[r.Stack[callee].Function]
			if f != nil && !f.shared {
				m.Callees = []string{f.Name}
			}
			return f
		}
	}
	return nil
}

func (s *search) judged(f *site.Frame) *found {
	known, ok := s.known[f.Function]
	if !ok {
		known = s.judge(s.pass.Inputs.Of(f.Function))
		s.known[f.Function] = known
	}
	return known
}

// judge returns how a function repeats work; nil if it does not.
func (s *search) judge(in *inputs.Function) *found {
	if in == nil || float64(in.Hashed) < 0.95*float64(in.Calls) {
		return nil
	}
	if len(in.Params) == 0 {
		return s.ofReceiver(in)
	}
	if s.makesOwn(in) {
		return nil
	}
	for _, judge := range []func(*inputs.Function) *found{s.fetchedAgain, s.surely, s.builtAgain, s.few, s.text, s.textOfTwo, s.compiled, s.storedAgain, s.assembledAgain} {
		if f := judge(in); f != nil {
			return f
		}
	}
	return nil
}

// surely judges functions that repeat work within a unit of work and whose results depend only on
// their inputs.
func (s *search) surely(in *inputs.Function) *found {
	f := &found{Function: in}
	c := s.costs[in.Name]
	if c == nil || !f.repeated(s.pass, s.answersTheSame(in)) {
		return nil
	}
	f.recursive = c.Recursive
	f.conversion = s.converts(in)
	if !f.recursive && (!worth(s.pass, c, in) || f.conversion == nil && len(in.Params) > 0 && s.allocatesOnly(in.Name)) || hashesSecrets(in) {
		return nil
	}
	if f.visits = s.addsAgain(f); f.visits {
		f.confidence = rule.Measured
	} else if f.confidence = s.pure(in, f.where); f.confidence == "" && f.recursive {
		if f.marks, f.confidence = s.onTheWay(in); f.confidence == "" && s.solvesAgain(in) {
			f.confidence = rule.Likely
		}
	}
	if f.confidence == "" && !f.recursive && s.walksAgain(in) {
		f.confidence, f.pointer = rule.Likely, true
	}
	if f.confidence == "" {
		return nil
	}
	s.everywhere(f)
	f.shared = !f.recursive && (f.where == inRequest || f.where == inARow) && s.shared(in.Name)
	if f.byData = f.several && f.repeats < mostNew && !f.recursive; f.byData {
		f.confidence = rule.Hint
	}
	return f
}

// repeated reports whether enough of the calls had an input seen before in the same request,
// operation or run.
func (f *found) repeated(p *rule.Pass, same bool) bool {
	window := p.Inputs.Units
	different, perRequest := f.Identical, f.PerRequest
	if same { // the receiver may change, its results do not
		different, perRequest = f.Stable, f.StablePerRequest
	}
	switch {
	case f.InRequest >= leastCalls:
		f.repeats = 1 - float64(perRequest)/float64(f.InRequest)
		f.where = inRequest
		var n float64
		n, f.unit = p.Inputs.Apart()
		f.several = float64(perRequest) > mostVariables*f.examined(n)
		f.words = fmt.Sprintf("%s calls in each %s, with %s", units.Number(float64(f.InRequest)/n), f.unit, evidence.Different(units.Number(float64(perRequest)/n)))
		if float64(perRequest) < seldomCalled*n {
			f.words = fmt.Sprintf("in %s calls, each input came %s times in one %s", units.Count(f.InRequest), units.Number(float64(f.InRequest)/float64(max(perRequest, 1))), f.unit)
		}
		if f.Stopped { // later calls were not examined: nothing is known per request
			f.words = fmt.Sprintf("in its first %s calls, each input came %s times in one %s", units.Count(f.InRequest),
				units.Number(float64(f.InRequest)/float64(max(perRequest, 1))), f.unit)
		}
	case p.Manifest.Unit() == "run" && f.Calls >= 10*leastCalls:
		f.repeats = 1 - float64(different)/float64(f.Calls)
		f.where = inRun
		if different > mostKept {
			return f.inSuccession(p)
		}
		calls := units.Count(f.Calls) + " calls in one run"
		if f.Stopped {
			calls = "the first " + calls
		}
		f.words = calls + ", with " + evidence.Different(units.Count(different))
	case p.Manifest.Target.Bench != "" && window > 0:
		// Every operation repeats the benchmark's input. One operation repeats at least the calls
		// beyond the number of all different inputs.
		calls := float64(f.Calls) / (window + 1) // package testing tries one first
		f.repeats = 1 - float64(different)/calls
		f.where = inOperation
		f.words = fmt.Sprintf("%s calls in each operation, with at most %s", units.Number(calls), evidence.Different(units.Count(different)))
	}
	return f.repeats >= leastRepeats || f.inSuccession(p)
}

// examined returns the number of requests, of n, in which calls were examined.
func (f *found) examined(n float64) float64 {
	if f.Stopped && f.StoppedAfter > 0 {
		return min(n, float64(f.StoppedAfter))
	}
	return n
}

func (s *search) describe(f *found, m *rule.Match) {
	name := symbol.Short(funcname.Typed(f.Name))
	m.Cause = fmt.Sprintf("%s repeats work that it already did for the same input: %s.", name, f.words)
	if proved(f.Function) && f.where != sameText {
		m.Cause += fmt.Sprintf(" It returned the same each time (%s of results compared).", units.Count(f.Compared))
	}
	keep := "Cache the results by their input, in a map or, if new inputs keep coming, in a cache with a size limit"
	switch {
	case f.where == sameText:
		f.describeText(m, name)
	case len(f.inside) > 0:
		f.describeWhole(m, name)
	case f.fetched:
		s.describeFetched(f, m, name)
	case f.where == assembled:
		f.describeAssembled(m, name)
	case f.where == built:
		f.describeBuilt(m, name)
	case f.where == stored:
		f.describeStored(m, name)
	case f.where == asked:
		m.Cause = fmt.Sprintf("%s asks %s each time, and gets the same answer: %s.%s", name, s.asksWhom(f.Name), f.words, s.travels(f.Name))
		m.Fix = "Cache the answer by its input, and fetch it again when it is too old; golang.org/x/sync/singleflight keeps concurrent requests from fetching it at the same time."
		if s.asksWhom(f.Name) == "the database" {
			m.Fix = strings.Replace(m.Fix, "and fetch it again", "and drop it where the program changes the rows or", 1)
		}
	case f.visits:
		m.Cause += " It only adds to a set, so a call with the same input adds nothing. It visits a shared node, and all nodes below it, once for each path to it."
		m.Fix = fmt.Sprintf("Keep a set of visited nodes, and return from %s at once if the node is in the set.", name)
	case f.marks != "":
		m.Cause += fmt.Sprintf(" %s has only the nodes on the way to the current one: %s forgets a node when it leaves it, and visits a shared node, and all nodes below it, once for each path to it. The number of paths can double with each level.", f.marks, name)
		m.Fix = fmt.Sprintf("Keep the result of each node in a map, and return it at once when %s gets the node again. %s still finds cycles.", name, f.marks)
	case f.recursive:
		m.Fix = fmt.Sprintf("Cache the results of smaller inputs (memoization), or compute them from the smallest up: %s solves the same parts again.", name)
	case f.compiles:
		m.Cause = fmt.Sprintf("%s compiles the same texts into functions again and again: %s. What it returns is called once and dropped.", name, f.words)
		m.Fix = fmt.Sprintf("Keep what %s returns, by its text, and call it for each value: in a map, or beside the text where that is set. Outside of the module, call %[1]s yourself once for each text.", name)
	case f.unwritten != "":
		m.Cause += fmt.Sprintf(" A %s does not change after it was made: nothing writes to it, so its result is the same each time.", f.unwritten)
		m.Fix = fmt.Sprintf("Compute it once, when the %s is made, and keep the result in a field of it that %s returns. Nobody may change the result then.", f.unwritten, name)
	case f.method && f.where != inRequest:
		m.Cause = fmt.Sprintf("%s computes the same result again each time: %s. It depends on its receiver, which did not change, and returned the same (%s of results compared).", name, f.ofReceivers(), units.Count(f.Compared))
		m.Fix = "Compute it where fields of its receiver are set, or on the first call after that, and keep the result in a field. Nobody may change what is kept."
	case f.pointer:
		m.Cause += " What its pointers point at did not change."
		m.Fix = "Compute it once for each of these values, and keep the result beside the value or in a map by its pointer. Compute it again if the value changes, and copy the result before changing it."
	case f.where == inRequest:
		m.Fix = "Call it once per request and pass the result on, in a variable or in the request's context."
		if f.unit != "request" {
			m.Fix = "Call it once per iteration and pass the result on."
		}
		if f.several {
			m.Fix = fmt.Sprintf("Keep the results in a map by their input, for the time of the %s, so that it is called once per %s for each input.", f.unit, f.unit)
		}
		if f.byData {
			m.Cause += fmt.Sprintf(" Most of its inputs are new to the %s, so the others are data that happen to be equal.", f.unit)
			m.Fix += " First look at what is expensive inside."
		}
	case f.where == inARow:
		m.Cause += " Code that wants several things from one input computes all of it again for each of them."
		m.Fix = "Call it once for each input and pass the result on: as a parameter, or in a field of an object that is created for the input."
	case f.where == inOperation:
		m.Fix = "Call it once and pass the result on. Or: " + lower(keep) + "."
	case f.file:
		m.Cause += " It reads a file each time."
		m.Fix = keep + ", until the file changes."
	case f.where == inLoop:
		m.Cause += " It gets the same input in each iteration of the loop."
		m.Fix = "Call it once before the loop and use the result in each iteration."
	case f.chosen:
		m.Cause += " The request decides the input, so each request computes it once."
		m.Fix = keep + ", if the same requests come often and what the result depends on does not change. First look at what is expensive inside."
	case f.where == always:
		m.Fix = keep + ", as long as what it depends on does not change."
	default:
		m.Fix = keep + "."
	}
	if f.conversion != nil && f.where != sameText {
		m.Cause += fmt.Sprintf(" It converts all of %s to a new %s each time.", syntax.Text(f.conversion.from), f.conversion.to)
		m.Fix += " Or keep the result of the last call, and return it again for the same input; nobody may change it then."
	}
	m.Confidence, m.Callers = f.confidence, f.shared
	share := f.repeats
	if len(f.inside) > 0 {
		m.Callers, m.Fraction = true, f.saved(m.CPU)
	} else if f.fetched {
		share = min(1, share/max(f.later, 0.01))
	}
	if m.Fraction == nil {
		m.Fraction = &rule.Fraction{Expect: 0.95 * share, Low: 0.6 * share, High: share}
	}
	m.Evidence = append(m.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: fmt.Sprintf("%s: %s", name, f.words)})
}

func lower(s string) string { return string(s[0]|0x20) + s[1:] }
