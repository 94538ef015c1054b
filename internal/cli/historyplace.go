package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"path/filepath"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/gittree"
	"github.com/hone-go/hone/internal/history"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/render"
)

// historyPlace is the flag for the database of a command.
type historyPlace struct{ db string }

func (p *historyPlace) declare(fs *flag.FlagSet) {
	fs.StringVar(&p.db, "db", "", "the history's database: a `FILE`, or postgres://… (default: HONE_HISTORY, or a file in the cache)")
}

func (p *historyPlace) open(ctx context.Context, env Env) (*history.Store, error) {
	where, err := p.where(ctx, env)
	if err != nil {
		return nil, err
	}
	return history.Open(ctx, where)
}

// where returns the file or the server of the database, which need not exist yet.
func (p *historyPlace) where(ctx context.Context, env Env) (string, error) {
	where := p.db
	if where == "" {
		where = env.Getenv(historyVariable)
	}
	if where == "" {
		if env.CacheErr != nil {
			return "", env.CacheErr
		}
		root, err := gittree.Top(ctx, env.Dir)
		if err != nil {
			root = env.Dir
		}
		sum := sha256.Sum256([]byte(root))
		where = filepath.Join(env.CacheDir, "history", filepath.Base(root)+"-"+hex.EncodeToString(sum[:4])+".db")
	} else if !history.IsServer(where) {
		where = absolute(env.Dir, where)
	}
	return where, nil
}

// keep adds the results of benchmarks: the tree's samples, and those of the commit that it was
// compared with.
func (p *historyPlace) keep(ctx context.Context, env Env, r *bench.Result) error {
	s, err := p.open(ctx, env)
	if err != nil {
		return err
	}
	defer s.Close()
	machine := recording.ThisMachine()
	samples, old := r.History()
	if r.Against == bench.Self {
		old = nil
	}
	for _, side := range []struct {
		ref     string
		samples []history.Sample
	}{{"", samples}, {r.Commit, old}} {
		if len(side.samples) == 0 {
			continue
		}
		c, err := gittree.Describe(ctx, env.Dir, side.ref)
		if err != nil {
			return fmt.Errorf("the history stores results by commit: %w", err)
		}
		run := history.Run{Kind: "bench", Go: r.Go, Machine: history.MachineName(machine.CPU, machine.Cores)}
		describe(&run, c)
		var files []history.File
		if side.ref == "" {
			if files, err = benchHistoryFiles(r); err != nil {
				return err
			}
		}
		if _, err := s.Add(ctx, run, side.samples, files); err != nil {
			return err
		}
	}
	return nil
}

// benchHistoryFiles returns the findings of the new side's benchmarks, and the recorded profiles.
func benchHistoryFiles(r *bench.Result) (files []history.File, err error) {
	found := bench.Result{Schema: r.Schema, Go: r.Go, CPUs: r.CPUs}
	for _, b := range r.Benchmarks {
		if len(b.Findings) > 0 {
			found.Benchmarks = append(found.Benchmarks, bench.Benchmark{Package: b.Package, Name: b.Name, Findings: b.Findings, Grown: b.Grown})
		}
		if b.Recording == "" {
			continue
		}
		rec, err := recording.Open(b.Recording)
		if err != nil {
			return nil, err
		}
		profiles, err := profilesOf(rec, b.Name+".")
		rec.Close()
		if err != nil {
			return nil, err
		}
		files = append(files, profiles...)
	}
	if len(found.Benchmarks) > 0 {
		var text bytes.Buffer
		if err := render.JSON(&text, found); err != nil {
			return nil, err
		}
		files = append(files, history.File{Name: findingsFile, Data: text.Bytes()})
	}
	return files, nil
}

// profilesOf reads the CPU and allocation profiles of a recording.
func profilesOf(rec *recording.Recording, prefix string) (files []history.File, err error) {
	for _, part := range []string{recording.PartCPU, recording.PartAllocs} {
		if !rec.Has(part) {
			continue
		}
		data, err := rec.Bytes(part)
		if err != nil {
			return nil, err
		}
		files = append(files, history.File{Name: prefix + part, Data: data})
	}
	return files, nil
}
