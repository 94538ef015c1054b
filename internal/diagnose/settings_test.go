package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

func TestCollectionOffWithoutALimit(t *testing.T) {
	const want = "collection is off (GOGC=off) and there is no GOMEMLIMIT: memory only grows, here by 40 MiB a second; set GOMEMLIMIT, below which GOGC=off is safe"
	for _, c := range []struct {
		name, kind string
		gogc       int
		limit      int64
		reported   bool
	}{
		{"off", "service", -1, 0, true},
		{"off, and a limit", "service", -1, 1 << 30, false},
		{"on", "service", 100, 0, false},
		{"not known", "service", 0, 0, false},
		{"a program that exits", "program", -1, 0, false},
	} {
		p := pass()
		p.Manifest.Target.Kind, p.Manifest.Runtime.GOGC, p.Manifest.Runtime.GOMEMLIMIT = c.kind, c.gogc, c.limit
		if notes := diagnose(t, p).Notes; slices.Contains(notes, want) != c.reported {
			t.Errorf("%s: %q", c.name, notes)
		}
	}
}

// TestInconclusiveTrialIsANote: a trial with an inconclusive result is mentioned; one with a result
// is not.
func TestInconclusiveTrialIsANote(t *testing.T) {
	turns := func(costs ...float64) *recording.Trial {
		trial := &recording.Trial{GOGC: 400}
		for i, c := range costs {
			trial.Turns = append(trial.Turns, recording.Turn{GOGC: []int{100, 400}[(i+1)/2%2], Requests: 100, CPUSeconds: c})
		}
		return trial
	}
	for _, c := range []struct {
		name  string
		trial *recording.Trial
		want  string // a part of the note; "" for none
	}{
		{"no trial", nil, ""},
		{"saves", turns(1, 0.74, 0.76, 1, 1, 0.75, 0.75, 1), ""},
		{"saves nothing", turns(1, 1.002, 0.998, 1, 1, 1, 1, 1), ""},
		{"inconclusive", turns(1, 0.5, 1.3, 1, 1, 0.7, 1.1, 1), "GOGC=400 was tried, and its effect is inconclusive (between "},
		{"too few turns", turns(1, 0.75), "GOGC=400 was tried, in too few interleaved runs"},
	} {
		p := pass()
		p.Manifest.Trial = c.trial
		got := strings.Join(diagnose(t, p).Notes, "\n")
		if c.want != "" && !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "was tried") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestSettingsAreAListOfTheirOwn: advice on settings neither pushes findings in code down nor is
// tied with them, whatever it saves, and findings in code do not list it under Also.
func TestSettingsAreAListOfTheirOwn(t *testing.T) {
	setting := func(id string, seconds float64) rule.Rule {
		r := finds(id, rule.Match{Saving: &rule.Saving{Seconds: seconds, Low: 0.9 * seconds, High: 1.1 * seconds, Collector: seconds}})
		r.Kind, r.Setting = rule.GC, true
		return r
	}
	level := finds("level", rule.Match{Site: at("main.f", "f.go", 9), CPU: []*site.Row{cpu(8, "log.Debug", "main.f")}})
	level.Kind, level.Setting = rule.Config, true
	r := diagnose(t, pass(),
		setting("limit", 2), setting("build", 1.9),
		finds("concat", rule.Match{Site: at("main.f", "f.go", 6), CPU: []*site.Row{cpu(90, "runtime.concatstring2", "main.f")}, Allocs: []*site.Row{row(1000, 30<<20, "main.f")}}),
		level)
	if len(r.Findings) != 1 || r.Findings[0].Rule != "concat" || r.Findings[0].Rank != 1 || r.Findings[0].Setting || len(r.Findings[0].TiedWith)+len(r.Findings[0].Also) > 0 {
		t.Errorf("findings: %+v", r.Findings)
	}
	if len(r.Settings) != 2 || r.Hidden.BelowFloor != 1 {
		t.Fatalf("settings: %+v, %d hidden", r.Settings, r.Hidden.BelowFloor)
	}
	for i, want := range []string{"limit S1 [S2]", "build S2 [S1]"} {
		f := &r.Settings[i]
		if got := f.Rule + " " + f.Label() + " [" + strings.Join(f.Ties(), " ") + "]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	const note = "the allocating lines, S1 and S2 save parts of the same garbage collection work: their savings do not add up"
	if !slices.Contains(r.Notes, note) {
		t.Errorf("notes: %q", r.Notes)
	}
	n := 0
	for range r.All() {
		n++
	}
	if n != 3 {
		t.Errorf("%d findings in all", n)
	}
}

// TestConfigurationIsASetting: findings of rules of the kind config are not findings in code.
func TestConfigurationIsASetting(t *testing.T) {
	for _, r := range Rules() {
		if r.Kind == rule.Config && !r.Setting {
			t.Errorf("%s is of the kind %s and no setting", r.ID, r.Kind)
		}
	}
}

// TestOtherSettingsSaveNoCollection: a setting that saves none of the collector's work shows no
// cost of it, and adds up with what allocating lines save.
func TestOtherSettingsSaveNoCollection(t *testing.T) {
	profile := finds("profile", rule.Match{Saving: &rule.Saving{Seconds: 1, Low: 0.5, High: 1.5}})
	heap := finds("heap", rule.Match{Saving: &rule.Saving{Seconds: 0.8, Low: 0.5, High: 1, Collector: 0.8}})
	profile.Kind, profile.Setting, heap.Kind, heap.Setting = rule.Config, true, rule.Config, true
	allocates := finds("allocates", rule.Match{Site: at("main.f", "f.go", 6), CPU: []*site.Row{cpu(90, "main.f")}, Allocs: []*site.Row{row(1000, 30<<20, "main.f")}})
	r := diagnose(t, pass(), profile, heap, allocates)
	if len(r.Settings) != 2 {
		t.Fatalf("%+v", r.Settings)
	}
	for _, f := range r.Settings {
		if collects := f.Rule == "heap"; (f.Cost.GCShare != nil) != collects || (f.Saving.OfCollector > 0) != collects {
			t.Errorf("%s: cost %+v, saving %+v", f.Rule, f.Cost, f.Saving)
		}
	}
	const note = "the allocating lines and S2 save parts of the same garbage collection work: their savings do not add up"
	if !slices.Contains(r.Notes, note) {
		t.Errorf("notes: %q", r.Notes)
	}
}
