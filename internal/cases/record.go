package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/load"
)

// outcome is one run of a study.
type outcome struct {
	study    study
	results  []*session.Result // of each program
	verdicts [][]verdict       // of each program
	accused  [][]string        // of each program
	balances []balance         // of each repair
}

// runStudy records all programs of a study, one after the other so that the machine
// is as alike as it can be, and then diagnoses them.
func runStudy(ctx context.Context, c session.Config, examples string, s study, duration time.Duration) (*outcome, error) {
	paths := make([]string, len(s.programs))
	for i, p := range s.programs {
		var err error
		if paths[i], err = record(ctx, c, examples, p, duration); err != nil {
			return nil, fmt.Errorf("case %s: record %s %s: %w", s.id, p.dir, p.name, err)
		}
	}
	o := &outcome{study: s}
	for i, p := range s.programs {
		r, err := session.Diagnose(ctx, c, paths[i])
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", s.id, err)
		}
		o.results = append(o.results, r)
		o.verdicts = append(o.verdicts, judge(p, r.Report))
		o.accused = append(o.accused, accused(s, p, r.Report))
	}
	for _, r := range s.repairs {
		before, after := s.index(r.before), s.index(r.after)
		b, err := weigh(r, o.verdicts[before], o.results[before], o.results[after])
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", s.id, err)
		}
		o.balances = append(o.balances, b)
	}
	return o, nil
}

// index is the place of a program; -1 when there is none of that name.
func (s study) index(name string) int {
	for i, p := range s.programs {
		if p.name == name {
			return i
		}
	}
	return -1
}

// record records one program and returns the recording's path.
func record(ctx context.Context, c session.Config, examples string, p program, duration time.Duration) (string, error) {
	dir := filepath.Join(examples, filepath.FromSlash(p.dir))
	o := capture.Options{
		Package: ".", Dir: dir, RunDir: dir, Args: p.args,
		Arg: "examples/" + p.dir, Duration: duration,
	}
	if p.isService() {
		addr, err := freeAddr()
		if err != nil {
			return "", err
		}
		o.Args = append([]string{"-addr", addr}, p.args...)
		targets, err := p.load(dir, addr)
		if err != nil {
			return "", err
		}
		o.Load = &load.Options{Targets: targets, Rate: p.rate, Connections: p.connections}
	}
	return session.Record(ctx, c, o)
}

// load is what to send to the service at addr.
func (p program) load(dir, addr string) ([]load.Target, error) {
	if p.get != "" {
		return []load.Target{{URL: "http://" + addr + p.get}}, nil
	}
	targets, err := load.ParseTargets(filepath.Join(dir, p.targets), nil)
	if err != nil {
		return nil, err
	}
	for i := range targets {
		u, err := url.Parse(targets[i].URL)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.targets, err)
		}
		u.Host = addr // the file has the default address, which may be taken
		targets[i].URL = u.String()
	}
	return targets, nil
}

// freeAddr asks the kernel for a port of the loopback that nobody uses.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
