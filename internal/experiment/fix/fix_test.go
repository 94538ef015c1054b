package fix

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/rewrite"
	"github.com/hone-go/hone/internal/session"
)

const code = `package code

import (
	"fmt"
	"strings"
)

// Key joins.
func Key(a string, n int) string {
	return fmt.Sprintf("%s:%d", a, n)
}

// Clean replaces.
func Clean(a string) string {
	a = fmt.Sprintf("%s.", a)
	return strings.NewReplacer(":", "_").Replace(a)
}
`

// module is a git repository with the code, a test of it and a package that imports it.
func module(t *testing.T, wantKey string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":           "module example.com/code\n\ngo 1.24\n",
		"code.go":          code,
		"user/user.go":     "package user\n\nimport \"example.com/code\"\n\nvar Key = code.Key(\"a\", 1)\n",
		"user/key_test.go": "package user\n\nimport \"testing\"\n\nfunc TestKey(t *testing.T) {\n\tif Key != \"" + wantKey + "\" {\n\t\tt.Error(Key)\n\t}\n}\n",
		"other/other.go":   "package other\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

func finding(rank int, rule string, line int) *diagnose.Finding {
	return &diagnose.Finding{Rank: rank, Rule: rule, File: "code.go", Line: line, Sites: []diagnose.SiteRef{{Place: diagnose.Place{File: "code.go", Line: line}}}}
}

// TestMake: changes of one file build on each other, although lines move; what cannot be rewritten
// gives the reason on request.
func TestMake(t *testing.T) {
	dir := module(t, "a:1")
	inDependency := finding(4, "sprintf-simple", 7)
	inDependency.Module, inDependency.Version = "example.com/dep", "v1.0.0"
	withAlso := finding(1, "sprintf-simple", 15)
	withAlso.Also = []diagnose.Finding{*finding(0, "replacer-per-call", 16), *finding(0, "hot-mutex", 16)}
	all := []*diagnose.Finding{withAlso, finding(2, "hot-mutex", 10), finding(3, "sprintf-simple", 10), inDependency}
	p, err := Make(t.Context(), dir, all, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Fixes) != 3 {
		t.Fatalf("%+v", p.Fixes)
	}
	for i, want := range []string{"+\ta = a + \".\"", "+\treturn cleanReplacer.Replace(a)", "+\treturn a + \":\" + strconv.Itoa(n)"} {
		if f := p.Fixes[i]; !strings.Contains(f.Diff, want) || !strings.HasPrefix(f.Diff, "--- a/code.go\n+++ b/code.go\n") || f.Left != "" {
			t.Errorf("%d: %+v, want %s", i, f, want)
		}
	}
	if text := string(p.files["code.go"]); strings.Contains(text, "fmt") || strings.Count(text, "Replacer(") != 1 {
		t.Errorf("the file becomes\n%s", text)
	}
	if patch := string(p.Patch()); strings.Count(patch, "--- a/code.go") != 1 || !strings.Contains(patch, "strconv") || !strings.Contains(patch, "cleanReplacer") {
		t.Errorf("the patch is\n%s", patch)
	}
	for number, want := range map[int]string{2: "no rewrite", 4: "hone tune deps"} {
		p, err := Make(t.Context(), dir, all, []int{number}, nil)
		if err != nil || len(p.Fixes) != 1 || !strings.Contains(p.Fixes[0].Left, want) || len(p.Changed()) > 0 {
			t.Errorf("finding %d: %+v, %v, want %s", number, p.Fixes, err, want)
		}
	}
	if _, err := Make(t.Context(), dir, all, []int{9}, nil); err == nil {
		t.Error("there is no finding 9")
	}
	outside := finding(1, "sprintf-simple", 10)
	outside.File = "../code.go"
	if p, err := Make(t.Context(), dir, []*diagnose.Finding{outside}, nil, nil); err != nil || len(p.Fixes) > 0 {
		t.Errorf("a file outside of the module: %+v, %v", p.Fixes, err)
	}
}

// TestProposal: a change that needs judgement is shown, but not applied.
func TestProposal(t *testing.T) {
	dir := module(t, "a:1")
	const text = "package code\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc Write(f *os.File, list []string) {\n\tfor _, s := range list {\n\t\tfmt.Fprintln(f, s)\n\t}\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "write.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f := finding(1, "small-writes", 10)
	f.File, f.Sites[0].File = "write.go", "write.go"
	p, err := Make(t.Context(), dir, []*diagnose.Finding{f}, nil, nil)
	if err != nil || len(p.Fixes) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if x := p.Fixes[0]; !strings.Contains(x.Proposal, "+\tbuffered := bufio.NewWriter(f)") || x.Diff != "" || x.Left != "" || x.Risk != rewrite.Judgement {
		t.Errorf("%+v", x)
	}
	if len(p.Changed()) > 0 || len(p.Patch()) > 0 {
		t.Errorf("it would be applied: %s", p.Patch())
	}
}

// TestWrite: the files are written when vet and tests pass, including those of importers; otherwise
// they are unchanged, however the run finishes.
func TestWrite(t *testing.T) {
	live.Only(t)
	cfg := session.Config{CacheDir: t.TempDir()}
	all := []*diagnose.Finding{finding(1, "sprintf-simple", 10)}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		what    string
		key     string
		ctx     context.Context
		before  func(dir string) error
		refused string
		err     string
	}{
		{what: "fine", key: "a:1"},
		{what: "an importer's test fails", key: "b", refused: "go test"},
		{what: "uncommitted changes", key: "a:1", err: "uncommitted", before: func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/code\n\ngo 1.25\n"), 0o644)
		}},
		{what: "interrupted", key: "a:1", ctx: ended, err: "cancel"},
		{what: "no repository", key: "a:1", err: "copy of the commit", before: func(dir string) error { return os.RemoveAll(filepath.Join(dir, ".git")) }},
	} {
		dir := module(t, tt.key)
		p, err := Make(t.Context(), dir, all, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.before != nil {
			if err := tt.before(dir); err != nil {
				t.Fatal(err)
			}
		}
		ctx := tt.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		r, err := Run(ctx, cfg, p, Spec{Write: true, Options: capture.Options{Dir: dir}})
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want %s", tt.what, err, tt.err)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.what, err)
		case !strings.Contains(r.Refused, tt.refused) || (tt.refused == "") != (len(r.Written) == 1):
			t.Errorf("%s: refused %q, written %v", tt.what, r.Refused, r.Written)
		}
		now, err := os.ReadFile(filepath.Join(dir, "code.go"))
		if err != nil {
			t.Fatal(err)
		}
		if changed := string(now) != code; changed != (tt.err == "" && tt.refused == "") {
			t.Errorf("%s: the file is changed: %v", tt.what, changed)
		}
		if list, _ := filepath.Glob(filepath.Join(dir, ".hone-*")); len(list) > 0 {
			t.Errorf("%s: left behind: %v", tt.what, list)
		}
		if list, _ := filepath.Glob(filepath.Join(cfg.CacheDir, "work", "fix-*")); len(list) > 0 {
			t.Errorf("%s: left behind: %v", tt.what, list)
		}
	}
}

