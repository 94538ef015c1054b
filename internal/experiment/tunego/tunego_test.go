package tunego

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/session"
)

func TestCandidates(t *testing.T) {
	all := strings.Fields("go 1.24.9 1.25.0 1.25.10 1.25.9 1.26rc1 1.26.0 1.26.2 1.27beta1 1.27.0 1.28.1 1.28.0")
	for _, x := range []struct {
		current string
		want    []string
	}{
		{"go1.25.9", []string{"go1.25.10", "go1.26.2", "go1.27.0"}},
		{"go1.25.10", []string{"go1.26.2", "go1.27.0"}},
		{"go1.27.0", []string{"go1.28.1"}},
		{"go1.28.1", nil},
		{"go1.29.0", nil},
	} {
		if got := Candidates(all, x.current); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v, want %v", x.current, got, x.want)
		}
	}
}

func TestBest(t *testing.T) {
	outcome := func(name string, rows ...compare.Row) experiment.Outcome {
		return experiment.Outcome{Variant: experiment.Variant{Name: name}, Comparison: &compare.Comparison{Rows: rows}}
	}
	row := func(metric string, v compare.Verdict, ratio float64) compare.Row {
		return compare.Row{Metric: metric, Verdict: v, Ratio: &ratio}
	}
	a := outcome("a", row("cpu", compare.Better, 0.9))
	b := outcome("b", row("cpu", compare.Better, 0.8), row("allocated", compare.Worse, 1.2))
	c := outcome("c", row("cpu", compare.Unknown, 0.5))
	differs := outcome("d", row("cpu", compare.Better, 0.1))
	differs.Differs = "it prints something else"
	failed := experiment.Outcome{Variant: experiment.Variant{Name: "e"}, Failed: "does not build"}
	if got := best([]experiment.Outcome{failed, c, differs, b, a}); got != "a" {
		t.Errorf("best is %q", got)
	}
	if got := best([]experiment.Outcome{failed, c, b}); got != "" {
		t.Errorf("best is %q of those that save nothing, or lose", got)
	}
}

func TestRefused(t *testing.T) {
	if _, err := Run(context.Background(), session.Config{}, Spec{Options: capture.Options{URL: "http://127.0.0.1:1"}}); err == nil || !strings.Contains(err.Error(), "name its package") {
		t.Error(err)
	}
	if _, err := Run(context.Background(), session.Config{}, Spec{Versions: []string{"-o"}}); err == nil || !strings.Contains(err.Error(), "not a version of Go") {
		t.Error(err)
	}
}
