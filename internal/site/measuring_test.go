package site

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
)

func TestWithoutMeasurement(t *testing.T) {
	p := build(t, cpu,
		ticks(60, "main.a:1 < main.main:9 < runtime.main"),
		ticks(20, "runtime.memmove < net/http.(*conn).serve"),
		ticks(5, "runtime.memmove < main.honeServe "+target.ProbeFile+":3"),
		ticks(10, "compress/flate.(*compressor).deflate < net/http/pprof.Index < net/http.(*conn).serve"),
		ticks(5, "runtime/pprof.profileWriter"),
	)
	program, shares := WithoutMeasurement(p, testIndex(t))
	if program.NumSamples() != 2 || program.Total(1) != 800e6 {
		t.Errorf("%d rows, %d ns are left", program.NumSamples(), program.Total(1))
	}
	if len(shares) != 2 || math.Abs(shares[0]-0.2) > 1e-9 || math.Abs(shares[1]-0.2) > 1e-9 {
		t.Errorf("shares %v, want 0.2 of both columns", shares)
	}
}

// A program that profiles itself, for example in a test, is not treated as measurement where its
// own frames count.
func TestWithoutMeasurementKeepsTheProgram(t *testing.T) {
	p := build(t, cpu, ticks(60, "runtime/pprof.StartCPUProfile < main.main:9 < runtime.main"), ticks(3, "main.a:1"))
	if program, shares := WithoutMeasurement(p, testIndex(t)); program != p || shares[0] != 0 {
		t.Errorf("%d of %d rows, shares %v", program.NumSamples(), p.NumSamples(), shares)
	}
	empty, err := profile.NewBuilder(sampleTypes[cpu]...).Profile()
	if err != nil {
		t.Fatal(err)
	}
	if _, shares := WithoutMeasurement(empty, testIndex(t)); shares[0] != 0 {
		t.Errorf("shares of nothing: %v", shares)
	}
}
