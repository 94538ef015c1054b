package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/profile"
)

// TestMain makes this test binary the hone command when its name is hone.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), exe()) == "hone" {
		os.Exit(Main(context.Background(), os.Args[1:], System()))
	}
	os.Exit(m.Run())
}

// TestScripts runs the command lines of testdata/script as a user would type them, each script in
// its own directory, with its own cache. "exec hone" is a process; "hone" is a call in this one,
// which takes a tenth of the time.
func TestScripts(t *testing.T) {
	userCache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "hone"+exe())); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // so that it is this one again after the last script
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join(dir, "testdata", "script"),
		Condition: func(name string) (bool, error) {
			if name == "live" {
				return live.On, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			// The go command needs its own caches; hone gets a fresh one.
			for _, name := range []string{"GOPATH", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOFLAGS", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOTOOLCHAIN"} {
				if v := os.Getenv(name); v != "" {
					env.Setenv(name, v)
				}
			}
			if os.Getenv("GOCACHE") == "" {
				env.Setenv("GOCACHE", filepath.Join(userCache, "go-build"))
			}
			if os.Getenv("GOPATH") == "" && os.Getenv("GOMODCACHE") == "" {
				home, _ := os.UserHomeDir()
				env.Setenv("GOPATH", filepath.Join(home, "go"))
			}
			env.Setenv("HONE_CACHE", filepath.Join(env.WorkDir, ".hone-cache"))
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("PATH_WITHOUT_GO", withoutGo(env.Getenv("PATH")))
			port, err := freePort()
			env.Setenv("PORT", port)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"hone":    honeCommand,
			"exits":   exitsCommand,
			"web":     webCommand,
			"cut":     cutCommand,
			"profile": profileCommand,
			"busy":    busyCommand,
		},
	})
}

// withoutGo returns PATH without the directories that contain a go command.
func withoutGo(path string) string {
	return strings.Join(slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		found, _ := filepath.Glob(filepath.Join(dir, "go"+exe()))
		return len(found) > 0
	}), string(filepath.ListSeparator))
}

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// honeCommand is "hone ARGS...": it calls the command in this process, with the script's directory
// and environment; stdout and stderr can be matched afterwards.
func honeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if code := call(ts, args); (code != exitOK) != neg {
		ts.Fatalf("hone: exit code %d", code)
	}
}

// workingDir is locked by the script whose directory is this process's.
var workingDir sync.Mutex

// call is a command in this process, and returns its exit code. Commands that take long are for
// "exec hone", because the other scripts wait.
func call(ts *testscript.TestScript, args []string) (code int) {
	workingDir.Lock()
	defer workingDir.Unlock()
	ts.Check(os.Chdir(ts.MkAbs(".")))
	var out, errs strings.Builder
	env := Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: ts.Getenv, Dir: ts.MkAbs("."), Version: version()}
	env.CacheDir, env.CacheErr = cacheDir(ts.Getenv, os.UserCacheDir)
	env.Keep, env.KeepErr = cacheLimits(ts.Getenv)
	code = Main(context.Background(), args, env)
	io.WriteString(ts.Stdout(), out.String())
	io.WriteString(ts.Stderr(), errs.String())
	return code
}

// exitsCommand is "exits CODE hone ARGS..." or "exits CODE exec PROGRAM ARGS...": it calls hone, or
// runs a program, and checks the exit code; stdout and stderr can be matched afterwards.
func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || args[1] != "hone" && args[1] != "exec" {
		ts.Fatalf("usage: exits CODE hone ARGS..., exits CODE exec PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if args[1] == "hone" {
		got = call(ts, args[2:])
	} else if err := ts.Exec(args[2], args[3:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[2], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// webCommand is "web VAR STATUS BODY": it starts a web server that gives this answer to everything
// until the script ends, and puts its URL into VAR.
func webCommand(ts *testscript.TestScript, _ bool, args []string) {
	status, err := strconv.Atoi(args[1])
	ts.Check(err)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintln(w, args[2])
	}))
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL)
}

// profileCommand is "profile FILE STACKS TYPE/UNIT...": it writes a profile of the stacks in a
// file. A line of it has frames from the root on, "FUNCTION" or "FUNCTION:LINE" of main.go, with
// ";" between them, then labels "KEY=VALUE", then the first value. A second value is ten million
// times that: the nanoseconds of a sample, or as many bytes.
func profileCommand(ts *testscript.TestScript, _ bool, args []string) {
	var types []profile.ValueType
	for _, arg := range args[2:] {
		name, unit, _ := strings.Cut(arg, "/")
		types = append(types, profile.ValueType{Type: name, Unit: unit})
	}
	const second = 10_000_000
	b, total := profile.NewBuilder(types...), int64(0)
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		words := strings.Fields(line)
		n, err := strconv.ParseInt(words[len(words)-1], 10, 64)
		ts.Check(err)
		var frames []profile.FrameSpec // from the leaf on
		for frame := range strings.SplitSeq(words[0], ";") {
			f := profile.FrameSpec{Function: frame, File: "runtime.go", Line: 1}
			if name, at, ok := strings.Cut(frame, ":"); ok {
				f.Function, f.File = name, ts.MkAbs("main.go")
				f.Line, err = strconv.ParseInt(at, 10, 64)
				ts.Check(err)
			}
			frames = slices.Insert(frames, 0, f)
		}
		var labels []profile.Label
		for _, word := range words[1 : len(words)-1] {
			key, value, _ := strings.Cut(word, "=")
			labels = append(labels, profile.Label{Key: key, Str: value})
		}
		b.AddLabeled(frames, labels, []int64{n, n * second}[:len(types)]...)
		total += n
	}
	p, err := b.Profile()
	ts.Check(err)
	p.PeriodType, p.Period, p.DurationNanos = types[len(types)-1], second, total*second
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(p.Encode(f))
	ts.Check(f.Close())
}

// cutCommand is "cut FILE PERCENT": it truncates a file to that share.
func cutCommand(ts *testscript.TestScript, _ bool, args []string) {
	percent, err := strconv.Atoi(args[1])
	ts.Check(err)
	name := ts.MkAbs(args[0])
	info, err := os.Stat(name)
	ts.Check(err)
	ts.Check(os.Truncate(name, info.Size()*int64(percent)/100))
}

// busyCommand is "busy PORT": another process listens there until the script ends.
func busyCommand(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	ts.Check(err)
	ts.Defer(func() { l.Close() })
}
