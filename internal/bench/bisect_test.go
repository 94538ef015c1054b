package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/live"
)

func TestMiddle(t *testing.T) {
	for _, tt := range []struct {
		low, high int
		skipped   []int
		want      int
	}{
		{-1, 0, nil, -1}, {-1, 1, nil, 0}, {-1, 8, nil, 3}, {3, 5, nil, 4}, {3, 4, nil, -1}, {-1, 8, []int{3}, 4}, {-1, 8, []int{3, 4}, 2}, {3, 5, []int{4}, -1},
	} {
		skipped := map[int]bool{}
		for _, i := range tt.skipped {
			skipped[i] = true
		}
		if got := middle(tt.low, tt.high, skipped); got != tt.want {
			t.Errorf("between %d and %d without %v: %d, want %d", tt.low, tt.high, tt.skipped, got, tt.want)
		}
	}
}

// TestBisect finds the commit that added an allocation, although one commit does not build, and
// reports an error if nothing changed.
func TestBisect(t *testing.T) {
	live.Only(t)
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	write("go.mod", "module example.com/x\n\ngo 1.24\n")
	write("x_test.go", "package x\n\nimport \"testing\"\n\nvar sink []byte\n\nfunc BenchmarkMake(b *testing.B) {\n\tfor b.Loop() {\n\t\tsink = Make()\n\t}\n}\n")
	for n := range 8 {
		body := "return make([]byte, 100)"
		switch {
		case n == 3:
			body = "return nothing"
		case n >= 5:
			body = "b := make([]byte, 10)\n\treturn append(b, make([]byte, 100)...)"
		}
		write("x.go", fmt.Sprintf("package x\n\n// Version %d.\nfunc Make() []byte {\n\t%s\n}\n", n, body))
		git("add", "-A")
		git("commit", "-q", "-m", fmt.Sprintf("version %d", n))
	}
	spec := Spec{Packages: []string{"."}, Dir: dir, WorkDir: t.TempDir(), Layouts: 1, Time: time.Millisecond, Budget: time.Second, Least: 2, Most: 4, Seed: 1}
	b, err := Bisect(t.Context(), BisectSpec{Spec: spec, Name: "Make", Unit: "allocs/op", Good: "HEAD~7"})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Culprits) != 1 || b.Culprits[0].Subject != "version 5" || !b.Confirmed || b.Commits != 7 {
		t.Errorf("%+v", b)
	}
	if _, err := Bisect(t.Context(), BisectSpec{Spec: spec, Name: "Make", Unit: "allocs/op", Good: "HEAD~2"}); err == nil {
		t.Error("a range without a change: no error")
	}
	if _, err := Bisect(t.Context(), BisectSpec{Spec: spec, Name: "Other", Good: "HEAD~7"}); err == nil {
		t.Error("no such benchmark: no error")
	}
}
