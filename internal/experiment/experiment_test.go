package experiment

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
)

// runs returns recordings of a program that exits, each with about that many CPU seconds and the
// given output.
func runs(id string, cpu float64, text string) kept {
	var k kept
	for i := range 4 {
		m := recording.Manifest{ID: id + string(rune('a'+i)), Created: time.Unix(int64(1000+i), 0)}
		m.Target.Kind, m.Target.ImportPath, m.Machine.Cores = "program", "example.com/p", 2
		ph := recording.Phase{Name: recording.PhaseClean, Runs: 8, Seconds: 8, MachineCPUSeconds: 8 * cpu}
		for j := range 8 {
			c := cpu * (1 + 0.002*float64((i+j)%3))
			ph.Windows = append(ph.Windows, recording.Window{Seconds: 1, CPUSeconds: c, AllocBytes: 1000, AllocObjects: 10})
			ph.CPUSeconds += c
			ph.AllocBytes += 1000
			ph.AllocObjects += 10
		}
		m.Phases = []recording.Phase{ph}
		k.sources = append(k.sources, compare.Source{Name: m.ID, Manifest: m})
		k.printed = append(k.printed, sha256.Sum256([]byte(text)))
	}
	return k
}

func verdictOf(t *testing.T, o Outcome, metric string) compare.Verdict {
	t.Helper()
	if o.Comparison == nil {
		t.Fatalf("no comparison: %+v", o)
	}
	for _, r := range o.Comparison.Rows {
		if r.Metric == metric {
			return r.Verdict
		}
	}
	t.Fatalf("no %s among %+v", metric, o.Comparison.Rows)
	return ""
}

func TestOutcomes(t *testing.T) {
	try := &try{runs: []kept{runs("base", 0.5, "42\n")}}
	half := runs("half", 0.2, "42\n")
	if o := try.outcome(Variant{Name: "half"}, &half); verdictOf(t, o, "cpu") != compare.Better || o.Differs != "" || o.Comparison.New != "half" {
		t.Errorf("a variant that takes less: %+v", o)
	}
	other := runs("other", 0.2, "41\n")
	if o := try.outcome(Variant{Name: "other"}, &other); verdictOf(t, o, "cpu") != compare.Unknown || !strings.Contains(o.Differs, "prints something other") {
		t.Errorf("a variant that computes something else: %+v", o)
	}
	random := runs("random", 0.2, "42\n")
	random.printed[1] = sha256.Sum256([]byte("the time"))
	if o := try.outcome(Variant{Name: "random"}, &random); verdictOf(t, o, "cpu") != compare.Better || o.Differs != "" {
		t.Errorf("a variant that prints something else each time: %+v", o)
	}
	if o := try.outcome(Variant{Name: "broken"}, &kept{failed: errors.New("does not build")}); o.Comparison != nil || o.Failed != "does not build" {
		t.Errorf("a variant that fails: %+v", o)
	}
}

// TestAllFailed: if no variant remains, the unchanged target does not run again.
func TestAllFailed(t *testing.T) {
	failed := kept{failed: errors.New("does not build")}
	left := &try{runs: []kept{{}, failed, {}}}
	if left.allFailed() {
		t.Error("one variant is left")
	}
	none := &try{runs: []kept{{}, failed, failed}}
	if err := none.once(t.Context(), 0); err != nil || none.n != 0 || len(none.runs[0].sources) != 0 {
		t.Errorf("%d runs, %v", none.n, err)
	}
}

func TestRefuses(t *testing.T) {
	for want, s := range map[string]Spec{
		"nothing to try":            {},
		"running service":           {Options: capture.Options{URL: "http://127.0.0.1:1"}, Variants: []Variant{{Name: "x"}}},
		"name the package relative": {Options: capture.Options{Package: t.TempDir()}, Variants: []Variant{{Name: "x", Ref: "HEAD"}}},
	} {
		if _, err := Run(t.Context(), session.Config{CacheDir: t.TempDir()}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
