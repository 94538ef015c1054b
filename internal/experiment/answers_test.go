package experiment

import (
	"strings"
	"testing"
)

// answered returns the answers of a side to two requests: in each run a status and a body.
func answered(runs ...[2]string) []said {
	all := []said{{"GET /a", map[string]bool{}, map[string]bool{}}, {"GET /b", map[string]bool{}, map[string]bool{}}}
	for _, r := range runs {
		all[0].statuses[r[0]], all[0].bodies[r[1]] = true, true
		all[1].statuses["200"], all[1].bodies["same"] = true, true
	}
	return all
}

func TestDiffer(t *testing.T) {
	steady, clock := answered([2]string{"200", "x"}, [2]string{"200", "x"}), answered([2]string{"200", "10:00"}, [2]string{"200", "10:01"})
	for name, c := range map[string]struct {
		own, variant []said
		want         string // "" for no difference
		bodies       int
	}{
		"the same":              {steady, answered([2]string{"200", "x"}), "", 2},
		"another body":          {steady, answered([2]string{"200", "y"}), "the body of GET /a differs", 2},
		"another status":        {steady, answered([2]string{"500", "x"}), "GET /a is answered 500 instead of 200", 2},
		"no answer":             {steady, answered([2]string{"timeout", ""}), "GET /a is answered timeout", 2},
		"sometimes an error":    {steady, answered([2]string{"200", "x"}, [2]string{"503", "x"}), "is answered in several ways", 2},
		"a time":                {clock, answered([2]string{"200", "10:02"}), "", 1},
		"a time, another error": {clock, answered([2]string{"404", "10:02"}), "answered 404", 1},
		"a body that wavers":    {steady, clock, "differs from request to request, which it does not", 2},
	} {
		a, differs := differ(c.own, c.variant)
		if c.want == "" && differs != "" || !strings.Contains(differs, c.want) {
			t.Errorf("%s: %q, want %q", name, differs, c.want)
		}
		if a == nil || a.Requests != 2 || a.Bodies != c.bodies && c.want == "" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a, differs := differ(nil, nil); a != nil || differs != "" {
		t.Errorf("without answers: %+v, %q", a, differs)
	}
	if _, differs := differ(many("x"), many("y")); strings.Count(differs, "differs") != 3 || !strings.HasSuffix(differs, "and 7 more") {
		t.Errorf("of ten: %q", differs)
	}
}

func many(body string) (all []said) {
	for range 10 {
		all = append(all, said{"GET /", map[string]bool{"200": true}, map[string]bool{body: true}})
	}
	return all
}
