package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	lockconvoy "github.com/hone-go/hone/internal/diagnose/rules/lock-convoy"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestLockConvoyNamesBothSides: the finding is at the holder, and names who waits.
func TestLockConvoyNamesBothSides(t *testing.T) {
	p := ruletest.RecordTraced(t, "lock-convoy/testdata/caught.txtar")
	matches, err := lockconvoy.Rule().Find(t.Context(), p)
	if err != nil || len(matches) == 0 {
		t.Fatal(matches, err)
	}
	for _, m := range matches {
		if !strings.Contains(m.Cause, "They wait on line 14") || !strings.Contains(m.Cause, "held from line 14 to 19") {
			t.Error(m.Cause)
		}
	}
}

// TestLockConvoySeldom: a lock that is seldom held, but long, explains the slow requests. The line
// that held it is the one reported, not those of the requests that wake each other.
func TestLockConvoySeldom(t *testing.T) {
	const archive = "lock-convoy/testdata/seldom.txtar"
	r := lockconvoy.Rule()
	matches, p := ruletest.FindTraced(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	if len(matches) != 1 || !strings.Contains(matches[0].Cause, "for time.Sleep in (*main.disk).load") {
		t.Fatalf("%+v", matches)
	}
	if !strings.Contains(matches[0].Fix, " at only reads what p.mu guards: let it read a snapshot") {
		t.Error(matches[0].Fix)
	}
}

// TestLockConvoyRoute: little of all time is a wait for a lock, but it is most of the time of one
// handler's requests.
func TestLockConvoyRoute(t *testing.T) {
	const archive = "lock-convoy/testdata/route.txtar"
	r := lockconvoy.Rule()
	matches, p := ruletest.FindTraced(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	if len(matches) != 1 || !strings.Contains(matches[0].Cause, "Requests of (*main.log).note spend ") || !strings.Contains(matches[0].Cause, "held for reading") {
		t.Errorf("%+v", matches)
	}
}

// TestLockConvoyTransaction: what runs between the calls of another module that lock and unlock is
// named, and the finding is where the main module leads there.
func TestLockConvoyTransaction(t *testing.T) {
	const archive = "lock-convoy/testdata/transaction.txtar"
	r := lockconvoy.Rule()
	matches, p := ruletest.FindTraced(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	if len(matches) != 1 || !strings.Contains(matches[0].Cause, "for time.Sleep in price") || !strings.Contains(matches[0].Fix, "in what (*store.Store).Update calls") {
		t.Errorf("%+v", matches)
	}
}

// TestLockConvoyPassed: the section of a function that returns locked is known, and where the CPU
// goes below a function that the section gets.
func TestLockConvoyPassed(t *testing.T) {
	const archive = "lock-convoy/testdata/passed.txtar"
	r := lockconvoy.Rule()
	matches, p := ruletest.FindTraced(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	for _, want := range []string{"mu is held from line 27 to 31, to the end of the function by defer.", "of that is in a function in main (main.go:66)"} {
		if len(matches) != 2 || !slices.ContainsFunc(matches, func(m rule.Match) bool { return strings.Contains(m.Cause, want) }) {
			t.Errorf("%+v", matches)
		}
	}
}
