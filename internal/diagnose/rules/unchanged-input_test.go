package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	unchangedinput "github.com/hone-go/hone/internal/diagnose/rules/unchanged-input"
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
}`
	for _, c := range []struct {
		perRequest uint64
		says       string
	}{
		{1, "The request decides the input"},
		{1000, "Cache the results by their input, in a map;"},
	} {
		checkShapesIn(t, unchangedinput.Rule(), head, "strings.Fields main.build", 0, []shape{
			{"func F(n int) map[string]int { return build(texts[n]) } @", c.says},
			{"func F() map[string]int { return build(texts[1]) } @", "Build it once"},
		}, func(p *rule.Pass) {
			lines := map[int]string{}
			for i := range 400 {
				lines[i+1] = ""
			}
			p.Counts = ran(lines, c.perRequest)
			p.Manifest.Load = &recording.Load{Targets: []string{"GET http://127.0.0.1/"}}
		})
	}
}
