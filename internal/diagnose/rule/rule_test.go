package rule_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

func row(owner int, functions ...string) *site.Row {
	r := &site.Row{Owner: owner}
	for _, f := range functions {
		r.Stack = append(r.Stack, &site.Frame{Function: f})
	}
	return r
}

func TestRows(t *testing.T) {
	r := row(3, "runtime.memmove", "runtime.concatstrings", "runtime.concatstring2", "main.pad", "main.main")
	if !rule.CallsDirectly(r, "runtime.concatstring*") || rule.CallsDirectly(r, "runtime.memmove") {
		t.Error("the line calls concatstring2 and nothing else")
	}
	if rule.Leaf(r) || !rule.Leaf(row(0, "main.pad")) {
		t.Error("Leaf")
	}
	if rule.Callee(row(0, "main.pad")) != "" || rule.Callee(row(-1, "runtime.gcBgMarkWorker")) != "" {
		t.Error("a leaf and a bucket's row have no callee")
	}
	for _, c := range []struct {
		patterns []string
		want     int
	}{
		{[]string{"runtime.concatstring*"}, 1},
		{[]string{"runtime.concatstring2"}, 2},
		{[]string{"main.main"}, 3},
		{nil, 3},
	} {
		if got := rule.Depth(r, c.patterns); got != c.want {
			t.Errorf("Depth(%q) = %d, want %d", c.patterns, got, c.want)
		}
	}
}

func TestInitName(t *testing.T) {
	for name, want := range map[string]bool{
		"main.init":                       true,
		"example.com/app.init.0":          true,
		"example.com/my.app/x.init.func1": true,
		"main.main":                       false,
		"main.initialise":                 false,
		"main.(*T).init":                  false,
		"":                                false,
	} {
		if got := rule.InitName(name); got != want {
			t.Errorf("InitName(%q) = %t", name, got)
		}
	}
}

func TestInitial(t *testing.T) {
	if !rule.Initial(row(1, "strings.NewReplacer", "main.table", "main.init", "runtime.doInit1")) {
		t.Error("called by an initialiser")
	}
	if rule.Initial(row(1, "main.init", "main.table", "main.main")) || rule.Initial(row(-1, "runtime.mcall")) {
		t.Error("not called by an initialiser")
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{rule.Percent(0), "0 %"},
		{rule.Percent(0.0004), "0.04 %"},
		{rule.Percent(0.0718), "7.2 %"},
		{rule.Percent(0.0996), "10 %"},
		{rule.Percent(0.34), "34 %"},
		{rule.Bytes(0), "0 B"},
		{rule.Bytes(208), "208 B"},
		{rule.Bytes(1536), "1.5 KiB"},
		{rule.Bytes(1023.9 * 1024), "1.0 MiB"},
		{rule.Bytes(36 << 30), "36 GiB"},
		{rule.Number(0), "0"},
		{rule.Number(0.254), "0.25"},
		{rule.Number(2), "2"},
		{rule.Number(2.34), "2.3"},
		{rule.Number(46.2), "46"},
		{rule.Seconds(0), "0 s"},
		{rule.Seconds(1.25), "1.2 s"},
		{rule.Seconds(0.035), "35 ms"},
		{rule.Seconds(8e-6), "8 µs"},
		{rule.Seconds(120e-9), "120 ns"},
		{rule.List(nil), ""},
		{rule.List([]string{"a"}), "a"},
		{rule.List([]string{"a", "b", "c"}), "a, b and c"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestCommands(t *testing.T) {
	p := &rule.Pass{RecordingPath: "my rec.hone"}
	want := `hone list -sample_index=cpu '^main\.\(\*StatsD\)\.Send$' 'my rec.hone'`
	if got := p.List("cpu", "main.(*StatsD).Send"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := (&rule.Pass{}).Top("cpu"); got != "hone top -sample_index=cpu REC" {
		t.Error(got)
	}
}
