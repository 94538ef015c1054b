package target

import (
	"bytes"
	"context"
	"testing"
	"time"
)

// TestProcess starts one program in all the ways that it can behave.
func TestProcess(t *testing.T) {
	kit := mustBuild(t, BuildSpec{Package: "testdata/kit"})
	for _, c := range []struct {
		name string
		run  func(*testing.T, *Binary)
	}{
		{"answers while it runs", testAnswers},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, kit) })
	}
}

func testAnswers(t *testing.T, kit *Binary) {
	p := mustStart(t, kit, RunSpec{Args: []string{"busy"}})
	ctx := soon(t)
	info, err := p.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if info.PID != p.PID() || info.Go != kit.Go || !info.Known || info.Listening || info.GOGC != 100 || info.GOMEMLIMIT != 0 {
		t.Errorf("info %+v", info)
	}
	wantIn(t, info.BuildInfo, "example.com/kit")

	cpu := make(chan []byte)
	go func() {
		b, err := p.CPUProfile(ctx, 700*time.Millisecond)
		if err != nil {
			t.Error(err)
		}
		cpu <- b
	}()
	before, err := p.Usage(ctx) // beside the CPU profile
	if err != nil || before.MaxRSS == 0 {
		t.Errorf("usage %+v, %v", before, err)
	}
	m, err := p.Metrics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if m["/sched/gomaxprocs:threads"].Value != float64(info.GOMAXPROCS) || m["/sched/latencies:seconds"].Hist == nil {
		t.Errorf("metrics %v", m)
	}
	select {
	case <-cpu:
		t.Error("usage and metrics waited for the CPU profile")
	default:
	}
	wantIn(t, inflate(t, <-cpu), "main.spin")
	after, err := p.Usage(ctx)
	if err != nil || after.CPUSeconds <= before.CPUSeconds {
		t.Errorf("usage %+v after %+v, %v", after, before, err)
	}

	var trace bytes.Buffer
	cut, err := p.Trace(ctx, &trace, 300*time.Millisecond, 0)
	if err != nil || cut || !bytes.HasPrefix(trace.Bytes(), []byte("go 1.")) {
		t.Errorf("trace of %d bytes, cut %v, %v", trace.Len(), cut, err)
	}
	heap, err := p.Profile(ctx, "heap", 0, true)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, inflate(t, heap), "main.allocate")

	if _, err := p.Profile(context.Background(), "nonesuch", 0, false); err == nil {
		t.Error("a profile that does not exist")
	}
}
