package session_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/load"
)

// TestCleanPrograms records well-written programs that are busy with necessary work, with every
// phase, and runs every rule: nothing above a hint may be reported.
func TestCleanPrograms(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join("testdata", "clean", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(archives) < 8 {
		t.Fatalf("%d programs", len(archives))
	}
	cache := t.TempDir()
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			live.Only(t)
			report := record(t, archive, session.Config{CacheDir: cache, Version: "test"})
			if report.Recording.Target == "" || len(report.Resources.Limiting) == 0 {
				t.Errorf("nothing was recorded: %+v", report)
			}
			for f := range report.All() {
				if f.Confidence == rule.Hint {
					t.Logf("%s %s:%d [hint] %s", f.Rule, f.Function, f.Line, f.Cause)
					continue
				}
				t.Errorf("%s %s:%d [%s] %s\n\t%s", f.Rule, f.Function, f.Line, f.Confidence, f.Cause, f.Source)
			}
		})
	}
}

// record records the program of an archive and diagnoses it. Lines of the archive's comment say
// how: "load: PATH" for a service (one per target), "bench: NAME" for a benchmark; without either,
// the program runs and exits.
func record(t *testing.T, archive string, c session.Config) *diagnose.Report {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := capture.Options{
		Package: ".", Arg: ".", Dir: dir, RunDir: t.TempDir(), Out: filepath.Join(t.TempDir(), "x.hone"),
		Duration: 6 * time.Second, Warmup: 500 * time.Millisecond, Timeout: 3 * time.Minute,
	}
	addr := freeAddr(t)
	for line := range strings.Lines(string(a.Comment)) {
		if name, ok := strings.CutPrefix(line, "bench: "); ok {
			o.Bench = strings.TrimSpace(name)
		}
		if path, ok := strings.CutPrefix(line, "load: "); ok {
			if o.Load == nil {
				o.Args, o.Load = []string{"-addr", addr}, &load.Options{Connections: 4}
			}
			o.Load.Targets = append(o.Load.Targets, load.Target{URL: "http://" + addr + strings.TrimSpace(path)})
		}
	}
	path, err := session.Record(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	result, err := session.Diagnose(t.Context(), c, path)
	if err != nil {
		t.Fatal(err)
	}
	return result.Report
}

// freeAddr returns a loopback address at which nothing listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
