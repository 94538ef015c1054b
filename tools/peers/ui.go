package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hone-go/hone/stats"
)

// uiArea compares servers that show profiles and traces, request by request.
func uiArea(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("peers ui", flag.ContinueOnError)
	b := &uiBench{out: out}
	fs.IntVar(&b.runs, "runs", 3, "servers of each tool")
	fs.BoolVar(&b.large, "large", false, "the profile of 90 MB and the trace of 220 MB too, with hone alone")
	fs.IntVar(&b.views, "views", 0, "instead: that many views of a profile with random filters, of hone alone; with -large, of the largest profile")
	fs.Uint64Var(&b.seed, "seed", 13, "with -views, the random filters")
	fs.StringVar(&b.other, "other", "", "with -views, another build of `HONE`, asked for the same views: both must answer the same")
	fs.BoolVar(&b.verbose, "v", false, "with -views, print each view to stderr")
	fs.BoolVar(&b.alone, "alone", false, "without the other tools, which take minutes of CPU")
	fs.StringVar(&b.data, "data", "", "`FOLDER` with files to take instead of making them: p16.pb.gz, p90.pb.gz, t5.trace, t220.trace; those missing are made")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "hone-peers-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.findTools(ctx); err != nil {
		return err
	}
	if b.views > 0 {
		return b.manyViews(ctx)
	}
	return b.compareAll(ctx)
}

// manyViews prints what random views of a profile cost.
func (b *uiBench) manyViews(ctx context.Context) error {
	name, stacks := "p16.pb.gz", 526_000
	if b.large {
		name, stacks = "p90.pb.gz", 2_350_000
	}
	file, err := b.profile(ctx, name, stacks)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', 0)
	s, other := b.profileServers(file)[1], (*server)(nil)
	if b.other != "" {
		old := s
		old.command = append([]string{b.other}, s.command[1:]...)
		other = &old
	}
	if err := b.randomViews(ctx, w, s, other); err != nil {
		return err
	}
	return w.Flush()
}

// uiBench holds the tools and inputs of the comparison.
type uiBench struct {
	runs      int
	large     bool
	alone     bool
	views     int
	seed      uint64
	other     string
	verbose   bool
	data, dir string
	self      string
	hone      string
	pprof     string
	trace     string
	out       io.Writer
}

func (b *uiBench) findTools(ctx context.Context) error {
	t := traceBench{dir: b.dir}
	if err := t.findTools(ctx); err != nil {
		return err
	}
	p := profileBench{dir: b.dir}
	if err := p.findTools(ctx); err != nil {
		return err
	}
	b.self, b.hone, b.trace, b.pprof = t.self, t.hone, t.trace, p.pprof
	return nil
}

// visit is an action of a user, as the requests that a browser sends for it.
type visit struct {
	name  string
	paths []string
}

// server is a tool that serves a file to a browser.
type server struct {
	name    string
	command []string
	at      *regexp.Regexp // matches the address in its output
	visits  []visit
}

// Regular expressions for frames in test data of tools/peers, also of older versions.
const (
	focused = `(plan|Method)3[0-9]{2}$`
	hidden  = `(flush|Type)4[0-9]\b`
)

var anyURL = regexp.MustCompile(`(http://127\.0\.0\.1:\d+)`)

func (b *uiBench) profileServers(file string) []server {
	q := url.QueryEscape
	return []server{
		{"go tool pprof -http", []string{b.pprof, "-http=127.0.0.1:", "-no_browser", file}, servesAt, []visit{
			{"first flame graph", []string{"/ui/flamegraph"}}, {"focus", []string{"/ui/flamegraph?f=" + q(focused)}},
			{"hide", []string{"/ui/flamegraph?h=" + q(hidden)}}, {"top", []string{"/ui/top"}},
		}},
		{"hone ui", []string{b.hone, "ui", "-no_browser", file}, anyURL, []visit{
			{"first flame graph", []string{"/", "/api/sources", "/page/flame?src=0"}}, {"focus", []string{"/page/flame?src=0&focus=" + q(focused)}},
			{"hide", []string{"/page/flame?src=0&hide=" + q(hidden)}}, {"top", []string{"/api/top?src=0&top=200"}},
		}},
	}
}

func (b *uiBench) traceServers(file string) []server {
	return []server{
		{"go tool trace", []string{b.trace, "-http=127.0.0.1:0", file}, anyURL, []visit{
			{"first view over time", []string{"/trace?view=proc", "/jsontrace?view=proc"}}, {"profile of waiting", []string{"/block?raw=1"}},
		}},
		{"hone ui", []string{b.hone, "ui", "-no_browser", file}, anyURL, []visit{
			{"first view over time", []string{"/", "/api/sources", "/api/trace-overview?src=0&columns=500"}}, {"profile of waiting", []string{"/page/flame?src=0&part=blocking"}},
			{"zoom to 20 ms", []string{"/api/trace-overview?src=0&columns=500&from=100ms&to=120ms"}}, {"flame graph of waiting in 20 ms", []string{"/page/flame?src=0&part=blocking&from=100ms&to=120ms"}},
			{"requests", []string{"/api/trace-requests?src=0"}},
		}},
	}
}

