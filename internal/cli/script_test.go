package cli

import (
	"context"
	"errors"
	"fmt"
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
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hone-go/hone/internal/live"
)

// TestMain makes this test binary the hone command of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"hone": func() { os.Exit(Main(context.Background(), os.Args[1:], System())) },
	})
}

// TestScripts runs the command lines of testdata/script as a user would type them, each script in
// its own directory, with its own cache.
func TestScripts(t *testing.T) {
	userCache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
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
			env.Setenv("PATH_WITHOUT_GO", withoutGo(env.Getenv("PATH")))
			port, err := freePort()
			env.Setenv("PORT", port)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exitsCommand,
			"web":   webCommand,
			"cut":   cutCommand,
			"busy":  busyCommand,
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

// exitsCommand is "exits CODE PROGRAM ARGS...": it runs a program and checks its exit code; stdout
// and stderr can be matched afterwards.
func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s: %v", args[1], err)
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
