package gocode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// maxOutput bounds what is kept of a command's output; a package list of 5,000 packages
// is about 10 MB.
const maxOutput = 256 << 20

// errNoDir reports that the program's source was moved, or is on another machine.
var errNoDir = errors.New("no such directory")

// goCommand runs the go command in the target's directory and returns its two outputs. The error
// has the last lines of stderr.
func (x *Index) goCommand(ctx context.Context, env []string, args ...string) (stdout, stderr []byte, err error) {
	dir := x.cfg.Dir
	if dir == "" {
		dir = os.TempDir() // not in the module that hone was started in
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, nil, fmt.Errorf("%s: %w", dir, errNoDir)
	}
	cmd := exec.CommandContext(ctx, x.cfg.GoCommand, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second // compilers that outlive a cancelled go command hold the pipes
	out, errs := &capped{}, &capped{}
	cmd.Stdout, cmd.Stderr = out, errs
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("go %s: %w", args[0], ctx.Err())
	}
	if err == nil && (out.full || errs.full) {
		err = fmt.Errorf("more than %d bytes of output", maxOutput)
	}
	if err != nil {
		err = fmt.Errorf("go %s in %s: %w%s", args[0], dir, err, lastWords(errs.Bytes()))
	}
	return out.Bytes(), errs.Bytes(), err
}

// lastWords returns the end of an error output in one line, with a colon before it.
func lastWords(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) > 3 {
		lines = lines[len(lines)-3:]
	}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if s := strings.Join(lines, "; "); s != "" {
		return ": " + s
	}
	return ""
}

// capped is a buffer that drops what exceeds maxOutput.
type capped struct {
	bytes.Buffer
	full bool
}

func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > maxOutput {
		c.full = true
		return len(p), nil
	}
	return c.Buffer.Write(p)
}

// goEnv is what `go env` says in the target's directory.
type goEnv struct {
	GOROOT, GOMODCACHE, GOVERSION, GOFLAGS, GOOS, GOARCH string

	err error
}

func (x *Index) goEnv() goEnv {
	return x.env.get(func() (e goEnv) {
		out, _, err := x.goCommand(x.ctx, nil, "env", "-json", "GOROOT", "GOMODCACHE", "GOVERSION", "GOFLAGS", "GOOS", "GOARCH")
		if err == nil {
			err = json.Unmarshal(out, &e)
		}
		if e.err = err; err != nil {
			what := "no Go toolchain: "
			if errors.Is(err, errNoDir) {
				what = "the program's source does not exist: "
			}
			x.note(what + err.Error())
			return e
		}
		if x.info != nil && x.info.GoVersion != "" && x.info.GoVersion != e.GOVERSION {
			x.note(fmt.Sprintf("the binary was built by %s, the toolchain here is %s: lines of the standard library and the compiler's decisions may differ", x.info.GoVersion, e.GOVERSION))
		}
		return e
	})
}

// listedPackage is a package as `go list -json` describes it.
type listedPackage struct {
	Dir          string
	ImportPath   string
	Name         string
	ForTest      string
	Standard     bool
	Export       string
	BuildID      string
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	Incomplete   bool
	Module       *listedModule
	Error        *struct{ Err string }
	DepsErrors   []*struct{ Err string }
}

// listedModule is a module as `go list -json` describes it.
type listedModule struct {
	Path    string
	Version string
	Dir     string
	Main    bool
	Replace *listedModule
}

// listing is what `go list -deps` says about the target.
type listing struct {
	byDir  map[string]*listedPackage // slashed directory
	byPath map[string]*listedPackage
	dirs   []moduleDir // longest first
	mods   modules
	goroot string // slashed, "" when the target imports nothing of it
	err    error
}

// moduleDir is a module and the directory where its sources are.
type moduleDir struct {
	dir string // slashed
	module
}

