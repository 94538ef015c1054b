package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	verdicts "github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/recording"
)

// stretch returns a recording of a service that spent that much on a request.
func stretch(n int, cpu, bytes float64) verdicts.Source {
	p := recording.Phase{Name: recording.PhaseClean}
	for range 5 {
		w := recording.Window{Seconds: 1, Requests: 1000, CPUSeconds: cpu, AllocBytes: int64(bytes * 1000), AllocObjects: 1e6}
		p.Windows = append(p.Windows, w)
		p.Seconds += w.Seconds
		p.Requests += w.Requests
		p.CPUSeconds += w.CPUSeconds
		p.AllocBytes += w.AllocBytes
		p.AllocObjects += w.AllocObjects
	}
	p.MachineCPUSeconds = p.CPUSeconds
	return verdicts.Source{Name: fmt.Sprint(n), Manifest: recording.Manifest{
		Created: time.Unix(int64(n), 0), Target: recording.Target{Kind: "service"}, Machine: recording.Machine{Cores: 2},
		Load: &recording.Load{Targets: []string{"GET http://127.0.0.1:1/"}, Connections: 8}, Phases: []recording.Phase{p},
	}}
}

func TestJudgeStream(t *testing.T) {
	stream := map[string][]verdicts.Source{
		// The third differs from both its neighbours by far more than runs do.
		"service":  {stretch(0, 1, 1e5), stretch(2, 1.05, 1e5), stretch(4, 3, 1e5), stretch(6, 1, 1e5)},
		"repaired": {stretch(1, 0.3, 5e4), stretch(3, 0.3, 5e4), stretch(5, 1, 5e4)},
	}
	s := judgeStream(stream)
	if s.pairs != 3 || s.wrong != 2 || len(s.problems) > 0 {
		t.Errorf("%d pairs, %d wrong, %v", s.pairs, s.wrong, s.problems)
	}
	var out bytes.Buffer
	if err := s.print(&out); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"service cpu 3 2 ×3.00", "service allocated 3 0 ×1.00", "repair, 1 per side allocated 3 3 ×2.00", "repair, 3 per side allocated 1 1 ×2.00", "2 of 3, at most",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestUpperShare(t *testing.T) {
	// The rule of three for none, and Clopper and Pearson's table for 1 of 40.
	for _, tt := range []struct {
		k, n int
		want float64
	}{{0, 40, 1 - math.Pow(0.05, 1.0/40)}, {1, 40, 0.1133}, {40, 40, 1}, {0, 0, 1}} {
		if got := upperShare(tt.k, tt.n); math.Abs(got-tt.want) > 5e-4 {
			t.Errorf("%d of %d: at most %.4f, want %.4f", tt.k, tt.n, got, tt.want)
		}
	}
}

func TestSpinEndsWithItsInput(t *testing.T) {
	in, out := io.Pipe()
	done := make(chan error)
	go func() { done <- spin(in) }()
	out.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
