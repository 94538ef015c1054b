package cli

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/render"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/load"
)

// outputFlags are the flags of all commands that print a report.
type outputFlags struct {
	json    bool
	top     int
	verbose bool
	quiet   bool
	rules   string
}

func (o *outputFlags) declare(fs *flag.FlagSet, topUsage string) {
	fs.BoolVar(&o.json, "json", false, "print JSON with a versioned schema")
	if topUsage != "" {
		fs.IntVar(&o.top, "top", 0, topUsage)
		fs.StringVar(&o.rules, "rules", "", "run the rules in `LIST`: IDs, kinds or patterns, with a minus to leave out: 'all,-sprintf-simple,-gc'")
	}
	fs.BoolVar(&o.verbose, "v", false, "print more details")
	fs.BoolVar(&o.quiet, "q", false, "no progress on stderr")
}

func (o *outputFlags) style(env Env) render.Style {
	return render.Style{Color: env.StdoutTTY, Width: env.Width, Ink: env.ink}
}

// session returns the Config for a call into the session floor.
func (o *outputFlags) session(env Env) (session.Config, *progress, error) {
	if env.CacheDir == "" {
		return session.Config{}, nil, env.CacheErr
	}
	if env.KeepErr != nil {
		return session.Config{}, nil, env.KeepErr
	}
	if err := diagnose.CheckRules(o.rules); err != nil {
		return session.Config{}, nil, usagef("-%v", err)
	}
	p := newProgress(env, o.quiet)
	return session.Config{CacheDir: env.CacheDir, Version: env.Version, Keep: env.Keep, Rules: o.rules, Progress: p.event}, p, nil
}

// list is a flag that can be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// connectFlags are the flags for connections to a service.
type connectFlags struct {
	headers  list
	insecure bool
	cert     string
	key      string
	ca       string
}

func (c *connectFlags) declare(fs *flag.FlagSet) {
	fs.Var(&c.headers, "header", "`HEADER` to send with every request, 'Name: value'; may be given again")
	fs.BoolVar(&c.insecure, "insecure", false, "do not verify TLS certificates")
	fs.StringVar(&c.cert, "cert", "", "PEM `FILE` with the client certificate")
	fs.StringVar(&c.key, "key", "", "PEM `FILE` with the key of -cert")
	fs.StringVar(&c.ca, "ca", "", "PEM `FILE` with the certificate authorities to trust")
}

// targetsHelp explains the format of a targets file.
const targetsHelp = `A targets file lists requests, which are sent in order, repeatedly:

    # lines that start with # are comments
    GET http://127.0.0.1:8080/items/1
    Accept: application/json

    POST http://127.0.0.1:8080/items
    Content-Type: application/json
    @item.json

A target is a line METHOD URL (or only a URL, for GET), followed by its headers and optionally by @FILE,
a file that contains the body, relative to the targets file. Headers of -header are added to all targets.`

// loadFlags are the flags of the load generator.
type loadFlags struct {
	connectFlags
	load        string
	rate        float64
	connections int
	most        int
	method      string
	body        string
	expect      string
}

func (l *loadFlags) declare(fs *flag.FlagSet, withLoad bool) {
	if withLoad {
		fs.StringVar(&l.load, "load", "", "drive the service: a `URL`, 'METHOD URL', or a targets file")
	}
	fs.StringVar(&l.method, "method", "", "`METHOD` of the requests to a URL (default GET, with -body POST)")
	fs.StringVar(&l.body, "body", "", "`TEXT` to send to a URL as the body of every request, or @FILE")
	fs.StringVar(&l.expect, "expect", "", "`STATUSES` that count as success, all others as failures, e.g. 200,404 or 4xx (default: all below 400)")
	fs.Float64Var(&l.rate, "rate", 0, "send `N` requests per second; 0 = a closed loop, as fast as the service answers")
	fs.IntVar(&l.connections, "connections", 0, fmt.Sprintf("`N` connections to keep open (default %d, more if -rate needs them)", load.DefaultConnections))
	fs.IntVar(&l.most, "max_connections", 0, "with -rate: at most `N` connections at a time, so that a slow service is not overloaded (default: as many as the machine allows)")
	l.connectFlags.declare(fs)
}

