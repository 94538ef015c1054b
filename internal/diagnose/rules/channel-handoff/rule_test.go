package channelhandoff_test

import (
	"strings"
	"testing"

	channelhandoff "github.com/hone-go/hone/internal/diagnose/rules/channel-handoff"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, channelhandoff.Rule()) }

// TestWords: an unbuffered channel, and one whose room only the run knows, are told apart.
func TestWords(t *testing.T) {
	p := ruletest.RecordTraced(t, "testdata/caught.txtar")
	matches, err := channelhandoff.Rule().Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matches {
		want := "unbuffered channel numbers"
		if m.Site.Function == "main.sized" {
			want = "its room (room) was none or next to none"
		}
		if !strings.Contains(m.Cause, want) {
			t.Errorf("%s: %s; want %q", m.Site.Function, m.Cause, want)
		}
	}
}
