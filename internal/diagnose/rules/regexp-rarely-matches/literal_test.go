package regexprarelymatches

import (
	"slices"
	"testing"
)

func TestRequired(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    []string // nil: none
		fold    bool
	}{
		{`\d+ms.*timeout`, []string{"timeout"}, false},
		{`(\w+) (refused|timeout)`, []string{"refused", "timeout"}, false},
		{`^.*\[error\] (.+)$`, []string{"[error] "}, false},
		{`(?i)\d+ error`, []string{" error"}, true},
		{`(?i)\d+ users`, nil, false},                     // s has a third form
		{`(?i)\w+ deadlock`, []string{" deadlock"}, true}, // as has k, which strings.ToLower converts
		{`\d(abc)+x`, []string{"abc"}, false},
		{`(?:abcd){2,}\d`, nil, false}, // the engine searches for abcdabcd
		{`\d(?:abcd){0,2}`, nil, false},
		{`user=(\w+)`, nil, false}, // the engine searches for the start
		{`user=(\w+) id=\d+`, []string{" id="}, false},
		{`\d+(timeout)?`, nil, false},
		{`\d+(timeout|)`, nil, false},
		{`\d+|timeout`, nil, false},
		{`\w(one|two|three|four|five|six|seven|eight|nine)\w`, nil, false}, // too many
		{`timeout`, nil, false},
		{`^(?:red|green)$`, nil, false},
		{`\w+@\w+`, nil, false},
		{`(`, nil, false},
	} {
		got, ok := required(c.pattern)
		if ok != (c.want != nil) || ok && (!slices.Equal(got.literals, c.want) || got.fold != c.fold) {
			t.Errorf("%s: %+v %t", c.pattern, got, ok)
		}
	}
}
