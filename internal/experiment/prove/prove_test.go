package prove

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/recording"
)

func TestWhatFindingsBecame(t *testing.T) {
	costs := func(share float64) *diagnose.Range {
		return &diagnose.Range{Share: share, Low: share - 0.02, High: share + 0.02}
	}
	for _, tt := range []struct {
		before, after *diagnose.Range
		there         bool
		want          string
	}{
		{costs(0.1), nil, false, Gone},
		{costs(0.1), costs(0.05), true, Smaller},
		{costs(0.1), costs(0.07), true, Still},
		{costs(0.1), costs(0.2), true, Larger},
		{nil, costs(0.2), true, Still},
		{costs(0.1), nil, true, Still},
	} {
		if got := became(tt.before, tt.after, tt.there); got != tt.want {
			t.Errorf("%v to %v: %s, want %s", tt.before, tt.after, got, tt.want)
		}
	}
}

// TestSides: the base is the recorded commit; the change is the tree, a commit, or a patch with
// paths relative to the repository or to the target.
func TestSides(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = top
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	target := filepath.Join(top, "module")
	file := filepath.Join(target, "a.txt")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	for _, text := range []string{"one\n", "two\n"} {
		write(file, text)
		git("add", "-A")
		git("commit", "-q", "-m", text)
	}
	write(file, "three\n")
	fromTop, fromTarget, other := filepath.Join(t.TempDir(), "top.diff"), filepath.Join(t.TempDir(), "target.diff"), filepath.Join(t.TempDir(), "other.diff")
	write(fromTop, "--- a/module/a.txt\n+++ b/module/a.txt\n@@ -1 +1 @@\n-one\n+top\n")
	write(fromTarget, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+target\n")
	write(other, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-nine\n+ten\n")
	first := recording.Runtime{Revision: git("rev-parse", "HEAD~1")}
	for _, tt := range []struct {
		what       string
		of         recording.Runtime
		s          Spec
		base, text string
		err        string
	}{
		{what: "the tree", of: first, base: "one\n", text: "three\n"},
		{what: "a commit", of: first, s: Spec{Ref: "HEAD"}, base: "one\n", text: "two\n"},
		{what: "a patch from the root", of: first, s: Spec{Patch: fromTop}, base: "one\n", text: "top\n"},
		{what: "a patch from the target", of: first, s: Spec{Patch: fromTarget}, base: "one\n", text: "target\n"},
		{what: "a patch of something else", of: first, s: Spec{Patch: other}, err: "does not fit"},
		{what: "no revision", base: "two\n", text: "three\n"},
		{what: "a changed tree was recorded", of: recording.Runtime{Revision: first.Revision, Dirty: true}, err: "-base"},
		{what: "and a base is named", of: recording.Runtime{Dirty: true}, s: Spec{Base: "HEAD"}, base: "two\n", text: "three\n"},
		{what: "no such commit", of: recording.Runtime{Revision: "nowhere"}, err: "no commit"},
	} {
		tt.s.Options = capture.Options{Dir: target}
		base, changed, err := sides(t.Context(), tt.of, tt.s, t.TempDir(), &Result{})
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want %s", tt.what, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		for dir, want := range map[string]string{base: tt.base, changed: tt.text} {
			if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != want {
				t.Errorf("%s: %s holds %q, %v, want %q", tt.what, dir, text, err, want)
			}
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "three\n" {
		t.Errorf("the tree's file holds %q, %v", text, err)
	}
}