// listed returns the packages of the target and of what it imports. The list is
// empty when there is no Config.Dir or no toolchain; a note says why.
func (x *Index) listed() *listing {
	return x.deps.get(func() *listing {
		if x.cfg.Dir == "" {
			return newListing(nil)
		}
		var l *listing
		for _, pattern := range x.listPatterns() {
			pkgs, err := x.list(x.ctx, pattern)
			if l = newListing(pkgs); err == nil && len(l.byDir) > 0 {
				break
			} else if err != nil {
				l.err = err
			}
		}
		if l.err != nil && x.goEnv().err == nil { // without a toolchain that is said already
			x.note("packages of " + x.cfg.Dir + " cannot be listed: " + l.err.Error())
		}
		for _, d := range l.dirs {
			if d.localDir != "" {
				x.note(d.path + " is replaced by the directory " + d.localDir)
			}
		}
		return l
	})
}

// listPatterns returns what to ask for: the target by name, or what lies in the directory.
func (x *Index) listPatterns() []string {
	var ps []string
	for _, p := range []string{x.cfg.ImportPath, x.infoPackage()} {
		if p != "" && p != "command-line-arguments" && !strings.HasPrefix(p, "-") {
			ps = append(ps, p)
			break
		}
	}
	return append(ps, ".")
}

// list runs go list -deps.
func (x *Index) list(ctx context.Context, pattern string) ([]*listedPackage, error) {
	args := []string{"list", "-e", "-deps"}
	if x.cfg.Test {
		args = append(args, "-test")
	}
	args = append(args, "-json=Dir,ImportPath,Name,ForTest,Standard,Module,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Error")
	args = append(args, x.buildFlags()...)
	out, _, err := x.goCommand(ctx, x.buildEnv(), append(args, "--", pattern)...)
	if err != nil {
		return nil, err
	}
	return decodePackages(out)
}

// decodePackages reads the stream of JSON objects that go list writes.
func decodePackages(b []byte) ([]*listedPackage, error) {
	var pkgs []*listedPackage
	dec := json.NewDecoder(bytes.NewReader(b))
	for {
		p := new(listedPackage)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list's answer: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

// newListing indexes packages by directory, path and module.
func newListing(pkgs []*listedPackage) *listing {
	l := &listing{byDir: map[string]*listedPackage{}, byPath: map[string]*listedPackage{}}
	seen := map[string]bool{}
	for _, p := range pkgs {
		if p.Dir == "" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		if p.ForTest != "" { // "p [p.test]" and "p_test [p.test]"
			p.ImportPath, _, _ = strings.Cut(p.ImportPath, " ")
			if strings.HasSuffix(p.Name, "_test") {
				p.ImportPath = strings.TrimSuffix(p.ImportPath, "_test")
			}
		}
		dir := filepath.ToSlash(p.Dir)
		if old := l.byDir[dir]; old == nil || old.ForTest == "" && !strings.HasSuffix(p.Name, "_test") {
			l.byDir[dir] = p
			l.byPath[p.ImportPath] = p
		}
		if p.Standard {
			if root, ok := strings.CutSuffix(dir, "/src/"+p.ImportPath); ok {
				l.goroot = root
			}
			continue
		}
		if m := p.Module; m != nil && !seen[m.Path] {
			seen[m.Path] = true
			l.add(m)
		}
	}
	l.mods.sort()
	return l
}

// add adds a module and the directory of its sources, if it has one (vendored
// modules have none).
func (l *listing) add(m *listedModule) {
	mod := module{path: m.Path, version: m.Version, main: m.Main}
	if m.Main {
		mod.version = ""
	}
	dir := m.Dir
	if r := m.Replace; r != nil {
		if r.Version == "" {
			mod.version, mod.localDir = "", slashed(r.Path)
		} else {
			mod.version, mod.forkPath = r.Version, r.Path
		}
		if r.Dir != "" {
			dir = r.Dir
		}
	}
	l.mods = append(l.mods, mod)
	if dir == "" {
		return
	}
	d := moduleDir{dir: filepath.ToSlash(dir), module: mod}
	at := len(l.dirs)
	for at > 0 && len(l.dirs[at-1].dir) < len(d.dir) {
		at--
	}
	l.dirs = append(l.dirs, moduleDir{})
	copy(l.dirs[at+1:], l.dirs[at:])
	l.dirs[at] = d
}
