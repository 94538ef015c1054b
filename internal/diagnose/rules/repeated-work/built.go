package repeatedwork

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// A price list, a menu or a configuration is made of rows of a database for each request, though it
// is the same for all who get it. To keep the rows would leave the larger part of the work: what is
// to be kept is the finished document, until a row changes.

const (
	// leastMade is the minimum share of a function's cost outside of the database's client.
	leastMade = 0.4
	// perInput is the minimum number of different requests for each input.
	perInput = 4
	// fewestTargets is the minimum number of different requests.
	fewestTargets = 8
)

// builtAgain judges functions of the program that make a document of rows, for few inputs and many
// different requests, and returned the same for each input. The program may hardly ever execute a
// statement that changes rows.
func (s *search) builtAgain(in *inputs.Function) *found {
	c := s.costs[in.Name]
	if c == nil || c.Recursive || in.InRequest < leastCalls || in.Stopped || in.Stable > mostFiles || !s.own(in) || !s.answersTheSame(in) || hashesSecrets(in) {
		return nil
	}
	f := &found{Function: in, where: built, confidence: rule.Likely, repeats: 1 - float64(in.Stable)/float64(in.Calls)}
	targets := cmp.Or(in.Targets, s.pass.Inputs.Targets)
	if f.repeats < fewRepeat || targets < max(fewestTargets, perInput*in.Stable) || s.share(in.Name) < leastShare {
		return nil
	}
	if !s.queries(in.Name) || s.made(in.Name) < leastMade || s.writes(seldomWritten*float64(in.Calls)/s.pass.Inputs.Units) {
		return nil
	}
	f.remote = s.remote(in.Name)
	f.words = fmt.Sprintf("%s, for %s different requests", few(in, in.Stable), units.Count(targets))
	return f
}

// made returns the share of a function's cost outside of clients of databases and services.
func (s *search) made(name string) float64 {
	var total, made int64
	for _, r := range s.costs[name].Rows {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.Function == name })
		total += r.Value
		if !slices.ContainsFunc(r.Stack[:max(i, 0)], func(f *site.Frame) bool { return client(f.Function) }) {
			made += r.Value
		}
	}
	if total == 0 {
		return 0
	}
	return float64(made) / float64(total)
}

func (f *found) describeBuilt(m *rule.Match, name string) {
	if f.remote {
		m.Cause = fmt.Sprintf("%s asks another service and makes its result of the answer again for each request: %s. It returned the same each time (%s of results compared).", name, f.words, units.Count(f.Compared))
		m.Fix = fmt.Sprintf("Keep the finished result of %s by its input, and make it again when it is too old. Nobody may change what is kept. singleflight keeps concurrent requests from making it at the same time.", symbol.Short(funcname.Typed(f.Name)))
		return
	}
	m.Cause = fmt.Sprintf("%s reads rows and makes its result of them again for each request: %s. It returned the same each time (%s of results compared), and the program changes rows less than once in %d of these calls, or never.",
		name, f.words, units.Count(f.Compared), int(1/seldomWritten))
	m.Fix = fmt.Sprintf("Keep the finished result of %s by its input, and drop it where the program changes the rows; give it a time limit if others change them too. Nobody may change what is kept. singleflight keeps concurrent requests from making it at the same time.", symbol.Short(funcname.Typed(f.Name)))
}
