package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	procsoverquota "github.com/hone-go/hone/internal/diagnose/rules/procs-over-quota"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// TestProcsOverQuotaPrograms sets what a quota of one CPU would do: it throttles a program that
// runs on two processors, but not one that runs on one.
func TestProcsOverQuotaPrograms(t *testing.T) {
	for _, name := range []string{"caught", "nearmiss"} {
		p := ruletest.Record(t, "procs-over-quota/testdata/"+name+".txtar")
		p.Manifest.Machine.CgroupCPUs = 1
		p.Manifest.Runtime.GOMAXPROCS = 8
		p.Manifest.Runtime.Go = "go1.24.3"
		caught := name == "caught"
		if caught {
			p.Manifest.Phases[0].Throttled = p.Manifest.Phases[0].Seconds
		}
		m := firstOf(t, procsoverquota.Rule(), p)
		if (m != nil) != caught {
			t.Errorf("%s: %v", name, m)
		}
		if m != nil && (m.Saving.Latency <= 0 || !strings.Contains(m.Fix, "Go 1.25")) {
			t.Errorf("%s: %s %+v", name, m.Fix, *m.Saving)
		}
	}
}

func TestProcsOverQuotaSettings(t *testing.T) {
	for _, c := range []struct {
		name      string
		release   string
		procs     int
		quota     float64
		throttled float64
		want      string
	}{
		{"an old runtime", "go1.24.3", 64, 2, 32, "Build with Go 1.25 or newer"},
		{"set by hand", "go1.26.0", 64, 2.5, 32, "Leave GOMAXPROCS to the runtime, or set it to 3."},
		{"by the quota", "go1.26.0", 3, 2.5, 32, ""},
		{"the runtime's least", "go1.25.0", 2, 0.5, 5, ""},
		{"not held back", "go1.24.3", 64, 2, 0.1, ""},
		{"no quota", "go1.24.3", 64, 0, 32, ""},
		{"nothing known", "", 0, 2, 32, ""},
	} {
		p := &rule.Pass{Table: &site.Table{}, Manifest: &recording.Manifest{
			Runtime: recording.Runtime{Go: c.release, GOMAXPROCS: c.procs},
			Machine: recording.Machine{CgroupCPUs: c.quota},
			Phases:  []recording.Phase{{Name: recording.PhaseClean, Seconds: 10, Throttled: c.throttled}},
		}}
		m := firstOf(t, procsoverquota.Rule(), p)
		switch {
		case m == nil && c.want != "":
			t.Errorf("%s: silent", c.name)
		case m != nil && (c.want == "" || !strings.Contains(m.Fix, c.want)):
			t.Errorf("%s: %q, want %q", c.name, m.Fix, c.want)
		case m != nil && m.Saving.Seconds > 0.5*m.Saving.Latency:
			t.Errorf("%s: %+v", c.name, *m.Saving)
		}
	}
}
