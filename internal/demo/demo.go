package demo

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/load"
)

// connections is the number in the published measurement: ab -c 8.
const connections = 8

// query is the request of the published measurement.
const query = "/v1/leftpad/?str=test&len=50&chr=*"

// Result is both halves of the demo and their comparison.
type Result struct {
	Before, After *session.Result
	Comparison    *compare.Comparison
	Proof         compare.Proof
}

// Schema is the version of the demo's JSON form.
const Schema = "hone/demo/v1"

// JSON is the form of the result for machines.
func (r *Result) JSON() any {
	return struct {
		Schema     string              `json:"schema"`
		Before     *diagnose.Report    `json:"before"`
		After      *diagnose.Report    `json:"after"`
		Comparison *compare.Comparison `json:"comparison"`
		Proof      compare.Proof       `json:"proof"`
	}{Schema, r.Before.Report, r.After.Report, r.Comparison, r.Proof}
}

// Run records and diagnoses the service before and after its repair, each for the
// given duration, and compares them.
func Run(ctx context.Context, c session.Config, duration time.Duration) (*Result, error) {
	// The sources remain in the cache, so that `hone list` and `hone findings` can show them after
	// the demo.
	dir := filepath.Join(c.CacheDir, "demo")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create a directory for the example: %w", err)
	}
	before, after, err := Extract(dir)
	if err != nil {
		return nil, err
	}
	var r Result
	// Both recordings first, close in time, so that the state of the machine is as similar as
	// possible.
	paths := make([]string, 2)
	for i, src := range []string{before, after} {
		if paths[i], err = record(ctx, c, src, duration); err != nil {
			return nil, fmt.Errorf("record leftpad/%s: %w", filepath.Base(src), err)
		}
	}
	if r.Before, err = session.Diagnose(ctx, c, paths[0]); err != nil {
		return nil, err
	}
	if r.After, err = session.Diagnose(ctx, c, paths[1]); err != nil {
		return nil, err
	}
	r.Comparison, err = compare.Recordings(
		[]compare.Source{{Name: "before", Manifest: r.Before.Manifest}},
		[]compare.Source{{Name: "after", Manifest: r.After.Manifest}}, compare.Options{})
	if err != nil {
		return nil, err
	}
	r.Proof = compare.Prove(r.Before.Report, r.Before.Table, r.After.Table, perRequest(r.Before), perRequest(r.After))
	return &r, nil
}

func record(ctx context.Context, c session.Config, src string, duration time.Duration) (string, error) {
	addr, err := freeAddr()
	if err != nil {
		return "", err
	}
	return session.Record(ctx, c, capture.Options{
		Package:  ".",
		Dir:      src,
		RunDir:   src,
		Args:     []string{"-addr", addr},
		Arg:      "examples/leftpad/" + filepath.Base(src),
		Duration: duration,
		Load: &load.Options{
			Targets:     []load.Target{{URL: "http://" + addr + query}},
			Connections: connections,
		},
	})
}

// freeAddr returns an unused port of the loopback interface.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// perRequest returns the CPU seconds per request in the clean phase.
func perRequest(r *session.Result) float64 {
	for _, p := range r.Manifest.Phases {
		if p.Name == recording.PhaseClean && p.Requests > 0 {
			return p.CPUSeconds / float64(p.Requests)
		}
	}
	return 0
}
