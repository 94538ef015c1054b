package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/gittree"
	"github.com/hone-go/hone/internal/history"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/session"
)

// historyVariable names the database if -db does not.
const historyVariable = "HONE_HISTORY"

const historyHelp = `Stores results per commit and finds the commit in which a result changed.

  hone history                          list the runs
  hone history show [BENCHMARK]         each series: its level, and between which commits that changed
  hone history plot [BENCHMARK]         plot a series; -o FILE.svg writes a picture
  hone history add FILE...              add files of go test -bench or hone bench -lines, and recordings
  hone history bisect BENCHMARK         find the commit in which it changed, between -good and -bad, or around the latest change
  hone history file RUN NAME -o FILE    a run's file, such as its cpu.pprof or findings.json
  hone history export, import FILE      all runs as lines of JSON
  hone history prune -older 180d        remove runs; the newest -keep of them stay

hone bench -history adds its results; hone history add adds files. The database is a file in hone's cache, one per
repository; -db or HONE_HISTORY names another: a file, or postgres://USER@HOST/DATABASE for CI machines that do not keep files.
A run is stored completely or not at all, and any number of processes may write at once.

A level has changed if the change is larger than the scatter of the series and at least 1 %; about one in a hundred unchanged series
shows a change. It is provisional until three runs have it. Each machine has its own series. A change that came with another Go
toolchain is reported as such. Runs of a tree with uncommitted changes do not count. Another process that is
busy for hours looks like a change in all timings; bisect interleaves the commits and so distinguishes the two.`

// historyFlags are those of `hone history`.
type historyFlags struct {
	bench     benchFlags
	where     historyPlace
	commit    string
	unit      string
	output    string
	good, bad string
	last      int
	keep      int
	older     string
}

func historyCommand() command {
	return command{
		name: "history", args: "[show|plot|add|bisect|file|export|import|prune] [ARGS]", group: "benchmarks, load, comparison",
		short: "results per commit: where a result changed, and which commit changed it",
		long:  historyHelp,
		examples: []string{
			"hone history",
			"hone history add new.txt",
			"hone history show Encode",
			"hone history plot -unit allocs/op -o encode.svg Encode",
			"hone history bisect -good v1.2.0 -budget 30s Encode",
		},
		setup: func(fs *flag.FlagSet) runFunc {
			var h historyFlags
			h.bench.declareMeasuring(fs)
			h.where.declare(fs)
			fs.StringVar(&h.commit, "commit", "", "for add: the git `REF` that was measured (default: as the file says, or that of the tree)")
			fs.StringVar(&h.unit, "unit", "", "for show, plot and bisect:  the metric `UNIT`: cpu-ns/op, allocs/op")
			fs.StringVar(&h.output, "o", "", "for plot, file and export:  write to `FILE`")
			fs.StringVar(&h.good, "good", "", "for bisect:  the git `REF` before the change")
			fs.StringVar(&h.bad, "bad", "", "for bisect: the git `REF` with the change (default HEAD)")
			fs.IntVar(&h.last, "last", 20, "list the last `N` runs; 0 lists all")
			fs.IntVar(&h.keep, "keep", 10, "for prune:  keep the newest `N` runs")
			fs.StringVar(&h.older, "older", "", "for prune:  remove runs older than `AGE`: 720h, 180d")
			return h.run
		},
	}
}

func (h *historyFlags) run(ctx context.Context, env Env, args, _ []string) error {
	verb := "list"
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	verbs := map[string]struct {
		least, most int
		run         func(context.Context, Env, *history.Store, []string) error
	}{
		"list":   {0, 0, h.list},
		"show":   {0, 1, h.show},
		"plot":   {0, 1, h.plot},
		"add":    {1, 1 << 20, h.add},
		"bisect": {1, 1, h.bisect},
		"file":   {2, 2, h.file},
		"export": {0, 0, h.export},
		"import": {1, 1, h.importFile},
		"prune":  {0, 0, h.prune},
	}
	v, ok := verbs[verb]
	if !ok {
		return usagef("history: no %q%s; hone help history lists the subcommands", verb, suggest(verb, []string{"show", "plot", "add", "bisect", "file", "export", "import", "prune"}))
	}
	if len(args) < v.least || len(args) > v.most {
		return usagef("history %s does not take %d arguments; see hone help history", verb, len(args))
	}
	store, err := h.where.open(ctx, env)
	if err != nil {
		return err
	}
	defer store.Close()
	return v.run(ctx, env, store, args)
}

