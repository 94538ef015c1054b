package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"github.com/hone-go/hone/internal/screen"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/shelf"
	"github.com/hone-go/hone/internal/source"
)

// Env is a command's environment.
type Env struct {
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Getenv   func(string) string
	CacheDir string // hone's cache directory; "" if there is none, and CacheErr says why
	CacheErr error
	Keep     shelf.Limits // for the recordings in the cache
	KeepErr  error        // an error in the variables that set Keep
	Dir      string       // working directory
	Version  string

	StdoutTerminal bool // standard output is a terminal
	StdoutTTY      bool // it shows colours
	StderrTTY      bool // standard error can redraw a progress line
	Width          int  // columns of the terminal; 0 if standard output is not one

	ink                  screen.Ink // the colours that Stdout passes through
	rawStdout, rawStderr io.Writer  // the streams before they were escaped; see escaped

	// sources, if set, reads profiles instead of source.Opener.Profile.
	sources openFunc
	// traces, if set, caches execution traces.
	traces *source.Traces
}

// openFunc reads profiles and sums them, as source.Opener.Profile does.
type openFunc func(ctx context.Context, o source.Opener, args []string) (*source.Source, error)

func (e Env) open(ctx context.Context, o source.Opener, args []string) (*source.Source, error) {
	if e.sources != nil {
		return e.sources(ctx, o, args)
	}
	return o.Profile(ctx, args...)
}

// opener opens what the user named, with this process's standard input.
func (e Env) opener(c session.Config, o source.Options) source.Opener {
	open := c.Opener()
	open.Stdin, open.Options, open.Traces = e.Stdin, o, e.traces
	return open
}

// System returns the Env of this process. Only System reads the environment.
func System() Env {
	env := Env{
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Getenv:  os.Getenv,
		Version: version(),
	}
	env.Dir, _ = os.Getwd()
	env.CacheDir, env.CacheErr = cacheDir(os.Getenv, os.UserCacheDir)
	env.Keep, env.KeepErr = cacheLimits(os.Getenv)
	if colorprofile.Detect(os.Stdout, os.Environ()) > colorprofile.NoTTY {
		env.StdoutTTY = colorprofile.Detect(os.Stdout, os.Environ()) > colorprofile.Ascii
	}
	env.StdoutTerminal = term.IsTerminal(int(os.Stdout.Fd()))
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		env.Width = w
	}
	env.StderrTTY = term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb"
	return env
}

// cacheDir returns $HONE_CACHE, or "hone" in the user's cache directory.
func cacheDir(getenv func(string) string, userCache func() (string, error)) (string, error) {
	if dir := getenv("HONE_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := userCache()
	if err != nil {
		return "", fmt.Errorf("find a cache directory: %w; set HONE_CACHE to a directory that hone may write", err)
	}
	return filepath.Join(dir, "hone"), nil
}

// version returns the module's version if hone was installed by `go install`, otherwise "devel"
// with the revision if it is known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && v == "devel" && len(s.Value) >= 12 {
			v += "-" + s.Value[:12]
		}
	}
	return v
}

// goSettings returns the variables that are set and that Go's runtime or compiler reads. A program
// that hone starts inherits them.
func (e Env) goSettings() []string {
	if e.Getenv == nil {
		return nil
	}
	var set []string
	for _, name := range []string{"GODEBUG", "GOEXPERIMENT", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"} {
		if v := e.Getenv(name); v != "" {
			set = append(set, name+"="+v)
		}
	}
	return set
}
