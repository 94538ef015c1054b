package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/screen/screentest"
	"github.com/hone-go/hone/profile"
)

// corpus is a directory of files with hostile names in the file names and in the content.
type corpus struct {
	dir                                                                    string
	profile, folded, dump, trace, targets, bench, broken, commits, history string
	recording, program, foreign, empty, textBroken                         string
}

func newCorpus(t *testing.T) corpus {
	t.Helper()
	c := corpus{dir: t.TempDir()}
	write := func(name string, data []byte) string {
		path := filepath.Join(c.dir, screentest.FileName+name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cpu := hostileProfile(t, profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: screentest.Text, Unit: screentest.Text}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	allocs := hostileProfile(t, profile.ValueType{Type: "alloc_objects", Unit: "count"}, profile.ValueType{Type: "alloc_space", Unit: "bytes"},
		profile.ValueType{Type: "inuse_objects", Unit: "count"}, profile.ValueType{Type: "inuse_space", Unit: "bytes"})
	var stacks bytes.Buffer
	for range 30 {
		stacks.WriteString(oneLine + ";b" + oneLine + " 7\n")
	}
	dump := []byte("goroutine 1 [select, 3 minutes]:\nmain." + oneLine + "()\n\t/src/" + oneLine + ".go:17 +0x1d\n\n")
	events := hostileTrace(t)
	c.profile, c.folded, c.dump, c.trace = write(".pprof", cpu), write(".folded", stacks.Bytes()), write(".txt", dump), write(".trace", events)
	c.commits = write(".commits", []byte("pkg: "+oneLine+"\ncpu: "+oneLine+"\ncommit: aaaa"+oneLine+"\ncommit-time: 2026-01-02T03:04:05Z\nbranch: "+oneLine+"\ngo: "+oneLine+
		"\nBenchmark"+oneLine+" 1 2 ns/op 3 "+oneLine+"\nBenchmarkX 1 2 ns/op 3 "+oneLine+"\n"))
	c.history = filepath.Join(t.TempDir(), oneLine+".db")
	c.bench = write(".bench", []byte("pkg: "+oneLine+"\n"+oneLine+": "+oneLine+"\nBenchmark"+oneLine+" 1 2 ns/op 3 "+oneLine+"\nBenchmarkX 1 2 ns/op 3 "+oneLine+"\n"))
	c.targets = write(".targets", []byte("GET http://127.0.0.1:1/"+oneLine+"\n"+oneLine+": "+oneLine+"\n"))
	c.broken, c.textBroken = write(".broken", []byte("\x08"+screentest.Text)), write(".brokentext", []byte("heap profile: 1: 2 [3: 4] @ heap/1\n"+screentest.Text))
	c.foreign, c.empty = write(".zip", []byte("PK\x03\x04"+screentest.Text)), write(".none", nil)
	c.recording = filepath.Join(c.dir, screentest.FileName+".hone")
	var m recording.Manifest
	screentest.Fill(&m, screentest.Valid)
	m.Target.Kind, m.Target.Dir, m.Target.RunDir, m.Created = "service", "", "", time.Now()
	m.Phases[0].Name, m.Phases[1].Name = recording.PhaseClean, recording.PhaseCPU
	m.Missing = []recording.Missing{{Part: recording.PartHeap, Why: screentest.Valid, How: screentest.Valid}}
	w, err := recording.Create(c.recording, m)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		recording.PartCPU: cpu, recording.PartAllocs: allocs, recording.PartTrace: events, recording.PartGoroutineTxt: dump,
		recording.PartStdout: []byte(screentest.Text), recording.PartStderr: []byte(screentest.Text), recording.PartBuildInfo: []byte(screentest.Text),
	} {
		if err := w.Add(name, recording.PhaseCPU, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	c.program = filepath.Join(c.dir, "program")
	for name, text := range map[string]string{
		"go.mod":  "module example.com/hostile\n\ngo 1.23\n",
		"main.go": "package main\n\nimport \"os\"\n\nfunc main() {\n\tos.Stderr.WriteString(" + quoted(screentest.Text) + ")\n\tos.Exit(3)\n}\n",
	} {
		if err := os.MkdirAll(c.program, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.program, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// oneLine is the hostile text for line-based formats.
var oneLine = strings.NewReplacer("\n", "", "\r", "", "\x00", "", ";", ",").Replace(screentest.Valid)

// quoted writes text as a Go string of escapes.
func quoted(text string) string {
	const hex = "0123456789abcdef"
	out := `"`
	for _, b := range []byte(text) {
		out += `\x` + string(hex[b>>4]) + string(hex[b&15])
	}
	return out + `"`
}

func hostileProfile(t *testing.T, types ...profile.ValueType) []byte {
	t.Helper()
	text := screentest.Text
	b := profile.NewBuilder(types...)
	values := func(n int64) []int64 {
		v := []int64{n, n, n * 1e7, n * 1e7}
		return v[:len(types)]
	}
	b.Binary("/bin/"+text, text)
	frame := func(n string) profile.FrameSpec {
		return profile.FrameSpec{Function: n + text, File: "/src/" + text, Line: 3, StartLine: 1}
	}
	b.AddLabeled([]profile.FrameSpec{frame("main.a"), frame("main.b")}, []profile.Label{{Key: text, Str: text}, {Key: "n" + text, Num: 7, Unit: text}}, values(900)...)
	b.Add([]profile.FrameSpec{frame("main.c"), frame(""), frame("main.b")}, values(500)...)
	b.Add([]profile.FrameSpec{{Address: 0x1234, Binary: "/lib/" + text}}, values(5)...)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	p.Comments, p.DocURL, p.DefaultSampleType = []string{text, text}, text, types[len(types)-1].Type
	p.PeriodType, p.Period, p.DurationNanos = profile.ValueType{Type: text, Unit: text}, 1, 10e9
	var out bytes.Buffer
	if err := p.Encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// hostileTrace records a trace with hostile annotations and a hostile function name.
func hostileTrace(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skip("somebody else traces: ", err)
	}
	ctx, task := trace.NewTask(context.Background(), screentest.Text)
	done := make(chan bool)
	go hostilePlaceholderForANameThatIsReplaced(ctx, done)
	<-done
	task.End()
	trace.Stop()
	name := []byte("hostilePlaceholderForANameThatIsReplaced")
	return bytes.ReplaceAll(out.Bytes(), name, []byte(screentest.Valid + strings.Repeat("_", len(name)))[:len(name)])
}

func hostilePlaceholderForANameThatIsReplaced(ctx context.Context, done chan bool) {
	defer trace.StartRegion(ctx, screentest.Text).End()
	trace.Log(ctx, screentest.Text, screentest.Text)
	time.Sleep(time.Millisecond)
	done <- true
}

// lines returns the command lines for a command; a command without lines fails the test.
func (c corpus) lines(out string) map[string][][]string {
	sources := func(command string, more ...string) [][]string {
		var lines [][]string
		for _, s := range []string{c.profile, c.folded, c.dump, c.recording, c.recording + ":allocs", c.trace + ":blocking", c.broken, c.textBroken, c.foreign, c.empty,
			c.recording + ":" + screentest.FileName, c.recording + ":heap", filepath.Join(c.dir, "none"+screentest.FileName), "http://127.0.0.1:1/" + screentest.FileName} {
			lines = append(lines, append(append([]string{command}, more...), s))
		}
		return append(lines, []string{command, "-sample_index", screentest.Text, c.profile}, []string{command, "-focus", screentest.FileName, "-v", c.profile},
			[]string{command, "-unit", screentest.Text, c.profile}, []string{command, "-" + screentest.Text}, []string{command, "-tagfocus", screentest.Text + "=(", c.profile})
	}
	x := screentest.Text
	all := map[string][][]string{
		"run": {{"run", c.program}, {"run", "./" + x}, {"run", c.program, "-load", c.targets}, {"run", "-bench", x, c.program}, {"run", "http://127.0.0.1:1/" + x}},
		"record": {{"record", "-o", out, c.program}, {"record", "-o", filepath.Join(c.dir, "no", x), c.program},
			{"record", c.program, "-load", "GET http://127.0.0.1:1/" + x}, {"record", c.program, "-header", x}, {"record", c.program, "-phases", x}},
		"report":     {{"report", c.recording}, {"report", "-format", "md", c.recording}, {"report", "-format", x, c.recording}, {"report", c.profile}, {"report", x}},
		"findings":   {{"findings", c.recording}, {"findings", "-v", c.recording}, {"findings", c.profile}, {"findings", x}},
		"why":        {{"why", "main", c.recording}, {"why", x + ":3", c.recording}, {"why", x + "(", c.recording}, {"why", "main", c.foreign}},
		"recordings": {{"recordings"}, {"recordings", x}, {"recordings", "label", x, x}, {"recordings", "remove", x}},
		"demo":       {{"demo", x}, {"demo", "-duration", x}},
		"shell":      {{"shell", c.profile}, {"shell", c.recording}, {"shell", c.broken}},
		"diff":       {{"diff", c.profile, c.profile}, {"diff", c.profile, c.recording}, {"diff", "-paths", "-top", "-1", c.profile, c.profile}, {"diff", c.profile, x}, {"diff", "-by", x, x, x}},
		"load":       {{"load", "-duration", "10ms", c.targets}, {"load", "-duration", "50ms", "http://127.0.0.1:1/"}, {"load", x}, {"load", "GET http://" + x}},
		"compare":    {{"compare", c.recording, c.recording}, {"compare", c.recording, c.foreign}, {"compare", x, x}, {"compare", c.bench, c.bench}},
		"mcp":        {{"mcp", "./" + x}, {"mcp", "-json"}},
		"tune":       {{"tune", x}, {"tune", "gc", "./" + x}, {"tune", "gc", c.program}, {"tune", "gc", "-memory", x, c.program}, {"tune", "go", "./" + x}, {"tune", "go", "-go", x, c.program}, {"tune", "pgo", c.program}, {"tune", "pgo", "-profile", x, c.program}, {"tune", "deps", c.program}, {"tune", "deps", "-module", x, "./" + x}},
		"fix":        {{"fix", c.recording}, {"fix", c.foreign, "1"}, {"fix", x}, {"fix", "-untried"}, {"fix", "-w", c.recording}, {"fix", "-try", "-load", x, c.recording}},
		"prove":      {{"prove", c.recording}, {"prove", "-base", x, c.recording}, {"prove", "-patch", x, "-base", "HEAD", c.foreign}, {"prove", x}},
		"try":        {{"try", "-with", "GOGC=50", "./" + x}, {"try", "-with", x, c.program}, {"try", c.program}, {"try", "-with", "git:" + x, c.program}},
		"ui":         {{"ui", x}, {"ui", "-listen", x, c.recording}, {"ui", "-listen", "0.0.0.0:0", c.recording}, {"ui", "-json", c.recording}},
		"bench":      {{"bench", x}, {"bench", "-against", x, c.program}, {"bench", "-bench", x, c.program}, {"bench", "-build", x}},
		"history": {
			{"history", "-db", c.history, "add", c.bench}, {"history", "-db", c.history, "add", c.recording}, {"history", "-db", c.history, "add", c.commits},
			{"history", "-db", c.history, "add", c.broken}, {"history", "-db", c.history}, {"history", "-db", c.history, "show"}, {"history", "-db", c.history, "show", x},
			{"history", "-db", c.history, "plot"}, {"history", "-db", c.history, "file", "aaaa", x}, {"history", "-db", c.history, "bisect", x},
			{"history", "-db", c.history, "bisect", "-good", x, x}, {"history", "-db", c.history, "import", c.broken}, {"history", "-db", c.broken}, {"history", x},
			{"history", "-db", c.history, "prune", "-older", x}, {"history", "-db", "postgres://" + x + "@127.0.0.1:1/x?connect_timeout=1"},
		},
		"noise":  {{"noise", x}, {"noise", "./" + x}, {"noise", "-build", "-tags=a " + x, c.program}, {"noise", "-time", x}},
		"gate":   {{"gate", x}, {"gate", "-base", x, c.program}},
		"rules":  {{"rules"}, {"rules", x}, {"rules", "-markdown"}},
		"doctor": {{"doctor"}}, "version": {{"version"}},
		"completion": {{"completion", "bash"}, {"completion", "zsh"}, {"completion", "fish"}, {"completion", x}},
		"help":       {{"help"}, {"help", "run"}, {"help", x}, {x}},
	}
	for _, name := range []string{"top", "tree", "graph", "callgrind", "proto", "topproto", "traces", "tags", "raw", "comments", "flame", "folded", "speedscope"} {
		all[name] = sources(name)
	}
	all["top"] = append(all["top"], sources("top", "-groups")...)
	all["graph"] = append(all["graph"], sources("graph", "-format", "dot")...)
	for _, name := range []string{"list", "disasm", "peek"} {
		all[name] = append(sources(name, "main"), sources(name, x)...)
	}
	for _, v := range traceViews() {
		for _, s := range []string{c.trace, c.recording, c.profile, x} {
			all["trace"] = append(all["trace"], []string{"trace", v.name, s})
		}
	}
	all["trace"] = append(all["trace"], []string{"trace", x, c.trace}, []string{"trace", "events", "-stacks", c.trace}, []string{"trace", "timeline", "-o", out + ".html", c.trace})
	return all
}

// TestHostileNamesWithEveryCommand: text from outside reaches a terminal only as printable text.
func TestHostileNamesWithEveryCommand(t *testing.T) {
	c := newCorpus(t)
	lines := c.lines(filepath.Join(c.dir, "out.hone"))
	for _, cmd := range commands() {
		t.Run(cmd.name, func(t *testing.T) {
			if len(lines[cmd.name]) == 0 {
				t.Fatalf("hone %s is not tried with the hostile corpus: add command lines to it", cmd.name)
			}
			fs := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
			cmd.declare(fs)
			if measures := []string{"run", "record", "doctor", "demo"}; slices.Contains(measures, cmd.name) {
				live.Only(t)
			}
			seen := false
			some := map[string]int{"disasm": 3, "tune": 2}[cmd.name] // the others read a program of megabytes, or build some
			for i, line := range lines[cmd.name] {
				if !live.On && some > 0 && i >= some {
					break
				}
				seen = c.try(t, line, fs) || seen
				if live.On && fs.Lookup("json") != nil {
					seen = c.try(t, append([]string{line[0], "-json"}, line[1:]...), fs) || seen
				}
			}
			if !seen && !map[string]bool{"doctor": true, "version": true}[cmd.name] {
				t.Errorf("none of the lines showed anything hostile")
			}
		})
	}
}

// try runs a line for a terminal and for a file, and reports whether hostile text was shown.
func (c corpus) try(t *testing.T, line []string, fs *flag.FlagSet) (seen bool) {
	t.Helper()
	what := "hone " + strings.Join(line, " ")
	if len(what) > 60 {
		what = what[:60]
	}
	for _, terminal := range []bool{true, false} {
		var out, errs bytes.Buffer
		script := "top\nlist main\n" + screentest.FileName + "\nfocus=" + oneLine + "\nfocus\ntraces\nsample_index=" + oneLine + "\n"
		env := Env{Stdin: strings.NewReader(script), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, CacheDir: filepath.Join(c.dir, "cache"), Dir: c.dir, Version: "test"}
		if terminal {
			env.StdoutTerminal, env.StdoutTTY, env.StderrTTY, env.Width = true, true, true, 80
		}
		Main(t.Context(), line, env)
		isData := !terminal && (fs.Lookup("o") != nil && fs.Lookup("json") != nil) && !strings.HasPrefix(out.String(), "{")
		if !isData {
			screentest.Check(t, what, out.String(), terminal)
		}
		screentest.Check(t, what+" on standard error", redrawn.ReplaceAllString(errs.String(), ""), false)
		seen = seen || strings.Contains(out.String()+errs.String(), "FORGED")
		if t.Failed() {
			return seen
		}
	}
	return seen
}

// redrawn is the start of a progress line on a terminal.
var redrawn = regexp.MustCompile("\r\x1b\\[K")

func TestProgressEscapesWhatItSays(t *testing.T) {
	for _, live := range []bool{true, false} {
		var errs bytes.Buffer
		p := newProgress(Env{Stderr: &errs, StderrTTY: live}, false)
		for _, end := range []bool{false, true} {
			p.event(capture.Event{Phase: "build", Text: screentest.Text, Of: time.Second, End: end})
		}
		screentest.Check(t, "progress", redrawn.ReplaceAllString(errs.String(), ""), false)
		if !strings.Contains(errs.String(), "FORGED") {
			t.Errorf("nothing was said: %q", errs.String())
		}
	}
}

func TestShellCompletionEscapes(t *testing.T) {
	c := newCorpus(t)
	var out bytes.Buffer
	env := Env{Stdout: &out, Stderr: &out, CacheDir: c.dir, Dir: c.dir}
	sh := newShell(t.Context(), env, []string{c.profile})
	if err := sh.line(t.Context(), "top"); err != nil {
		t.Fatal(err)
	}
	found := sh.candidates([]string{"focus"}, "main")
	found = append(found, sh.candidates([]string{"peek"}, "main.a")...)
	found = append(found, sh.candidates(nil, "focus=main")...)
	found = append(found, sh.candidates(nil, "sample_index=")...)
	if len(found) < 3 {
		t.Fatalf("candidates: %q", found)
	}
	for _, f := range found {
		screentest.Check(t, "completion", f, false)
	}
	re, err := regexp.Compile(sh.functions("main.a")[0])
	if err != nil {
		t.Fatal(err)
	}
	if !re.MatchString("main.a" + screentest.Text) {
		t.Errorf("%s does not match the function that it completes", re)
	}
}