// print prints a result, or its JSON with -json.
func (h *historyFlags) print(env Env, value any, page func(io.Writer, render.Style)) error {
	if h.bench.out.json {
		return render.JSON(env.Stdout, value)
	}
	return buffered(env.Stdout, func(w io.Writer) error { page(w, h.bench.out.style(env)); return nil })
}

func (h *historyFlags) list(ctx context.Context, env Env, s *history.Store, _ []string) error {
	runs, err := s.Runs(ctx, h.last)
	if err != nil {
		return err
	}
	page := render.HistoryList{Schema: render.HistoryListSchema, Runs: runs}
	return h.print(env, page, func(w io.Writer, st render.Style) { render.History(w, page, st) })
}

func (h *historyFlags) tracks(ctx context.Context, s *history.Store, args []string) (render.HistoryTracks, error) {
	page := render.HistoryTracks{Schema: render.HistoryTracksSchema}
	pattern := ""
	if len(args) > 0 {
		pattern = args[0]
	}
	var err error
	if page.Tracks, err = s.Tracks(ctx, pattern, h.unit); err != nil {
		return page, err
	}
	if len(page.Tracks) == 0 {
		return page, fmt.Errorf("the history has no series %q %s; hone history show lists them", pattern, h.unit)
	}
	return page, nil
}

func (h *historyFlags) show(ctx context.Context, env Env, s *history.Store, args []string) error {
	page, err := h.tracks(ctx, s, args)
	if err != nil {
		return err
	}
	return h.print(env, page, func(w io.Writer, st render.Style) { render.Tracks(w, page, st) })
}

func (h *historyFlags) plot(ctx context.Context, env Env, s *history.Store, args []string) error {
	page, err := h.tracks(ctx, s, args)
	if err != nil {
		return err
	}
	if filepath.Ext(h.output) == ".svg" {
		return redirect(env, h.output, func(env Env) error {
			return buffered(env.data(), func(w io.Writer) error { render.TracksSVG(w, page); return nil })
		})
	}
	return redirect(env, h.output, func(env Env) error {
		return h.print(env, page, func(w io.Writer, st render.Style) { render.TracksPlot(w, page, st) })
	})
}

func (h *historyFlags) add(ctx context.Context, env Env, s *history.Store, args []string) error {
	cfg, _, err := h.bench.out.session(env)
	if err != nil {
		return err
	}
	for _, name := range args {
		var n int
		if benchText(absolute(env.Dir, name)) {
			n, err = h.addLines(ctx, env, s, absolute(env.Dir, name))
		} else {
			n, err = h.addRecording(ctx, env, s, cfg, name)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Stderr, "added %s: %s\n", name, runsWord(n))
	}
	return nil
}

func runsWord(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

// describe fills in a run's commit.
func (h *historyFlags) describe(ctx context.Context, env Env, r *history.Run) error {
	ref := h.commit
	if ref == "" {
		ref = r.Commit
	}
	c, err := gittree.Describe(ctx, env.Dir, ref)
	if err != nil {
		if h.commit == "" && r.Commit != "" && !r.CommitTime.IsZero() {
			return nil // a commit of another clone, and complete
		}
		return fmt.Errorf("%w; -commit names the one that was measured, in its repository", err)
	}
	describe(r, c)
	return nil
}

func describe(r *history.Run, c gittree.Commit) {
	r.Commit, r.CommitTime, r.Subject, r.Dirty = c.Hash, c.Time, c.Subject, r.Dirty || c.Dirty
	if r.Branch == "" {
		r.Branch = c.Branch
	}
}

func (h *historyFlags) addLines(ctx context.Context, env Env, s *history.Store, path string) (runs int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	all, err := history.ReadLines(f, path)
	if err != nil {
		return 0, err
	}
	for _, m := range all {
		m.Run.Note = filepath.Base(path)
		if err := h.describe(ctx, env, &m.Run); err != nil {
			return runs, fmt.Errorf("%s: %w", path, err)
		}
		if _, err := s.Add(ctx, m.Run, m.Samples, nil); err != nil {
			return runs, err
		}
		runs++
	}
	return runs, nil
}

func (h *historyFlags) addRecording(ctx context.Context, env Env, s *history.Store, cfg session.Config, name string) (runs int, err error) {
	path := cfg.Shelf().Path(name)
	rec, err := recording.Open(path)
	if err != nil {
		return 0, err
	}
	defer rec.Close()
	m := rec.Manifest
	samples, err := compare.History(m)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	run := history.Run{
		Kind: "recording", Commit: m.Runtime.Revision, Dirty: m.Runtime.Dirty, Go: m.Runtime.Go, Note: filepath.Base(path),
		Machine: history.MachineName(m.Machine.CPU, m.Machine.Cores), Made: m.Created,
	}
	if err := h.describe(ctx, env, &run); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	files, err := h.findingsOf(ctx, env, cfg, path)
	if err != nil {
		return 0, err
	}
	profiles, err := profilesOf(rec, "")
	if err != nil {
		return 0, err
	}
	files = append(files, profiles...)
	_, err = s.Add(ctx, run, samples, files)
	return 1, err
}

// findingsFile is the name of a run's findings in the history.
const findingsFile = "findings.json"

// findingsOf diagnoses a recording for the history. If that fails, the recording's figures are
// stored without findings.
func (h *historyFlags) findingsOf(ctx context.Context, env Env, cfg session.Config, path string) ([]history.File, error) {
	d, err := session.Diagnose(ctx, cfg, path)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		env.say("hone: stored without findings: %v", err)
		return nil, nil
	}
	var text bytes.Buffer
	if err := render.JSON(&text, d.Report); err != nil {
		return nil, err
	}
	return []history.File{{Name: findingsFile, Data: text.Bytes()}}, nil
}

