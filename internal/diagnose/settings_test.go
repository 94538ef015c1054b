package diagnose

import (
	"slices"
	"testing"
)

func TestCollectionOffWithoutALimit(t *testing.T) {
	const want = "collection is off (GOGC=off) and there is no GOMEMLIMIT: memory only grows, here by 40 MiB a second; set a limit, below which GOGC=off does no harm"
	for _, c := range []struct {
		name, kind string
		gogc       int
		limit      int64
		told       bool
	}{
		{"off", "service", -1, 0, true},
		{"off, and a limit", "service", -1, 1 << 30, false},
		{"on", "service", 100, 0, false},
		{"not known", "service", 0, 0, false},
		{"a program that ends", "program", -1, 0, false},
	} {
		p := pass()
		p.Manifest.Target.Kind, p.Manifest.Runtime.GOGC, p.Manifest.Runtime.GOMEMLIMIT = c.kind, c.gogc, c.limit
		if notes := diagnose(t, p).Notes; slices.Contains(notes, want) != c.told {
			t.Errorf("%s: %q", c.name, notes)
		}
	}
}
