package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/choice"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// TestSilenced: what hone.json silences is counted and not shown, and no other rule takes its
// costs; a rule that is off leaves them to others.
func TestSilenced(t *testing.T) {
	row := cpu(500, "main.f")
	at := at("main.f", "f.go", 1)
	particular := finds("particular", rule.Match{Site: at, CPU: []*site.Row{row}})
	particular = claiming(particular, func(c *rule.Claim) { c.Specificity = 1 })
	plain := finds("plain", rule.Match{Site: at, CPU: []*site.Row{row}})
	rules := []rule.Rule{particular, plain}
	for _, c := range []struct {
		what     string
		choice   Choice
		want     string
		silenced int
		off      []string
	}{
		{"nothing", Choice{}, "particular@main.f", 0, nil},
		{"hone.json", Choice{File: &choice.File{Path: "/src/app/hone.json", Ignore: []choice.Ignore{{Rule: "particular", File: "f.go", Reason: "known"}}}}, "", 1, nil},
		{"another file", Choice{File: &choice.File{Ignore: []choice.Ignore{{Rule: "particular", File: "g.go", Reason: "known"}}}}, "particular@main.f", 0, nil},
		{"rules of hone.json", Choice{File: &choice.File{Rules: "-particular"}}, "plain@main.f", 0, []string{"particular"}},
		{"-rules before hone.json", Choice{Rules: "-plain", File: &choice.File{Rules: "-particular"}}, "particular@main.f", 0, []string{"plain"}},
	} {
		r, err := run(t.Context(), pass(), prices{}, rules, c.choice)
		if err != nil {
			t.Fatal(err)
		}
		if got := order(r); got != c.want || len(r.Silenced) != c.silenced || !slices.Equal(r.RulesOff, c.off) {
			t.Errorf("%s: %q, silenced %+v, off %v", c.what, got, r.Silenced, r.RulesOff)
		}
		for _, s := range r.Silenced {
			if want := (Silenced{"particular", "main.f", "f.go", 1, "/src/app/hone.json", "known", s.Share}); s != want || s.Share < 0.4 {
				t.Errorf("%s: %+v", c.what, s)
			}
		}
	}
	if _, err := run(t.Context(), pass(), prices{}, rules, Choice{Rules: "all,-nothing"}); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Error(err)
	}
}
