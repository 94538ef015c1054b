package cli

import (
	"bufio"
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/ui"
)

// TestRunUI records a service with hone run -ui: its page gets the phases, the rate, latencies, CPU
// and live heap while they are measured. Ctrl-C leaves a recording that can be read, and no
// process.
func TestRunUI(t *testing.T) {
	live.Only(t)
	dir, port := unpackPrograms(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said, errors := io.Pipe()
	env := Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: errors, Getenv: func(string) string { return "" }, CacheDir: t.TempDir(), Dir: dir, Version: "test"}
	done := make(chan error, 1)
	go func() {
		done <- dispatch(ctx, []string{"run", "-ui", "-no_browser", "-q", "-duration", "12s", "-warmup", "200ms", "-load", filepath.Join(dir, "service", "targets.txt"), "-rate", "100", "./service", "--", "-addr", "127.0.0.1:" + port}, env)
		errors.Close()
	}()
	lines := bufio.NewReader(said)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, lines)
	address = strings.TrimSpace(address)
	var sources []ui.Source
	fetchJSON(t, address+"api/sources", &sources)
	if len(sources) != 1 || sources[0].Kind != ui.KindRun {
		t.Fatalf("sources while it is recorded: %+v", sources)
	}
	next := events(t, address)
	if e := next(); !e.Start {
		t.Errorf("the first event: %+v", e)
	}
	var windows, heaps, quantiles int
	phases := map[string]bool{}
	for profiled := false; windows < 2 || heaps == 0 || quantiles == 0 || !phases[recording.PhaseClean] || !profiled; {
		e := next()
		profiled = profiled || e.Phase == recording.PhaseCPU && e.End
		if e.Done {
			t.Fatalf("it ended after %v: %+v", phases, e)
		}
		phases[e.Phase] = true
		if e.HeapLive > 0 {
			heaps++
		}
		if w := e.Window; w != nil && w.Requests > 0 && w.CPUSeconds > 0 && w.Seconds > 0 {
			windows++
			if w.Quantiles != nil {
				quantiles++
			}
		}
	}
	cancel()
	select {
	case <-done: // with the error of the interrupted recording
	case <-time.After(time.Minute):
		t.Fatal("it does not end on Ctrl-C")
	}
	found, err := filepath.Glob(filepath.Join(env.CacheDir, "recordings", "*.hone"))
	if err != nil || len(found) != 1 {
		t.Fatalf("recordings after Ctrl-C: %q %v", found, err)
	}
	rec, err := recording.Open(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	if err := rec.Verify(); err != nil {
		t.Error(err)
	}
	if m := rec.Manifest; m.Complete || len(m.Phases) == 0 || m.Target.PID == 0 || !rec.Has(recording.PartCPU) {
		t.Errorf("the recording: complete %v, phases %+v, pid %d", m.Complete, m.Phases, m.Target.PID)
	}
	if c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second); err == nil {
		c.Close()
		t.Errorf("the program runs on, as process %d", rec.Manifest.Target.PID)
	}
	var findings strings.Builder
	if err := (&uiBackend{env: env}).Run(t.Context(), &findings, "findings", found[0]); err != nil || !strings.Contains(findings.String(), "100 requests/s") {
		t.Errorf("findings of the recording: %v\n%.600s", err, findings.String())
	}
}