func TestGain(t *testing.T) {
	outcome := func(verdicts ...compare.Verdict) experiment.Outcome {
		c := &compare.Comparison{}
		for _, v := range verdicts {
			c.Rows = append(c.Rows, compare.Row{Verdict: v})
		}
		return experiment.Outcome{Comparison: c}
	}
	// of returns an outcome whose CPU is better, and in which one more metric has a verdict;
	// without CPU, that metric alone has one.
	of := func(metric string, v compare.Verdict, cpu bool) experiment.Outcome {
		c := &compare.Comparison{Rows: []compare.Row{{Metric: metric, Verdict: v}}}
		if cpu {
			c.Rows = append(c.Rows, compare.Row{Metric: "cpu", Verdict: compare.Better})
		}
		return experiment.Outcome{Comparison: c}
	}
	for _, tt := range []struct {
		o    experiment.Outcome
		want bool
	}{
		{of(compare.GCShare, compare.Worse, true), true},
		{of(compare.LockWait, compare.Worse, true), true},
		{of(compare.PeakMemory, compare.Worse, true), false},
		{of(compare.GCShare, compare.Better, false), false},
		{of(compare.LockWait, compare.Better, false), true},
		{outcome(compare.Unknown, compare.Better), true},
		{outcome(compare.Better, compare.Worse), false},
		{outcome(compare.Unknown, compare.Same), false},
		{experiment.Outcome{Failed: "x"}, false},
		{experiment.Outcome{Differs: "x", Comparison: outcome(compare.Better).Comparison}, false},
	} {
		if ok, why := gain(tt.o); ok != tt.want || ok == (why != "") {
			t.Errorf("%+v: %v, %q", tt.o, ok, why)
		}
	}
}

func TestLineMap(t *testing.T) {
	text := func(s string) []byte { return []byte(strings.ReplaceAll(s, " ", "\n")) }
	var m lineMap
	m.add(text("a b c d e"), text("a x b C d e"))
	for line, want := range map[int]int{1: 1, 2: 3, 3: 4, 4: 5, 5: 6, 6: 0, 0: 0} {
		if got := m.now(line); got != want {
			t.Errorf("line %d is now %d, want %d", line, got, want)
		}
	}
	m.add(text("a x b C d e"), text("b C e"))
	for line, want := range map[int]int{1: 0, 2: 1, 3: 2, 4: 0, 5: 3} {
		if got := m.now(line); got != want {
			t.Errorf("line %d is now %d in the third version, want %d", line, got, want)
		}
	}
}
