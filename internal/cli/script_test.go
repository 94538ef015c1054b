package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the command lines of testdata/script as a user would type them, in
// process, each in a directory and with a cache of its own.
func TestScripts(t *testing.T) {
	userCache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
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
			port, err := freePort()
			env.Setenv("PORT", port)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"hone": honeCommand,
			"web":  webCommand,
			"cut":  cutCommand,
			"busy": busyCommand,
		},
	})
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// honeCommand is "hone CODE ARGS...": it runs one command line and checks the exit
// code; its output is for the stdout and stderr commands.
func honeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: hone CODE ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("hone: exit code %q", args[0])
	}
	var stdout, stderr bytes.Buffer
	// The go command below hone reads the process's environment, so the
	// script's is laid over it for the call.
	restore := overlayEnv(ts, "HOME", "GOCACHE", "GOPATH", "GOFLAGS", "GOWORK")
	defer restore()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	code := Main(ctx, args[1:], Env{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Getenv: ts.Getenv, CacheDir: ts.Getenv("HONE_CACHE"), Dir: ts.MkAbs("."), Version: "test",
	})
	fmt.Fprint(ts.Stdout(), stdout.String())
	fmt.Fprint(ts.Stderr(), stderr.String())
	if code != want {
		ts.Fatalf("hone %s: exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", strings.Join(args[1:], " "), code, want, &stdout, &stderr)
	}
}

func overlayEnv(ts *testscript.TestScript, names ...string) func() {
	old := map[string]string{}
	for _, n := range names {
		old[n] = os.Getenv(n)
		if v := ts.Getenv(n); v != "" {
			os.Setenv(n, v)
		}
	}
	return func() {
		for n, v := range old {
			if v == "" {
				os.Unsetenv(n)
			} else {
				os.Setenv(n, v)
			}
		}
	}
}

// webCommand is "web VAR STATUS BODY": it starts a web server that answers everything
// alike until the script ends, and puts its URL into VAR.
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

// cutCommand is "cut FILE PERCENT": it keeps that share of a file.
func cutCommand(ts *testscript.TestScript, _ bool, args []string) {
	percent, err := strconv.Atoi(args[1])
	ts.Check(err)
	name := ts.MkAbs(args[0])
	info, err := os.Stat(name)
	ts.Check(err)
	ts.Check(os.Truncate(name, info.Size()*int64(percent)/100))
}

// busyCommand is "busy PORT": something else listens there until the script ends.
func busyCommand(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	ts.Check(err)
	ts.Defer(func() { l.Close() })
}