// options turns the flags into load.Options; it returns nil without a load.
func (l *loadFlags) options(arg string) (*load.Options, error) {
	if arg == "" {
		if l.rate != 0 || l.connections != 0 || l.most != 0 || l.method != "" || l.body != "" || l.expect != "" {
			return nil, usagef("-rate, -connections, -max_connections, -method, -body and -expect need a -load to apply to")
		}
		return nil, nil
	}
	if l.rate < 0 || l.connections < 0 || l.most < 0 {
		return nil, usagef("-rate, -connections and -max_connections cannot be negative")
	}
	if l.most > 0 && l.rate == 0 {
		return nil, usagef("-max_connections limits the connections of a -rate; without -rate, -connections sets their number")
	}
	if l.most > 0 {
		l.connections = min(cmp.Or(l.connections, load.DefaultConnections), l.most)
	}
	headers, err := parseHeaders(l.headers)
	if err != nil {
		return nil, err
	}
	targets, err := load.ParseTargets(arg, headers)
	if err != nil {
		return nil, usagef("%v", err)
	}
	if err := l.complete(arg, targets); err != nil {
		return nil, err
	}
	expect, err := load.ParseExpect(l.expect)
	if err != nil {
		return nil, usagef("-expect: %v", err)
	}
	tlsConfig, err := l.tls()
	if err != nil {
		return nil, err
	}
	return &load.Options{Targets: targets, Rate: l.rate, Connections: l.connections, MaxConnections: l.most, TLS: tlsConfig, Expect: expect}, nil
}

// complete applies -method and -body to the target in arg.
func (l *loadFlags) complete(arg string, targets []load.Target) error {
	if l.method == "" && l.body == "" {
		return nil
	}
	typed, single := load.ParseTarget(arg)
	if !single {
		return usagef("-method and -body apply to a URL; the targets file %s has the method and the body (@FILE) of each target", arg)
	}
	t := &targets[0]
	withMethod := strings.HasPrefix(strings.TrimSpace(arg), typed.Method+" ")
	switch {
	case withMethod && l.method != "" && l.method != typed.Method:
		return usagef("-method %s and %q name two methods", l.method, arg)
	case l.method != "":
		t.Method = l.method
	case !withMethod:
		t.Method = "POST"
	}
	name, file := strings.CutPrefix(l.body, "@")
	if !file {
		t.Body = []byte(l.body)
	} else {
		body, err := load.ReadBody(name)
		if err != nil {
			return fmt.Errorf("-body: %w", err)
		}
		t.Body = body
	}
	if err := t.Check(); err != nil {
		return usagef("%v", err)
	}
	return nil
}

func parseHeaders(lines []string) ([][2]string, error) {
	var headers [][2]string
	for _, h := range lines {
		k, v, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(k) == "" {
			return nil, usagef("-header %q: want 'Name: value'", h)
		}
		headers = append(headers, [2]string{strings.TrimSpace(k), strings.TrimSpace(v)})
	}
	return headers, nil
}

func (f *connectFlags) tls() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: f.insecure} // requested with -insecure
	if (f.cert == "") != (f.key == "") {
		return nil, usagef("-cert and -key must be given together")
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, fmt.Errorf("read -cert and -key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, fmt.Errorf("read -ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("-ca %s: the file has no PEM certificate", f.ca)
		}
	}
	return c, nil
}

// recordFlags are the flags for recording.
type recordFlags struct {
	loadFlags
	duration time.Duration
	warmup   time.Duration
	timeout  time.Duration
	bench    string
	phases   string
	pprof    string
	build    string
	out      string
	dir      string
	stdin    string

	loadCommand string
	showOutput  bool
}

func (r *recordFlags) declare(fs *flag.FlagSet) {
	r.loadFlags.declare(fs, true)
	fs.DurationVar(&r.duration, "duration", 30*time.Second, "total length `D` of the phases; gogc, leaks, counts, inputs and upgrade take up to twice as long again, plus up to six builds")
	fs.DurationVar(&r.warmup, "warmup", 10*time.Second, "wait at most `D` for a steady throughput")
	fs.DurationVar(&r.timeout, "timeout", 10*time.Minute, "wait at most `D` for a build, for the service to be ready, for a response (30s at most), and for the program to exit")
	fs.StringVar(&r.bench, "bench", "", "run the package's benchmarks that match `REGEXP`")
	fs.StringVar(&r.phases, "phases", strings.Join(capture.Phases(), ","), "comma-separated `LIST` of the phases to run besides clean")
	fs.StringVar(&r.pprof, "pprof", "", "`PREFIX` where a URL target mounts net/http/pprof (default /debug/pprof/)")
	fs.StringVar(&r.build, "build", "", "`FLAGS` of go build for the target, e.g. '-tags prod -ldflags \"-X main.v=1\"'")
	fs.StringVar(&r.out, "o", "", "write the recording to `FILE` (default: in hone's cache)")
	fs.StringVar(&r.stdin, "stdin", "", "`FILE` to use as standard input of the program, in each run (default: what is piped into hone)")
	fs.StringVar(&r.loadCommand, "load_cmd", "", "drive the service with another tool: a shell `COMMAND`, started and stopped with each phase")
	fs.BoolVar(&r.showOutput, "show_output", false, "show the program's output on stderr while it runs")
	fs.StringVar(&r.dir, "C", "", "resolve TARGET relative to `DIR`; the program still runs in the current directory")
}

