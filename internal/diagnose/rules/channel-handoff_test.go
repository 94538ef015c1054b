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
	p := ruletest.RecordTraced(t, "channel-handoff/testdata/caught.txtar")
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
