package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"strings"
	"time"
)

// goCommand runs the go command for one package.
type goCommand struct {
	path string   // of the go command
	dir  string   // where it runs
	env  []string // added to the caller's environment
}

// maxBuildOutput bounds what is kept of a go command's output.
const maxBuildOutput = 256 << 10

// run runs it and returns its stdout. The error is a *BuildError with its stderr, or the context's
// error.
func (g goCommand) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Dir = g.dir
	cmd.Env = append(cmd.Environ(), g.env...)
	// A process group of its own: an interrupt must stop the compilers too.
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &headWriter{buf: &stdout, left: 16 << 20}
	cmd.Stderr = &headWriter{buf: &stderr, left: maxBuildOutput}
	err := cmd.Run()
	if err == nil {
		return stdout.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("go %s: %w", args[0], ctx.Err())
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	words := strings.TrimSpace(stderr.String())
	if words == "" {
		words = strings.TrimSpace(stdout.String())
	}
	return nil, &BuildError{Output: words, Err: fmt.Errorf("go %s: %w", args[0], err)}
}

// headWriter keeps the first bytes that are written to it.
type headWriter struct {
	buf  *bytes.Buffer
	left int
}

func (w *headWriter) Write(p []byte) (int, error) {
	keep := min(len(p), w.left)
	w.left -= keep
	w.buf.Write(p[:keep])
	return len(p), nil
}

// goEnv is the go command's environment in a directory: another module may choose another
// toolchain.
type goEnv struct {
	GOVERSION  string
	GOFLAGS    string
	GOOS       string
	GOMODCACHE string
	GOWORK     string
	GOROOT     string

	GOEXPERIMENT string // what differs from the toolchain's own experiments
}

// leaksExperiment is the go command's environment for a program with the profile of leaked
// goroutines: an experiment in Go 1.26 (golang/go#74609), part of the runtime from Go 1.27 on.
func (e goEnv) leaksExperiment() ([]string, error) {
	switch {
	case atLeast(e.GOVERSION, "go1.27"):
		return nil, nil
	case !atLeast(e.GOVERSION, "go1.26"):
		return nil, fmt.Errorf("the profile of leaked goroutines needs Go 1.26 or newer, not %s", e.GOVERSION)
	}
	const experiment = "goroutineleakprofile"
	if e.GOEXPERIMENT == "" {
		return []string{"GOEXPERIMENT=" + experiment}, nil
	}
	return []string{"GOEXPERIMENT=" + e.GOEXPERIMENT + "," + experiment}, nil
}

func (g goCommand) environment(ctx context.Context) (goEnv, error) {
	var e goEnv
	out, err := g.run(ctx, "env", "-json", "GOVERSION", "GOFLAGS", "GOOS", "GOMODCACHE", "GOWORK", "GOROOT", "GOEXPERIMENT")
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(out, &e); err != nil {
		return e, fmt.Errorf("go env: %w", err)
	}
	return e, nil
}

// atLeast reports whether a GOVERSION ("go1.26.8", "devel go1.27-abc Mon …") is the
// language version or newer.
func atLeast(goversion, lang string) bool {
	for word := range strings.FieldsSeq(goversion) {
		word, _, _ = strings.Cut(word, "-")
		if version.IsValid(word) {
			return version.Compare(version.Lang(word), lang) >= 0
		}
	}
	return false
}

// listedPackage is go list's description of a package.
type listedPackage struct {
	Dir          string
	ImportPath   string
	Name         string
	Standard     bool
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	Module       *struct {
		Path  string
		Dir   string
		GoMod string
	}
}

// list describes the one package that the arguments name.
func (g goCommand) list(ctx context.Context, flags, args []string) (listedPackage, error) {
	var p listedPackage
	words := append([]string{"list", "-json=Dir,ImportPath,Name,Standard,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Module"}, flags...)
	out, err := g.run(ctx, append(append(words, "--"), args...)...)
	if err != nil {
		return p, err
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	if err := dec.Decode(&p); err != nil {
		return p, fmt.Errorf("%s names no package", strings.Join(args, " "))
	}
	if dec.More() {
		return p, fmt.Errorf("%s names more than one package; name one", strings.Join(args, " "))
	}
	return p, nil
}

// guardSums saves go.work.sum and returns a function that restores it: in a workspace the go
// command may add checksums to it even when it only builds.
func guardSums(e goEnv) (restore func()) {
	if e.GOWORK == "" || e.GOWORK == "off" {
		return func() {}
	}
	path := e.GOWORK + ".sum"
	before, err := os.ReadFile(path)
	absent := errors.Is(err, os.ErrNotExist)
	if err != nil && !absent {
		return func() {}
	}
	return func() {
		after, err := os.ReadFile(path)
		switch {
		case err != nil || !absent && bytes.Equal(before, after):
		case absent:
			os.Remove(path)
		default:
			os.WriteFile(path, before, 0o644)
		}
	}
}