// defaultLength makes d the default of -duration, which is the length of one run in commands that
// record a target many times.
func (r *recordFlags) defaultLength(fs *flag.FlagSet, d time.Duration) {
	f := fs.Lookup("duration")
	f.Usage, f.DefValue = "length of one run, `D`", d.String()
	r.duration = d
}

// capture turns flags and arguments into the options of a recording.
func (r *recordFlags) capture(env Env, args, rest []string) (capture.Options, error) {
	var o capture.Options
	switch len(args) {
	case 0:
		if r.bench == "" {
			return o, usagef("no target: give a main package such as ./cmd/server, or the URL of a running service")
		}
		args = []string{"."}
	case 1:
	default:
		return o, usagef("one target at a time, got %s; arguments of the program go after --", strings.Join(args, " and "))
	}
	if r.duration <= 0 || r.duration < time.Second {
		return o, usagef("-duration %s is too short: use at least 1s, or 30s to measure small shares", r.duration)
	}
	phases, err := r.phaseList()
	if err != nil {
		return o, err
	}
	flags, err := splitQuoted(r.build)
	if err != nil {
		return o, usagef("-build: %v", err)
	}
	o = capture.Options{
		Bench: r.bench, Dir: absolute(env.Dir, r.dir), RunDir: env.Dir, Args: rest, BuildFlags: flags,
		Duration: r.duration, Warmup: r.warmup, Phases: phases, Timeout: r.timeout,
		Out: r.out, Arg: args[0], LoadCommand: r.loadCommand,
	}
	if r.loadCommand != "" && (r.load != "" || r.bench != "") {
		return o, usagef("-load_cmd drives the service itself: give it without -load and -bench")
	}
	if o.Load, err = r.loadFlags.options(r.load); err != nil {
		return o, err
	}
	o.Attach.Prefix = r.pprof
	if o.Attach.Header, err = parseHeaders(r.headers); err != nil {
		return o, err
	}
	if o.Attach.TLS, err = r.tls(); err != nil {
		return o, err
	}
	if strings.HasPrefix(args[0], "http://") || strings.HasPrefix(args[0], "https://") {
		o.URL = args[0]
		switch {
		case len(rest) > 0:
			return o, usagef("a running service takes no arguments: %s", strings.Join(rest, " "))
		case r.bench != "":
			return o, usagef("-bench needs a package, not a URL")
		case r.stdin != "":
			return o, usagef("-stdin is for a program that hone starts, not for a running service")
		}
		return o, nil
	}
	if o.Stdin = absoluteFile(env.Dir, r.stdin); o.Stdin == "" && o.Load == nil && o.Bench == "" {
		o.StdinFrom = piped(env.Stdin)
	}
	if r.pprof != "" {
		return o, usagef("-pprof is for URL targets; packages are profiled by hone's probe")
	}
	if r.bench != "" && o.Load != nil {
		return o, usagef("give either -bench or -load: a benchmark is its own load")
	}
	o.Package, o.Settings = args[0], env.goSettings()
	return o, nil
}

// phaseList checks the names of phases; an empty list means only the clean phase.
func (r *recordFlags) phaseList() ([]string, error) {
	phases := []string{}
	for _, p := range strings.Split(r.phases, ",") {
		switch p = strings.TrimSpace(p); {
		case slices.Contains(capture.Phases(), p):
			phases = append(phases, p)
		case p != "":
			return nil, usagef("-phases: no phase %q; there are %s", p, strings.Join(capture.Phases(), ", "))
		}
	}
	return phases, nil
}

func absolute(base, dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(base, dir)
}

// splitQuoted splits at spaces outside single or double quotes, as the go
// command reads GOFLAGS-like lists.
func splitQuoted(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, in := rune(0), false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unfinished %c quote in %s", quote, s)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}
