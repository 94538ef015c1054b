package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/load"
)

// outcome is the result of one run of a study.
type outcome struct {
	study    study
	results  []*session.Result // of each program
	verdicts [][]verdict       // of each program
	accused  [][]string        // of each program
	balances []balance         // of each repair
}

// runner runs studies.
type runner struct {
	session   session.Config
	examples  string        // directory
	duration  time.Duration // of each recording that is diagnosed
	processes int           // number of measurements without profiles
	turn      time.Duration // length of a service's turn in these
	patience  time.Duration // how long measurements are added while one is too wide to decide anything
}

// study records all programs of a study, diagnoses them, and measures its repairs.
func (r *runner) study(ctx context.Context, s study) (*outcome, error) {
	o := &outcome{study: s}
	clean := make([][]recording.Phase, len(s.programs))
	for _, p := range s.programs {
		path, err := r.record(ctx, p, capture.Options{Duration: r.duration})
		if err != nil {
			return nil, fmt.Errorf("case %s: record %s %s: %w", s.id, p.dir, p.name, err)
		}
		result, err := session.Diagnose(ctx, r.session, path)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", s.id, err)
		}
		o.results = append(o.results, result)
		o.verdicts = append(o.verdicts, judge(p, result.Report))
		o.accused = append(o.accused, accused(s, p, result.Report))
	}
	if err := r.measure(ctx, s, clean); err != nil {
		return nil, fmt.Errorf("case %s: %w", s.id, err)
	}
	for _, repair := range s.repairs {
		i, j := s.index(repair.before), s.index(repair.after)
		b, err := weigh(repair.metric, o.verdicts[i], o.results[i], o.results[j], clean[i], clean[j])
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", s.id, err)
		}
		o.balances = append(o.balances, b)
	}
	return o, nil
}

// measure measures the programs of the repairs, without profiles: services in pairs, and programs
// that run and exit all together, interleaved.
func (r *runner) measure(ctx context.Context, s study, clean [][]recording.Phase) error {
	for _, repair := range s.repairs {
		i, j := s.index(repair.before), s.index(repair.after)
		if !s.programs[i].isService() {
			continue
		}
		if err := r.measureServices(ctx, s, clean, i, j); err != nil {
			return err
		}
	}
	return r.measureCommands(ctx, s, clean)
}

// measureServices measures two services with new processes in each iteration, because some
// properties of a process are random, such as the addresses of its memory.
func (r *runner) measureServices(ctx context.Context, s study, clean [][]recording.Phase, i, j int) error {
	programs := []program{s.programs[i], s.programs[j]}
	binaries, remove, err := r.buildAll(ctx, programs)
	if err != nil {
		return err
	}
	defer remove()
	for range r.processes {
		phases, err := r.alternate(ctx, programs, binaries, max(r.duration*3/10, 2*r.turn))
		if err != nil {
			return err
		}
		clean[i], clean[j] = append(clean[i], phases[0]), append(clean[j], phases[1])
	}
	return nil
}

// measureCommands records the clean phases of programs that run and exit, interleaved.
func (r *runner) measureCommands(ctx context.Context, s study, clean [][]recording.Phase) error {
	var places []int
	for i, p := range s.programs {
		repaired := slices.ContainsFunc(s.repairs, func(r repair) bool { return p.name == r.before || p.name == r.after })
		if !p.isService() && repaired {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return nil
	}
	return interleave(ctx, len(places), r.processes, func(ctx context.Context, variant int) error {
		i := places[variant]
		p := s.programs[i]
		phase, err := r.cleanPhase(ctx, p)
		if err != nil {
			return fmt.Errorf("measure %s %s: %w", p.dir, p.name, err)
		}
		clean[i] = append(clean[i], phase)
		return nil
	})
}

// cleanPhase records a program without profiles and returns its clean phase.
func (r *runner) cleanPhase(ctx context.Context, p program) (recording.Phase, error) {
	out := filepath.Join(r.session.CacheDir, "clean.hone")
	defer os.Remove(out)
	length := max(r.duration/4, 2*time.Second)
	if _, err := r.record(ctx, p, capture.Options{Duration: length, Warmup: length, Phases: []string{}, Out: out}); err != nil {
		return recording.Phase{}, err
	}
	m, err := r.session.Opener().Manifest(out)
	if err != nil {
		return recording.Phase{}, err
	}
	for _, phase := range m.Phases {
		if phase.Name == recording.PhaseClean {
			return phase, nil
		}
	}
	return recording.Phase{}, fmt.Errorf("the recording has no clean phase")
}

// index returns the index of a program, or -1.
func (s study) index(name string) int {
	for i, p := range s.programs {
		if p.name == name {
			return i
		}
	}
	return -1
}

// dir is the directory of a program's sources.
func (r *runner) dir(p program) string { return filepath.Join(r.examples, filepath.FromSlash(p.dir)) }

// record records one program and returns the recording's path.
func (r *runner) record(ctx context.Context, p program, o capture.Options) (string, error) {
	o, err := r.options(p, o)
	if err != nil {
		return "", err
	}
	return session.Record(ctx, r.session, o)
}

// options fills in the options that o leaves open: how to build, run and load a program.
func (r *runner) options(p program, o capture.Options) (capture.Options, error) {
	dir := r.dir(p)
	o.Package, o.Dir, o.RunDir = ".", dir, dir
	o.Args, o.Arg = p.args, "examples/"+p.dir
	o.Bench, o.BuildFlags = p.bench, p.buildFlags()
	if p.isService() {
		addr, err := freeAddr()
		if err != nil {
			return o, err
		}
		o.Args = append([]string{cmp.Or(p.addrFlag, "-addr"), addr}, p.args...)
		targets, err := p.load(dir, addr)
		if err != nil {
			return o, err
		}
		o.Load = &load.Options{Targets: targets, Rate: p.rate, Connections: p.connections}
		if p.rate > 0 && p.connections > 0 {
			o.Load.MaxConnections = p.connections
		}
	}
	return o, nil
}

// load returns the requests to send to the service at addr.
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
		u.Host = addr // the file has the default address, which may be in use
		targets[i].URL = u.String()
	}
	return targets, nil
}

// freeAddr asks the kernel for a free loopback port.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}
