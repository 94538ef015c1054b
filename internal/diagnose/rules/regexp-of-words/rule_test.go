package regexpofwords

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		pattern string
		words   []string // nil: not only words
		fold    bool
	}{
		{`^(?:a|b)$`, []string{"a", "b"}, false},
		{`\A(one|t\.w\|o)\z`, []string{"one", "t.w|o"}, false},
		{`(?i)^(?:grün|rot)$`, []string{"grün", "rot"}, true},
		{`^(?i:a|b)$`, []string{"a", "b"}, true},
		{`^(?i)(a|b)$`, []string{"a", "b"}, true},
		{`^(?:a|)$`, []string{"a", ""}, false},
		{`^(?:a)$`, nil, false}, // regexp-simple
		{`^a|b$`, nil, false},   // a prefix or a suffix
		{`(?:a|b)`, nil, false},
		{`^(?:a|b)`, nil, false},
		{`(?:a|b)$`, nil, false},
		{`(?m)^(?:a|b)$`, nil, false},
		{`^(?:a|b.)$`, nil, false},
		{`^(?:a|b\d)$`, nil, false},
		{`^(?:a|b)?$`, nil, false},
		{`^(?:a)|(?:b)$`, nil, false},
		{`^(?:a|b\)$`, nil, false},
	} {
		got, ok := parse(c.pattern)
		if ok != (c.words != nil) || ok && (!slices.Equal(got.words, c.words) || got.fold != c.fold) {
			t.Errorf("%s: %v %t", c.pattern, got, ok)
		}
	}
}