func (h *historyFlags) file(ctx context.Context, env Env, s *history.Store, args []string) error {
	run, err := s.Find(ctx, args[0])
	if err != nil {
		return err
	}
	data, err := s.File(ctx, run.ID, args[1])
	if err != nil {
		return err
	}
	return redirect(env, h.output, func(env Env) error {
		_, err := env.data().Write(data)
		return err
	})
}

func (h *historyFlags) export(ctx context.Context, env Env, s *history.Store, _ []string) error {
	return redirect(env, h.output, func(env Env) error {
		return buffered(env.data(), func(w io.Writer) error { _, err := s.Export(ctx, w); return err })
	})
}

func (h *historyFlags) importFile(ctx context.Context, env Env, s *history.Store, args []string) error {
	in := env.Stdin
	if args[0] != "-" {
		f, err := os.Open(absolute(env.Dir, args[0]))
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	n, err := s.Import(ctx, in)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	fmt.Fprintf(env.Stderr, "%s read\n", runsWord(n))
	return nil
}

func (h *historyFlags) prune(ctx context.Context, env Env, s *history.Store, _ []string) error {
	if h.older == "" {
		return usagef("history prune: give an age with -older: hone history prune -older 180d")
	}
	age, err := parseAge(h.older)
	if err != nil {
		return usagef("history prune: -older %s: %v", h.older, err)
	}
	n, err := s.Prune(ctx, h.keep, time.Now().Add(-age))
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "%d runs removed\n", n)
	return nil
}

func (h *historyFlags) bisect(ctx context.Context, env Env, s *history.Store, args []string) error {
	spec := bench.BisectSpec{Name: args[0], Unit: h.unit, Good: h.good, Bad: h.bad}
	if h.good == "" {
		if h.bad != "" {
			return usagef("history bisect: -bad without -good")
		}
		page, err := h.tracks(ctx, s, args)
		if err != nil {
			return err
		}
		t, step, ok := latestStep(page.Tracks)
		if !ok {
			return fmt.Errorf("the history shows no change of %s; name commits with -good and -bad", args[0])
		}
		spec.Name, spec.Unit, spec.Good, spec.Bad = t.Name, t.Unit, step.Good.Commit, step.Bad.Commit
		spec.Packages = []string{t.Package}
	}
	prog, err := h.bench.prepare(env)
	if err != nil {
		return err
	}
	packages := spec.Packages
	spec.Spec = h.bench.spec
	spec.Packages = packages
	if len(packages) == 0 {
		spec.Packages = []string{"./..."}
	}
	b, err := bench.Bisect(ctx, spec)
	prog.clear()
	if err != nil {
		return err
	}
	return h.print(env, b, func(w io.Writer, st render.Style) { render.Bisection(w, b, st) })
}

// latestStep returns the most recent change caused by a commit.
func latestStep(tracks []history.Track) (of history.Track, latest history.Step, ok bool) {
	for _, t := range tracks {
		for _, s := range t.Steps {
			if s.By == history.ByCommit && (!ok || s.Bad.CommitTime.After(latest.Bad.CommitTime)) {
				of, latest, ok = t, s, true
			}
		}
	}
	return of, latest, ok
}
