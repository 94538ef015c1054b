package diagnose

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// TestChargeOnce: whatever rules claim, every claimed row is charged to exactly one of the rules
// that claim it; therefore no sum of costs exceeds the total.
func TestChargeOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d"}
		table := make([]*site.Row, rapid.IntRange(0, 12).Draw(t, "rows"))
		for i := range table {
			stack := rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, "stack")
			table[i] = row(1, rapid.Int64Range(0, 100).Draw(t, "value"), stack...)
		}
		pick := func(what string) []*site.Row {
			var rows []*site.Row
			if len(table) > 0 {
				rows = rapid.SliceOf(rapid.SampledFrom(table)).Draw(t, what) // a row may occur twice
			}
			return rows
		}
		claims := make([]*claim, rapid.IntRange(0, 5).Draw(t, "claims"))
		for i := range claims {
			claims[i] = &claim{
				rule:  specific(rapid.IntRange(0, 1).Draw(t, "specificity")),
				match: rule.Match{CPU: pick("cpu"), Allocs: pick("allocs"), Callees: rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(t, "callees")},
				order: i,
			}
		}
		charge(claims)
		for _, k := range kinds {
			claimed, charged := map[*site.Row]bool{}, map[*site.Row]int{}
			for _, c := range claims {
				own := map[*site.Row]bool{}
				for _, r := range k.claimed(&c.match) {
					claimed[r], own[r] = true, true
				}
				for _, r := range *k.charged(&c.charged) {
					charged[r]++
					if !own[r] {
						t.Fatal("a claim was charged with a row that it does not claim")
					}
				}
			}
			for r := range claimed {
				if charged[r] != 1 {
					t.Fatalf("a row was charged %d times", charged[r])
				}
			}
			if len(charged) != len(claimed) {
				t.Fatal("a row was charged that nobody claims")
			}
		}
	})
}

func TestChargeOrder(t *testing.T) {
	r := cpu(1, "runtime.mallocgc", "inner", "outer", "main.f")
	other := cpu(5, "outer", "main.f")
	match := func(callee string, rows ...*site.Row) rule.Match {
		m := rule.Match{CPU: rows}
		if callee != "" {
			m.Callees = []string{callee}
		}
		return m
	}
	for _, c := range []struct {
		name string
		a, b claim // r goes to a
	}{
		{"the callee nearer the leaf", claim{match: match("inner", r, other)}, claim{match: match("outer", r), rule: specific(9)}},
		{"a callee rather than the line", claim{match: match("outer", r, other)}, claim{match: match("", r)}},
		{"the more specific rule", claim{match: match("outer", r, other), rule: specific(1)}, claim{match: match("outer", r)}},
		{"the narrower match", claim{match: match("outer", r)}, claim{match: match("outer", r, other)}},
		{"the earlier one", claim{match: match("outer", r), order: 0}, claim{match: match("outer", r), order: 1}},
	} {
		for _, swap := range []bool{false, true} {
			claims := []*claim{&c.a, &c.b}
			if swap {
				claims = []*claim{&c.b, &c.a}
			}
			charge(claims)
			got := fmt.Sprint(has(c.a.charged.cpu, r), has(c.b.charged.cpu, r))
			if got != "true false" {
				t.Errorf("%s (swapped %t): %s", c.name, swap, got)
			}
		}
	}
}

// TestChargeLive: live memory goes to the rule that says why it is kept, CPU of the same line to
// the more specific rule.
func TestChargeLive(t *testing.T) {
	live, spent := row(1, 100, "main.f"), cpu(5, "main.f")
	leak := claim{rule: rule.Rule{Kind: rule.Leak}, match: rule.Match{Live: []*site.Row{live}}}
	work := claim{rule: specific(9), match: rule.Match{CPU: []*site.Row{spent}, Live: []*site.Row{live}}, order: 1}
	charge([]*claim{&work, &leak})
	if !has(leak.charged.live, live) || has(work.charged.live, live) || !has(work.charged.cpu, spent) {
		t.Errorf("live memory: leak %t, work %t; CPU: work %t", has(leak.charged.live, live), has(work.charged.live, live), has(work.charged.cpu, spent))
	}
}

func has(rows []*site.Row, r *site.Row) bool {
	for _, o := range rows {
		if o == r {
			return true
		}
	}
	return false
}

// specific returns a rule of a specificity.
func specific(n int) rule.Rule {
	return rule.Rule{Finder: finder.Groups{Claim: rule.Claim{Specificity: n}}}
}
