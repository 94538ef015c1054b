package diagnose

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// TestGolden compares the JSON of a report with every kind of finding: the schema that scripts
// depend on.
func TestGolden(t *testing.T) {
	pad, send, send2 := at("main.leftpad", "leftpad.go", 6), at("main.(*StatsD).Send", "statsd.go", 36), at("main.(*StatsD).Send", "statsd.go", 38)
	entry := at("main.handler", "handlers.go", 41).Frame
	pad.Entry = &entry
	dep := at("example.com/dep.Write", "dep.go", 12)
	dep.Owner = gocode.Owner{Kind: gocode.Dependency, Module: "example.com/dep", Version: "v1.2.3", Package: "example.com/dep", File: "dep.go"}
	alloc := func(mib, objects int64, f string) []*site.Row { return []*site.Row{row(objects, mib<<20, f)} }

	p := pass()
	p.Table.Notes = []string{"2 % of CPU has no owner"}
	report := diagnose(t, p,
		finds("concat-loop", rule.Match{
			Site: pad, CPU: []*site.Row{cpu(90, "runtime.concatstring2", "main.leftpad")}, Allocs: alloc(30, 400_000, "main.leftpad"),
			Callees: []string{"runtime.concatstring*"}, Cause: "The loop makes s longer.", Fix: "Use a builder.", Confidence: rule.Measured,
			Evidence: []rule.Evidence{{What: "the compiler's decision", Value: "string(c) + s escapes to heap", Command: "go build -gcflags=-m=2 ."}},
		}),
		finds("sprintf-simple",
			rule.Match{Site: send, CPU: []*site.Row{cpu(40, "fmt.Sprintf", "main.(*StatsD).Send")}, Cause: "It formats.", Fix: "Concatenate."},
			rule.Match{Site: send2, CPU: []*site.Row{cpu(30, "fmt.Sprintf", "main.(*StatsD).Send")}, Cause: "It formats, too.", Fix: "Concatenate."},
			rule.Match{Site: dep, CPU: []*site.Row{cpu(60, "fmt.Sprintf", "example.com/dep.Write")}, Cause: "It formats.", Fix: "Concatenate.", Confidence: rule.Hint},
			rule.Match{Site: at("main.cold", "cold.go", 1), CPU: []*site.Row{cpu(2, "fmt.Sprintf", "main.cold")}},
		),
		finds("unbuffered-log", rule.Match{
			Site: at("main.logged", "handlers.go", 22), CPU: []*site.Row{cpu(80, "log.Printf", "main.logged")},
			Mutex: []*site.Row{row(500, 2e9, "log.Printf", "main.logged")}, Cause: "A write per line.", Fix: "Buffer it.", Confidence: rule.Measured,
		}),
		rule.Rule{ID: "gc", Kind: rule.Config, Setting: true, Title: "Idle memory", Finder: finds("", rule.Match{
			Saving: &rule.Saving{Seconds: 1.2, Low: 0.9, High: 1.3, Collector: 1.2}, Cause: "It collects often.", Fix: "Try GOGC=400.",
		}).Finder},
	)
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(report); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "report.json")
	if ruletest.Updating() {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("the report changed (-want +got); go test -update when it should:\n%s", d)
	}
}
