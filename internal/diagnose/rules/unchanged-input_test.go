package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	unchangedinput "github.com/hone-go/hone/internal/diagnose/rules/unchanged-input"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/recording"
)

// TestUnchangedInputChosen: a value that the request chooses, once per request, is a hint: what is
// computed from it is a part of the answer.
func TestUnchangedInputChosen(t *testing.T) {
	const head = `import "strings"

var texts = []string{"a b", "c d e"}

func build(text string) map[string]int {
	all := map[string]int{}
	for i, word := range strings.Fields(text) {
		all[word] = i
	}
	return all
}

type place struct{ text string }

var places = []place{{"a b"}, {"c d e"}}

type config struct{ text string }

var settings = &config{"f g"}`
	for _, c := range []struct {
		perRequest uint64
		counted    *inputs.Counts
		says       string
	}{
		{1, nil, "The request decides the input"},
		{1, calledWith(inputs.ByAddress, 1000), "The request decides the input"}, // addresses of new objects say nothing
		{1, calledWith(inputs.ByAddress, 2), "Cache the results by their input, in a map;"},
		{1, calledWith(inputs.ByValue, 2), "Cache the results by their input, in a map;"},
		{1000, nil, "Cache the results by their input, in a map;"},
	} {
		checkShapesIn(t, unchangedinput.Rule(), head, "strings.Fields main.build", 0, []shape{
			{"func F(n int) map[string]int { return build(texts[n]) } @", c.says},
			{"func F() map[string]int { return build(texts[1]) } @", "Build it once"},
			{"func F(p place) map[string]int { return build(p.text) } @", c.says},
			{"func (p *place) at_N() map[string]int { return build(p.text) } @", c.says},
			{"func F(c *config) map[string]int { return build(c.text) } @", "Build it once"},
		}, func(p *rule.Pass) {
			lines := map[int]string{}
			for i := range 400 {
				lines[i+1] = ""
			}
			p.Counts, p.Inputs = ran(lines, c.perRequest), c.counted
			p.Manifest.Load = &recording.Load{Targets: []string{"GET http://127.0.0.1/"}}
		})
	}
}

// calledWith returns the inputs of a function that was called by each of a thousand requests.
func calledWith(how inputs.Taken, different int64) *inputs.Counts {
	return &inputs.Counts{Requests: 1000, Targets: 500, Functions: []inputs.Function{{
		Name: "main.build", Calls: 1000, Hashed: 1000, Different: 2, Stable: different, InRequest: 1000, PerRequest: 1000,
		Params: []inputs.Taken{how},
	}}}
}