func (b *uiBench) compareAll(ctx context.Context) error {
	w := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "file\ttool\taction\tCPU s\tkB\tpeak MiB so far\t")
	small, err := b.profile(ctx, "p16.pb.gz", 526_000)
	if err != nil {
		return err
	}
	short, err := b.traceFile(ctx, "t5.trace", 5)
	if err != nil {
		return err
	}
	others := 0
	if b.alone {
		others = 1
	}
	if err := b.row(ctx, w, small, b.profileServers(small)[others:]); err != nil {
		return err
	}
	if err := b.row(ctx, w, short, b.traceServers(short)[others:]); err != nil {
		return err
	}
	if b.large {
		big, err := b.profile(ctx, "p90.pb.gz", 2_350_000)
		if err != nil {
			return err
		}
		long, err := b.traceFile(ctx, "t220.trace", 220)
		if err != nil {
			return err
		}
		if err := b.row(ctx, w, big, b.profileServers(big)[1:]); err != nil {
			return err
		}
		if err := b.row(ctx, w, long, b.traceServers(long)[1:]); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (b *uiBench) profile(ctx context.Context, name string, stacks int) (string, error) {
	if file := filepath.Join(b.data, name); b.data != "" && exists(file) {
		return file, nil
	}
	file := filepath.Join(b.dir, name)
	_, err := measure(ctx, []string{b.self, workerArg, "generate", strconv.Itoa(stacks), "20000", "37", "1", "1", file})
	return file, err
}

func (b *uiBench) traceFile(ctx context.Context, name string, mb int) (string, error) {
	t := traceBench{data: b.data, dir: b.dir, self: b.self}
	if mb == 5 || b.data == "" {
		return t.file(ctx, mb)
	}
	if file := filepath.Join(b.data, name); exists(file) {
		return file, nil
	}
	return t.file(ctx, mb)
}

// row runs the servers alternately, and prints the median of each action.
func (b *uiBench) row(ctx context.Context, w io.Writer, file string, servers []server) error {
	seen := make([][][]usage, len(servers)) // by server and visit
	for i, s := range servers {
		seen[i] = make([][]usage, len(s.visits))
	}
	for range b.runs {
		for i, s := range servers {
			us, err := s.visitAll(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			for j, u := range us {
				seen[i][j] = append(seen[i][j], u)
			}
		}
	}
	for i, s := range servers {
		for j, v := range s.visits {
			var cpu, page, peak []float64
			for _, u := range seen[i][j] {
				cpu, page, peak = append(cpu, u.cpu), append(page, u.page), append(peak, u.peak)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%.0f\t%.0f\t\n", filepath.Base(file), s.name, v.name, stats.Median(cpu), stats.Median(page), stats.Median(peak))
		}
	}
	return nil
}

// visitAll starts a server, sends the requests of all visits, and stops it. The first visit
// includes the start.
func (s server) visitAll(ctx context.Context) ([]usage, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	pid, address, stop, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	var out []usage
	before := 0.0
	for _, v := range s.visits {
		u := usage{}
		for _, path := range v.paths {
			n, err := get(ctx, address+path)
			if err != nil {
				return nil, err
			}
			u.page += float64(n) / 1e3
		}
		after, peak, err := soFar(pid)
		if err != nil {
			return nil, err
		}
		u.cpu, u.peak = after-before, peak
		before = after
		out = append(out, u)
	}
	return out, nil
}

// start starts a server and waits until it prints its address. stop kills it.
func (s server) start(ctx context.Context) (pid int, address string, stop func(), err error) {
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Env = append(os.Environ(), "BROWSER=true") // otherwise go tool trace opens a browser
	said, err := os.CreateTemp("", "hone-peers-")
	if err != nil {
		return 0, "", nil, err
	}
	defer said.Close()
	defer os.Remove(said.Name())
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return 0, "", nil, err
	}
	stop = func() {
		cmd.Process.Kill()
		cmd.Wait() // its error is that of the kill
	}
	if address, err = s.address(ctx, said.Name()); err != nil {
		stop()
		return 0, "", nil, err
	}
	return cmd.Process.Pid, address, stop, nil
}

// address waits until the server prints its address.
func (s server) address(ctx context.Context, log string) (string, error) {
	for {
		text, err := os.ReadFile(log)
		if err != nil {
			return "", err
		}
		if at := s.at.FindSubmatch(text); at != nil {
			return string(at[1]), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("it did not say where it serves: %s", text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// get returns the number of bytes that the connection transfers, compressed if the server
// compresses for browsers.
func get(ctx context.Context, address string) (int64, error) { return getTo(ctx, io.Discard, address) }

// getTo is get, and writes these bytes to w.
func getTo(ctx context.Context, w io.Writer, address string) (int64, error) {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return 0, err
		}
		req.Header.Set("Accept-Encoding", "gzip")
		resp, err := client.Do(req)
		if err != nil { // it prints its address before it listens
			select {
			case <-ctx.Done():
				return 0, fmt.Errorf("get %s: %w", address, err)
			case <-time.After(50 * time.Millisecond):
				continue
			}
		}
		n, err := io.Copy(w, resp.Body)
		resp.Body.Close()
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("get %s: %s", address, resp.Status)
		}
		return n, err
	}
}

// soFar returns the cost of a running process so far: CPU seconds, and peak memory in MiB. It works
// on Linux only.
func soFar(pid int) (cpu, peak float64, err error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(tasks) == 0 {
		return 0, 0, fmt.Errorf("what process %d takes is known on Linux alone", pid)
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // a thread that has exited
		}
		ns, _, _ := strings.Cut(string(text), " ")
		v, err := strconv.ParseFloat(ns, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("read %s: %w", task, err)
		}
		cpu += v / 1e9
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return cpu, kb / 1024, err
		}
	}
	return cpu, 0, fmt.Errorf("process %d has no VmHWM", pid)
}
