package choice_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/choice"
	"github.com/hone-go/hone/internal/diagnose/rule"
)

var known = choice.KnownRules([]rule.Rule{
	{ID: "concat-loop", Kind: rule.Alloc}, {ID: "sql-open", Kind: rule.IO}, {ID: "sql-prepare", Kind: rule.IO}, {ID: "tiny-heap", Kind: rule.GC},
})

func TestOff(t *testing.T) {
	for list, want := range map[string]string{
		"":                           "",
		"all":                        "",
		"all,-tiny-heap":             "tiny-heap",
		"-tiny-heap":                 "tiny-heap",
		"-io":                        "sql-open sql-prepare",
		"-sql-*, sql-open":           "sql-prepare",
		"concat-loop":                "sql-open sql-prepare tiny-heap",
		"all,-all,gc":                "concat-loop sql-open sql-prepare",
		" all , -alloc":              "concat-loop",
		"tiny-heap,-tiny-heap,alloc": "sql-open sql-prepare tiny-heap",
	} {
		off, err := known.Off(list)
		if got := strings.Join(off, " "); err != nil || got != want {
			t.Errorf("%q: %q off, %v; want %q", list, got, err, want)
		}
	}
	for list, want := range map[string]string{
		"all,-concat": `no rule, kind or pattern "concat"`,
		"all,,":       `no rule, kind or pattern ""`,
		"[":           "syntax error",
		"--gc":        `"-gc"`,
	} {
		if _, err := known.Off(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", list, err, want)
		}
	}
}

func TestParseComment(t *testing.T) {
	for text, want := range map[string]string{
		"\ts += x //hone:ignore concat-loop short lists only": "concat-loop|short lists only|",
		"//hone:ignore concat-loop,io both are known":         "concat-loop io|both are known|",
		"//hone:ignore all generated":                         "all|generated|",
		"// hone:ignore concat-loop with a space":             "none",
		"//hone:ignored concat-loop x":                        "none",
		"s += x // concatenates":                              "none",
		"//hone:ignore concat-loop":                           "concat-loop||//hone:ignore concat-loop: want a reason after the rule",
		"//hone:ignore":                                       `||//hone:ignore: no rule, kind or pattern ""`,
		"//hone:ignore concat-lop it is fine":                 `concat-lop|it is fine|//hone:ignore: no rule, kind or pattern "concat-lop"`,
	} {
		c, ok, err := choice.ParseComment(text, 7, known)
		got := "none"
		if ok {
			got = strings.Join(c.Rules, " ") + "|" + c.Reason + "|"
			if err != nil {
				got += err.Error()
			}
		}
		if got != want && !strings.HasPrefix(got, want+":") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if ok && c.Line != 7 {
			t.Errorf("%q: line %d", text, c.Line)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		ignore             choice.Ignore
		id, file, function string
		want               bool
	}{
		{choice.Ignore{Rule: "concat-loop"}, "concat-loop", "a/b.go", "main.f", true},
		{choice.Ignore{Rule: "concat-loop"}, "tiny-heap", "", "", false},
		{choice.Ignore{Rule: "gc"}, "tiny-heap", "", "", true},
		{choice.Ignore{Rule: "all", File: "gen"}, "concat-loop", "gen/x/y.go", "gen.f", true},
		{choice.Ignore{Rule: "all", File: "gen/..."}, "concat-loop", "gen/x/y.go", "gen.f", true},
		{choice.Ignore{Rule: "all", File: "gen"}, "concat-loop", "generated/y.go", "gen.f", false},
		{choice.Ignore{Rule: "all", File: "*.pb.go"}, "concat-loop", "a.pb.go", "gen.f", true},
		{choice.Ignore{Rule: "all", File: "gen"}, "tiny-heap", "", "", false},
		{choice.Ignore{Rule: "all", Function: "main.(*T).M"}, "concat-loop", "t.go", "main.(*T).M", true},
		{choice.Ignore{Rule: "all", Function: "main.*"}, "concat-loop", "t.go", "main.join", true},
		{choice.Ignore{Rule: "all", Function: "main.join", File: "u.go"}, "concat-loop", "t.go", "main.join", false},
	} {
		if got := c.ignore.Covers(known, c.id, c.file, c.function); got != c.want {
			t.Errorf("%+v covers %s in %s %s: %t", c.ignore, c.id, c.file, c.function, got)
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(filepath.Join(deep, "c"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(dir, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, choice.FileName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(deep, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(root, `{}`)
	if f, err := choice.Find(filepath.Join(deep, "c"), known); f != nil || err != nil {
		t.Errorf("above the repository: %v, %v", f, err)
	}
	write(deep, `{"rules": "all,-gc", "ignore": [{"rule": "concat-loop", "file": "x.go", "reason": "runs once"}]}`)
	f, err := choice.Find(filepath.Join(deep, "c"), known)
	if err != nil || f.Path != filepath.Join(deep, choice.FileName) || f.Rules != "all,-gc" || !slices.Equal(f.Ignore, []choice.Ignore{{Rule: "concat-loop", File: "x.go", Reason: "runs once"}}) {
		t.Errorf("%+v, %v", f, err)
	}
	module := t.TempDir() // not in a repository: directories above the module do not belong to it
	if err := os.MkdirAll(filepath.Join(module, "m", "cmd"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(module, `{"rules": "-gc"}`)
	for _, c := range []struct {
		gomod string // the directory that contains it
		want  bool
	}{{"", false}, {"m", false}, {".", true}} {
		os.Remove(filepath.Join(module, "m", "go.mod"))
		if c.gomod != "" {
			if err := os.WriteFile(filepath.Join(module, c.gomod, "go.mod"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if f, err := choice.Find(filepath.Join(module, "m", "cmd"), known); (f != nil) != c.want || err != nil {
			t.Errorf("go.mod in %q: %v, %v", c.gomod, f, err)
		}
	}
	for text, want := range map[string]string{
		`{"rule": "all"}`:                                           "unknown field",
		`{"rules": "x"}`:                                            `"x"`,
		`{"ignore": [{"rule": "gc"}]}`:                              "ignore[0]: want a reason",
		`{"ignore": [{"rule": "no", "reason": "r"}]}`:               `ignore[0]: no rule`,
		`{"ignore": [{"rule": "gc", "reason": "r", "file": "a["}]}`: "ignore[0]",
		`{} {}`:                  "more after the object",
		`{`:                      "unexpected EOF",
		strings.Repeat(" ", 2e6): "over 1048576 bytes",
	} {
		write(deep, text)
		if _, err := choice.Find(deep, known); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), choice.FileName) {
			t.Errorf("%.40s: %v, want %s", text, err, want)
		}
	}
}
