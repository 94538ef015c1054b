package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hone-go/hone/internal/capture"
	verdicts "github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/load"
)

// subject is a program that is recorded repeatedly.
type subject struct {
	name, dir string
	bench     string
	get       string // path of a request; "" if the program needs no load
}

func subjects() []subject {
	const leftpad = "/v1/leftpad/?str=test&len=50&chr=*"
	return []subject{
		{name: "service", dir: "leftpad/before", get: leftpad},
		{name: "program", dir: "wordcount"},
		{name: "benchmarks", dir: "leftpad/before", bench: "."},
		{name: "repaired", dir: "leftpad/after", get: leftpad},
	}
}

// again holds the flags of `peers compare`.
type again struct {
	pairs    int
	duration time.Duration
	warmup   time.Duration
	busy     bool
	examples string
	dir      string // of the recordings
	cache    string
	judge    bool // judge the recordings in dir, without recording
	out      io.Writer
}

// compareArea records the same programs repeatedly, and counts the verdicts that `hone compare`
// gives on neighbouring recordings, all of which are false, and how often it detects a repair.
func compareArea(ctx context.Context, args []string, out io.Writer) error {
	a := again{out: out}
	fs := flag.NewFlagSet("peers compare", flag.ContinueOnError)
	fs.IntVar(&a.pairs, "pairs", 40, "`N` pairs of recordings of one program, over three programs")
	fs.DurationVar(&a.duration, "duration", 5*time.Second, "length of a recording")
	fs.DurationVar(&a.warmup, "warmup", 2*time.Second, "longest warm-up of a service")
	fs.BoolVar(&a.busy, "busy", false, "run a busy loop per core in the background")
	fs.StringVar(&a.examples, "examples", "examples", "`FOLDER` of the programs")
	fs.StringVar(&a.dir, "keep", "", "keep the recordings in `FOLDER`")
	fs.BoolVar(&a.judge, "judge", false, "judge the recordings in the -keep folder again, without making any")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 || a.pairs < 1 {
		return fmt.Errorf("compare takes only flags, and at least one pair")
	}
	if a.judge && a.dir == "" {
		return fmt.Errorf("-judge needs the folder of -keep")
	}
	temp, err := os.MkdirTemp("", "hone-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	a.cache = filepath.Join(temp, "cache")
	if a.dir == "" {
		a.dir = filepath.Join(temp, "recordings")
	}
	if !a.judge {
		if err := a.record(ctx); err != nil {
			return err
		}
	}
	stream, err := a.read()
	if err != nil {
		return err
	}
	return judgeStream(stream).print(out)
}

// record makes all recordings, one of each subject per iteration, so that disturbances of the
// machine affect all of them.
func (a *again) record(ctx context.Context) error {
	if err := os.MkdirAll(a.dir, 0o755); err != nil {
		return err
	}
	if a.busy {
		stop, err := spinners(ctx)
		if err != nil {
			return err
		}
		defer stop()
	}
	blocks := (a.pairs+2)/3 + 1
	for n := 1; n <= blocks; n++ {
		began := time.Now()
		for _, s := range subjects() {
			if err := a.recordOne(ctx, s, filepath.Join(a.dir, fmt.Sprintf("%s-%03d.hone", s.name, n))); err != nil {
				return fmt.Errorf("record %s: %w", s.name, err)
			}
		}
		fmt.Fprintf(a.out, "block %d of %d: %s\n", n, blocks, time.Since(began).Round(time.Second))
	}
	return nil
}

func (a *again) recordOne(ctx context.Context, s subject, file string) error {
	dir, err := filepath.Abs(filepath.Join(a.examples, s.dir))
	if err != nil {
		return err
	}
	o := capture.Options{
		Package: ".", Dir: dir, RunDir: dir, Arg: s.dir, Bench: s.bench, Out: file,
		Duration: a.duration, Warmup: a.warmup, Phases: []string{},
	}
	if s.get != "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		addr := l.Addr().String()
		l.Close()
		o.Args = []string{"-addr", addr}
		o.Load = &load.Options{Targets: []load.Target{{URL: "http://" + addr + s.get}}, Connections: 8}
	}
	_, err = session.Record(ctx, session.Config{CacheDir: a.cache, Version: "peers"}, o)
	return err
}

// spinners starts a process per core that keeps it busy. They exit with this process, because their
// standard input is then closed.
func spinners(ctx context.Context) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running []*exec.Cmd
	stop = func() {
		cancel()
		for _, cmd := range running {
			cmd.Wait() //nolint:errcheck // it was killed
		}
	}
	for range runtime.NumCPU() {
		cmd := exec.CommandContext(ctx, self, workerArg, "spin", "core")
		if _, err := cmd.StdinPipe(); err != nil {
			stop()
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			stop()
			return nil, err
		}
		running = append(running, cmd)
	}
	return stop, nil
}

