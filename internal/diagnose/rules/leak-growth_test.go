package rules_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	leakgrowth "github.com/hone-go/hone/internal/diagnose/rules/leak-growth"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/site"
)

// TestLeakGrowth treats the programs, which exit, as services.
func TestLeakGrowth(t *testing.T) {
	r := serving(t)
	ruletest.Caught(t, r, "leak-growth")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, filepath.Join("leak-growth", "testdata", "nearmiss.txtar")), nil)
}

// serving returns the rule as it is for services.
func serving(t *testing.T) rule.Rule {
	r := leakgrowth.Rule()
	find, _ := r.Finder.(finder.Groups)
	loop := find.Rows
	find.Rows = func(ctx context.Context, p *rule.Pass) ([]rule.Match, error) {
		if matches, _ := loop(ctx, p); len(matches) > 0 {
			t.Errorf("a program's result: %s", matches[0].Cause)
		}
		as := *p
		m := *p.Manifest
		m.Target.Kind = "service"
		as.Manifest = &m
		return loop(ctx, &as)
	}
	r.Finder = find
	return r
}

// TestLeakGrowthLoadsItself: a program that sends requests to itself is treated as a service.
func TestLeakGrowthLoadsItself(t *testing.T) {
	r := leakgrowth.Rule()
	r.Needs = append(r.Needs, rule.NeedInputs)
	archive := filepath.Join("leak-growth", "testdata", "selfload.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}

// TestLeakGrowthInModules: a container of another module grows, because the module never removes
// anything, or because the program never asks for it.
func TestLeakGrowthInModules(t *testing.T) {
	r := serving(t)
	archive := filepath.Join("leak-growth", "testdata", "modules.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}

// TestLeakGrowthTexts: texts that one line makes, and another appends to a list that is only read.
func TestLeakGrowthTexts(t *testing.T) {
	r := serving(t)
	archive := filepath.Join("leak-growth", "testdata", "texts.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}

// TestLeakGrowthAbandoned: what is open already when a later value cannot be opened.
func TestLeakGrowthAbandoned(t *testing.T) {
	r := serving(t)
	archive := filepath.Join("leak-growth", "testdata", "abandoned.txtar")
	p := ruletest.RecordFor(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	if matches := matchesOf(t, r, p); !slices.ContainsFunc(matches, func(m rule.Match) bool {
		return strings.Contains(m.Cause, "open returns on line 37 without closing those in all: nothing calls close")
	}) {
		t.Errorf("%+v", matches)
	}
}

// TestLeakGrowthPaths: entries that one path does not remove, and what timers refer to that nobody
// stops.
func TestLeakGrowthPaths(t *testing.T) {
	r := serving(t)
	archive := filepath.Join("leak-growth", "testdata", "paths.txtar")
	p := ruletest.RecordFor(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	says := map[string]bool{}
	for _, m := range matchesOf(t, r, p) {
		for _, words := range []string{"but not when it returns on line", "nobody stops it"} {
			says[words] = says[words] || strings.Contains(m.Cause, words)
		}
	}
	if len(says) != 2 || !says["nobody stops it"] || !says["but not when it returns on line"] {
		t.Error(says)
	}
}

// TestLeakGrowthGuarded: a condition that never holds keeps entries from being removed.
func TestLeakGrowthGuarded(t *testing.T) {
	r := serving(t)
	archive := filepath.Join("leak-growth", "testdata", "guarded.txtar")
	p := ruletest.RecordFor(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	matches, err := r.Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(matches, func(m rule.Match) bool {
		return strings.Contains(m.Cause, "are removed only if r.waiting[ship] == 0 (main.go:23)")
	}) {
		t.Errorf("%+v", matches)
	}
}

// TestLeakGrowthMaps: inner maps that stay when their last entry is deleted.
func TestLeakGrowthMaps(t *testing.T) {
	r := serving(t)
	archive := filepath.Join("leak-growth", "testdata", "maps.txtar")
	p := ruletest.RecordFor(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	matches, err := r.Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(matches, func(m rule.Match) bool {
		return strings.Contains(m.Cause, "Its maps stay even when main.go:36 deletes their last entry") && strings.Contains(m.Fix, "remove the map from r.ships")
	}) {
		t.Errorf("%+v", matches)
	}
}

// TestLeakGrowthEnds: values in lists of maps and in lists, whose own methods end them and leave
// them there.
func TestLeakGrowthEnds(t *testing.T) {
	r := serving(t)
	archive := filepath.Join("leak-growth", "testdata", "ends.txtar")
	p := ruletest.RecordFor(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	said := ""
	for _, m := range matchesOf(t, r, p) {
		said += m.Cause + " " + m.Fix + "\n"
	}
	for _, words := range []string{"(*follower).stop (main.go:30) ends it, and leaves it there", "(*call).finish has to take it out", "Remove it from h.topics", "Remove it from o.calls",
		"out (main.go:100) deletes it from l.badges, and leaves it in l.names"} {
		if !strings.Contains(said, words) {
			t.Errorf("%q is not in %s", words, said)
		}
	}
	if words := "deletes it from j.waiting"; strings.Contains(said, words) { // start moves it
		t.Errorf("%q is in %s", words, said)
	}
}

// TestLeakGrowthChain: each value refers to the one before, or a timer to what another line made.
func TestLeakGrowthChain(t *testing.T) {
	r := serving(t)
	archive := filepath.Join("leak-growth", "testdata", "chain.txtar")
	p := ruletest.RecordFor(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	said := ""
	for _, m := range matchesOf(t, r, p) {
		said += m.Cause + " " + m.Fix + "\n"
	}
	for _, words := range []string{"Each refers to the one before (before: p.now)", "Set before to nil", "refers to it for 1h0m0s"} {
		if !strings.Contains(said, words) {
			t.Errorf("%q is not in %s", words, said)
		}
	}
}

// TestLeakGrowthExpiry: entries and keys that stay when what they are for has ended.
func TestLeakGrowthExpiry(t *testing.T) {
	r := serving(t)
	archive := filepath.Join("leak-growth", "testdata", "expiry.txtar")
	p := ruletest.RecordFor(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	said := ""
	for _, m := range matchesOf(t, r, p) {
		said += m.Cause + " " + m.Fix + "\n"
	}
	for _, words := range []string{
		"removed only when its own key is read again (Get, main.go:", "or if len(c.entries) >= c.max", "Delete a key of w.asked", "remove the map from x.berths[of] when it is empty",
		"drop (main.go:148) deletes it from s.texts, and leaves it in t.minutes", "ask sets the value to nil", "Delete the entry there: delete(c.waiting, id)",
	} {
		if !strings.Contains(said, words) {
			t.Errorf("%q is not in %s", words, said)
		}
	}
}

// TestLeakGrowthOfStarter: what a function of a module made, that also started the goroutines which
// wait at the end, belongs to those; but not if they are few, or if another function started them.
func TestLeakGrowthOfStarter(t *testing.T) {
	r := serving(t)
	p := *ruletest.RecordFor(t, r, filepath.Join("leak-growth", "testdata", "modules.txtar"))
	var callee string
	for _, m := range matchesOf(t, r, &p) {
		if len(m.Callees) > 0 {
			callee = m.Callees[0]
		}
	}
	if callee == "" {
		t.Fatal("no call of a module")
	}
	p.Goroutines = rule.Change{First: 10, Last: 9010}
	for _, test := range []struct {
		creator string
		count   int64
		want    bool
	}{{callee, 9000, true}, {callee, 900, false}, {"example.com/other.Start", 9000, false}} {
		parked := site.Parked{Frame: site.Frame{Function: "example.com/other.wait", File: "/src/wait.go", Line: 5}, Count: test.count}
		parked.Created.Function = test.creator
		p.Parked = []site.Parked{parked}
		found := slices.ContainsFunc(matchesOf(t, r, &p), func(m rule.Match) bool {
			return strings.Contains(m.Cause, "goroutines that do not end: 9000 wait on wait.go:5") && strings.HasPrefix(m.Fix, "End the goroutines")
		})
		if found != test.want {
			t.Errorf("%+v: %v", test, found)
		}
	}
}
