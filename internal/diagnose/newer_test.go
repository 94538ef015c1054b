package diagnose

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

func TestAdviceOnDependencies(t *testing.T) {
	s := &site.Site{Frame: site.Frame{Owner: gocode.Owner{Kind: gocode.Dependency, Module: "example.com/router", Version: "v3.3.4"}}}
	if got := (candidates{}).advice(s); got != "The line belongs to example.com/router v3.3.4: look for a newer version, or propose the change there." {
		t.Error(got)
	}
	known := candidates{"example.com/router v3.3.4": {
		{Module: "example.com/router", Version: "v4.1.2"},
		{Module: "example.com/router/v5", Version: "v5.2.3"},
	}}
	got := known.advice(s)
	for _, want := range []string{"example.com/router v3.3.4", "v4.1.2 and example.com/router/v5 v5.2.3", "not proved"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

// TestAdviceOnMeasuredReleases: what is known of a newer release takes the place of a list of
// candidates.
func TestAdviceOnMeasuredReleases(t *testing.T) {
	s := &site.Site{Frame: site.Frame{Owner: gocode.Owner{Kind: gocode.Dependency, Module: "example.com/router", Version: "v3.3.4"}}}
	figure := func(name string, old, now float64) recording.UpgradeFigure {
		return recording.UpgradeFigure{Name: name, Old: []float64{old, 1.01 * old, 0.99 * old}, New: []float64{now, 1.01 * now, 0.99 * now}}
	}
	for _, c := range []struct {
		figures []recording.UpgradeFigure
		failed  string
		want    string
	}{
		{[]recording.UpgradeFigure{figure(recording.UpgradeCPU, 1, 0.5)}, "", "v3.4.0 was measured: with it, the program takes 50 % less CPU."},
		{[]recording.UpgradeFigure{figure(recording.UpgradeCPU, 1, 1), figure(recording.UpgradeTime, 1, 0.5)}, "", "takes 50 % less time."},
		{[]recording.UpgradeFigure{figure(recording.UpgradeCPU, 1, 1)}, "", "costs about the same."},
		{[]recording.UpgradeFigure{figure(recording.UpgradeCPU, 1, 0.5), {Name: recording.UpgradeGoroutines, Old: []float64{1, 2}, New: []float64{0}}}, "",
			"leaves 0 goroutines per run in place of 1"},
		{nil, "it does not build", "v3.4.0 could not be measured: it does not build."},
	} {
		e := &engine{pass: &rule.Pass{}, manifest: recording.Manifest{
			Target:  recording.Target{Kind: "program"},
			Upgrade: &recording.Upgrade{Modules: []recording.ModuleUpgrade{{Path: "example.com/router", From: "v3.3.4", To: "v3.4.0", Failed: c.failed}}, Figures: c.figures},
		}}
		if got := e.advice(&draft{}, s); !strings.HasPrefix(got, "The line belongs to example.com/router v3.3.4.") || !strings.Contains(got, c.want) {
			t.Errorf("%q lacks %q", got, c.want)
		}
	}
	if got := (&engine{pass: &rule.Pass{}}).advice(&draft{}, s); !strings.Contains(got, "look for a newer version") {
		t.Error(got)
	}
}
