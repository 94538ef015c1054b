package evidence_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
)

func TestCommands(t *testing.T) {
	p := &rule.Pass{RecordingPath: "my rec.hone"}
	want := `hone list -sample_index=cpu '^main\.\(\*StatsD\)\.Send$' 'my rec.hone'`
	if got := evidence.ListCommand(p, "cpu", "main.(*StatsD).Send"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := evidence.TopCommand((&rule.Pass{}), "cpu"); got != "hone top -sample_index=cpu REC" {
		t.Error(got)
	}
}
