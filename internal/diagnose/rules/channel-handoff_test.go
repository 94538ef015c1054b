package rules_test

import (
	"strings"
	"testing"

	channelhandoff "github.com/hone-go/hone/internal/diagnose/rules/channel-handoff"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestChannelHandoffWords: the finding distinguishes an unbuffered channel from one whose capacity
// only the run knows.
func TestChannelHandoffWords(t *testing.T) {
	p := ruletest.RecordFor(t, channelhandoff.Rule(), "channel-handoff/testdata/caught.txtar")
	matches, err := channelhandoff.Rule().Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matches {
		want := "unbuffered channel numbers"
		if m.Site.Function == "main.sized" {
			want = "its capacity (room) was zero or nearly zero"
		}
		if !strings.Contains(m.Cause, want) {
			t.Errorf("%s: %s; want %q", m.Site.Function, m.Cause, want)
		}
	}
}

// TestChannelHandoffAsked: a request that asks a goroutine for each element of a loop may ask once;
// one with a single question, or with questions that depend on replies, may not.
func TestChannelHandoffAsked(t *testing.T) {
	r := channelhandoff.Rule()
	t.Run("asked", func(t *testing.T) {
		archive := "channel-handoff/testdata/asked.txtar"
		p := ruletest.RecordFor(t, r, archive)
		ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
		matches, err := r.Find(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		const want = "asks another goroutine about each element through h.lookup, 300 times each time it is reached"
		if len(matches) != 1 || !strings.Contains(matches[0].Cause, want) {
			t.Errorf("%+v, want %q", matches, want)
		}
	})
	t.Run("onequestion", func(t *testing.T) {
		p := ruletest.RecordFor(t, r, "channel-handoff/testdata/onequestion.txtar")
		ruletest.Compare(t, r, p, nil)
		reportsNothing(t, p, "channel-handoff")
	})
}