// spin keeps a core busy until the input ends.
func spin(in io.Reader) error {
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, in)
		done <- err
	}()
	for x := uint64(1); ; x = x*6364136223846793005 + 1 {
		if x&0xffff != 0 {
			continue
		}
		select {
		case err := <-done:
			return err
		default:
		}
	}
}

// read opens the recordings of each subject, in order.
func (a *again) read() (map[string][]verdicts.Source, error) {
	stream := map[string][]verdicts.Source{}
	for _, s := range subjects() {
		files, err := filepath.Glob(filepath.Join(a.dir, s.name+"-*.hone"))
		if err != nil {
			return nil, err
		}
		slices.Sort(files)
		for _, file := range files {
			m, err := source.Opener{CacheDir: a.cache}.Manifest(file)
			if err != nil {
				return nil, err
			}
			stream[s.name] = append(stream[s.name], verdicts.Source{Name: strings.TrimSuffix(filepath.Base(file), ".hone"), Manifest: m})
		}
	}
	return stream, nil
}

// tally counts the verdicts on one metric.
type tally struct {
	what     string
	pairs    int
	reported int     // with a verdict better or worse
	largest  float64 // change, as the absolute logarithm of the ratio
	floors   []float64
}

// score summarizes the verdicts of `hone compare` on all recordings.
type score struct {
	same     []*tally // a subject's metrics, compared with itself
	pairs    int
	wrong    int // pairs with any verdict
	repair   []*tally
	problems []string // pairs that could not be compared
}

// judgeStream compares neighbouring recordings of each subject, and the service with the repaired
// one of the same iteration.
func judgeStream(stream map[string][]verdicts.Source) score {
	var s score
	for _, sub := range subjects()[:3] {
		list := stream[sub.name]
		for i := range max(0, len(list)-1) {
			s.pairs++
			c, err := verdicts.Recordings(list[i:i+1], list[i+1:i+2], verdicts.Options{})
			if err != nil {
				s.problems = append(s.problems, err.Error())
				continue
			}
			if s.add(&s.same, sub.name, c) {
				s.wrong++
			}
		}
	}
	before, after := stream["service"], stream["repaired"]
	for _, side := range []int{1, 3} {
		for i := 0; i+side <= min(len(before), len(after)); i += side {
			c, err := verdicts.Recordings(before[i:i+side], after[i:i+side], verdicts.Options{})
			if err != nil {
				s.problems = append(s.problems, err.Error())
				continue
			}
			s.add(&s.repair, fmt.Sprintf("repair, %d per side", side), c)
		}
	}
	return s
}

// add counts a comparison, and reports whether any row got a verdict.
func (s *score) add(to *[]*tally, name string, c *verdicts.Comparison) (reported bool) {
	seen := map[string]bool{} // benchmarks share a metric
	for _, r := range c.Rows {
		what := name + " " + r.Metric
		at := slices.IndexFunc(*to, func(t *tally) bool { return t.what == what })
		if at < 0 {
			at = len(*to)
			*to = append(*to, &tally{what: what})
		}
		t := (*to)[at]
		if !seen[what] {
			seen[what] = true
			t.pairs++
		}
		if r.Ratio != nil && *r.Ratio > 0 {
			t.largest = math.Max(t.largest, math.Abs(math.Log(*r.Ratio)))
		}
		if r.Why == "" {
			t.floors = append(t.floors, r.Floor)
		}
		if r.Verdict == verdicts.Better || r.Verdict == verdicts.Worse {
			t.reported++
			reported = true
		}
	}
	return reported
}

func (s score) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tpairs\tverdicts\tlargest change\tmedian ±\t")
	for _, list := range [][]*tally{s.same, s.repair} {
		for _, t := range list {
			fmt.Fprintf(w, "%s\t%d\t%d\t×%.2f\t%s\t\n", t.what, t.pairs, t.reported, math.Exp(t.largest), medianFloor(t.floors))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range s.problems {
		fmt.Fprintln(out, "not compared:", p)
	}
	fmt.Fprintf(out, "pairs of one program with any verdict, all of them false: %d of %d, at most %.1f %% (95 %%); target: 1 in 40\n",
		s.wrong, s.pairs, 100*upperShare(s.wrong, s.pairs))
	return nil
}

func medianFloor(floors []float64) string {
	if len(floors) == 0 {
		return "no verdict possible"
	}
	slices.Sort(floors)
	return fmt.Sprintf("%.1f %%", 100*floors[len(floors)/2])
}

// upperShare is the one-sided upper 95 % bound of a proportion after k of n independent trials (C.
// J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case
// of the binomial", Biometrika 26, 1934).
func upperShare(k, n int) float64 {
	if n == 0 || k >= n {
		return 1
	}
	low, high := 0.0, 1.0
	for range 60 {
		p := (low + high) / 2
		atMost, term := 0.0, math.Pow(1-p, float64(n)) // of i events
		for i := range k + 1 {
			atMost += term
			term *= float64(n-i) / float64(i+1) * p / (1 - p)
		}
		if atMost > 0.05 {
			low = p
		} else {
			high = p
		}
	}
	return high
}
