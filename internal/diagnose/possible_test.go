package diagnose

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
)

// TestUncertain: rows that the fix may save too raise the upper bound alone, and only where no
// other finding has them.
func TestUncertain(t *testing.T) {
	line := at("main.is", "is.go", 1)
	line.CPU = append(line.CPU, cpu(200, "main.mark", "main.is"), cpu(300, "main.text", "main.is"))
	m := rule.Match{Site: line, CPU: line.CPU[:1]}
	possible := m
	possible.Uncertain.CPU = line.CPU // the row of the match does not count twice
	p := pass()
	p.Table.Sites = append(p.Table.Sites, line)
	saving := func(m rule.Match, others ...rule.Rule) (low, high float64) {
		report := diagnose(t, p, append(others, finds("walks", m))...)
		for _, f := range report.Findings {
			if f.Rule == "walks" {
				return f.Saving.Low, f.Saving.High
			}
		}
		t.Fatal("not found")
		return 0, 0
	}
	low, high := saving(m)
	wideLow, wideHigh := saving(possible)
	if wideLow != low || wideHigh < high+0.2 || wideHigh > high+0.35 {
		t.Errorf("saves %.3f to %.3f, and with what it may save %.3f to %.3f", low, high, wideLow, wideHigh)
	}
	other := rule.Match{Site: line, CPU: line.CPU[1:], Confidence: rule.Likely}
	if _, got := saving(possible, finds("other", other)); got != high {
		t.Errorf("saves up to %.3f with what another finding has, want %.3f", got, high)
	}
	other.Confidence = rule.Hint
	if _, got := saving(possible, finds("other", other)); got != wideHigh {
		t.Errorf("saves up to %.3f with what a hint has, want %.3f", got, wideHigh)
	}
}
