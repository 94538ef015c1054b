package gittree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a git repository with two commits of module/file.txt, "one" and "two".
func repository(t *testing.T) (dir string, git func(...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir = t.TempDir()
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	if err := os.MkdirAll(filepath.Join(dir, "module"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(dir, "module", "file.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", "-A")
		git("commit", "-q", "-m", text)
	}
	return dir, git
}

// TestCheckout: a commit's files are written elsewhere; tree, index and repository are not changed.
func TestCheckout(t *testing.T) {
	dir, git := repository(t)
	file := filepath.Join(dir, "module", "file.txt")
	if err := os.WriteFile(file, []byte("three"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	before := git("status", "--porcelain") + git("stash", "list") + git("worktree", "list") + git("for-each-ref")
	old, commit, err := Checkout(t.Context(), filepath.Join(dir, "module"), "HEAD~1", filepath.Join(t.TempDir(), "old"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(old, "file.txt")); string(text) != "one" || err != nil {
		t.Errorf("the old file holds %q, %v", text, err)
	}
	if commit != git("rev-parse", "HEAD~1") {
		t.Errorf("commit %s", commit)
	}
	if text, err := os.ReadFile(file); string(text) != "three" || err != nil {
		t.Errorf("the tree's file holds %q, %v", text, err)
	}
	if after := git("status", "--porcelain") + git("stash", "list") + git("worktree", "list") + git("for-each-ref"); after != before {
		t.Errorf("the repository changed: %s", after)
	}
	for _, ref := range []string{"nowhere", "--exec=evil", ""} {
		if _, _, err := Checkout(t.Context(), dir, ref, filepath.Join(t.TempDir(), "old")); err == nil || !strings.Contains(err.Error(), "no commit") {
			t.Errorf("ref %q: %v", ref, err)
		}
	}
}

// TestBase: a branch is compared with the commit where it left main, main with the commit before, a
// changed tree with its commit.
func TestBase(t *testing.T) {
	dir, git := repository(t)
	base := func() string {
		t.Helper()
		b, err := Base(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return git("rev-parse", b)
	}
	if got, want := base(), git("rev-parse", "HEAD~1"); got != want {
		t.Errorf("on main: %s, want the commit before, %s", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "module", "file.txt"), []byte("three"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := base(), git("rev-parse", "HEAD"); got != want {
		t.Errorf("with changes: %s, want %s", got, want)
	}
	git("checkout", "-q", "-b", "branch")
	git("commit", "-q", "-a", "-m", "three")
	if got, want := base(), git("rev-parse", "main"); got != want {
		t.Errorf("on a branch: %s, want main, %s", got, want)
	}
	if _, err := Base(t.Context(), t.TempDir()); err == nil {
		t.Error("no repository: no error")
	}
}
