package regexpofcharacters

import "testing"

// TestParse: patterns that a loop can check without going back, and others.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    check
	}{
		{`^[a-z]+$`, check{kind: consists, least: 1, most: -1, bytes: true}},
		{`^([\x21\x23-\x2b]*)$`, check{kind: consists, empty: true, least: 0, most: -1, bytes: true}},
		{`\A(?i:[a-f0-9]){2,8}\z`, check{kind: consists, least: 2, most: 8, bytes: true}},
		{`^\d$`, check{kind: consists, least: 1, most: 1, bytes: true}},
		{`^\p{L}+$`, check{kind: consists, least: 1, most: -1}},
		{`^[^/]+$`, check{kind: consists, least: 1, most: -1, bytes: true}},
		{`^[^/]{1,5}$`, check{kind: consists, least: 1, most: 5}}, // of characters, not bytes
		{`^[^=]=[0-9]$`, check{kind: steps, least: 1, most: 1}},
		{`^[^=]+=[0-9]+$`, check{kind: steps, least: 1, most: 1, bytes: true}},
		{`[^a-z0-9]`, check{kind: contains, least: 1, most: 1, bytes: true}},
		{`[^a-z0-9]+`, check{kind: contains, least: 1, most: -1, bytes: true}},
		{`^\d{4}-\d{2}-\d{2}$`, check{kind: steps, least: 1, most: 1, bytes: true}},
		{`^[a-z][a-z0-9]*(?:-[a-z0-9]+)?$`, check{kind: steps, least: 1, most: 1, bytes: true}},
		{`^[a-z]+(\.[a-z]+)*$`, check{kind: steps, least: 1, most: 1, bytes: true}},
		{`^(?:[0-9]+|[a-z]+)$`, check{kind: steps, least: 1, most: 1, bytes: true}},
		{`^(?:a[0-9]+|ab)$`, check{kind: steps, least: 1, most: 1, bytes: true}},
		{`^(?:[a-f]+|[0-9e]+)$`, check{}},                // an e says nothing
		{`^[a-z0-9.]+\.[a-z]+$`, check{}},                // the last dot decides
		{`^[a-z0-9-]*[a-z0-9]$`, check{}},                // the end decides
		{`^(?:[a-z]+)+$`, check{}},                       // ambiguous
		{`^(?:[a-z]*)*$`, check{}},                       //
		{`[a-z]*`, check{}},                              // always matches
		{`[a-z]+$`, check{}},                             // from the end
		{`^[a-z]`, check{}},                              // only the start
		{`^/api/`, check{}},                              // regexp-simple
		{`^(?:red|green)$`, check{}},                     // regexp-of-words
		{`[a-z]+@[a-z]+`, check{}},                       // searched
		{`(?m)^[a-z]+$`, check{}},                        // of any line
		{`\b[a-z]+\b`, check{}},                          // words
		{`^.+$`, check{}},                                // anything
		{`^(?i)abc[0-9]+$`, check{}},                     // folded literals
		{`^[a-z]+ [a-z]+ \d+ \d+ \d+ \d+ \d+$`, check{}}, // long
	} {
		if got := parse(c.pattern); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.pattern, got, c.want)
		}
	}
}
