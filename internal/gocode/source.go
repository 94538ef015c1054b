package gocode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	xmodule "golang.org/x/mod/module"
)

// located is the remembered answer of Source.
type located struct {
	path string
	err  error
}

// NotFoundError says that the source of a file is not on this machine.
type NotFoundError struct {
	File  string   // as the profile names it
	Tried []string // local paths that were tried
	Hint  string   // what would help, "" when unknown
}

func (e *NotFoundError) Error() string {
	s := "no source of " + e.File
	if len(e.Tried) > 0 {
		s += "; looked at " + strings.Join(e.Tried, ", ")
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Source returns the local path of a frame's file, or an error (*NotFoundError) that names the
// paths that were tried.
func (x *Index) Source(file string) (string, error) {
	x.mu.RLock()
	l, ok := x.where[file]
	x.mu.RUnlock()
	if ok {
		return l.path, l.err
	}
	l.path, l.err = x.locate(file)
	x.mu.Lock()
	x.where[file] = l
	x.mu.Unlock()
	return l.path, l.err
}

func (x *Index) locate(file string) (string, error) {
	lost := &NotFoundError{File: file}
	f := slashed(file)
	if f == "" || strings.HasPrefix(f, "<") || f == "_cgo_gotypes.go" || f == "_testmain.go" {
		lost.Hint = "the toolchain generates it"
		return "", lost
	}
	if isAbs(f) {
		if isFile(filepath.FromSlash(f)) {
			return filepath.FromSlash(f), nil
		}
		lost.Tried = append(lost.Tried, f)
	}
	o := x.Owner("", file)
	for _, p := range x.candidates(o, f) {
		if isFile(p) {
			return p, nil
		}
		lost.Tried = append(lost.Tried, p)
	}
	switch o.Kind {
	case Dependency:
		if o.Version != "" {
			lost.Hint = "`go mod download " + o.Module + "@" + o.Version + "` fetches it"
		}
	case Std:
		if err := x.goEnv().err; err != nil {
			lost.Hint = err.Error()
		}
	case Main:
		if x.cfg.Dir == "" {
			lost.Hint = "the directory of the program's source is not known"
		}
	}
	return "", lost
}

// candidates lists where a file may lie on this machine, best first.
func (x *Index) candidates(o Owner, file string) []string {
	var ps []string
	add := func(elem ...string) {
		p := filepath.Join(elem...)
		for _, old := range ps {
			if p == old {
				return
			}
		}
		ps = append(ps, p)
	}
	base := path.Base(file)
	if o.Kind == Std {
		for _, root := range x.goroots() {
			add(root, "src", filepath.FromSlash(o.File))
		}
		return ps
	}
	l := x.listed()
	if p := l.byPath[o.Package]; p != nil {
		add(p.Dir, base)
	}
	for _, d := range l.dirs {
		if d.path == o.Module {
			add(filepath.FromSlash(d.dir), filepath.FromSlash(o.File))
		}
	}
	root, modPath, found := "", "", false
	if x.cfg.Dir != "" {
		root, modPath, found = findGoMod(filepath.ToSlash(x.cfg.Dir))
	}
	switch {
	case o.Kind == Dependency:
		if found {
			add(filepath.FromSlash(root), "vendor", filepath.FromSlash(o.Package), base)
		}
		if dir, ok := x.cacheDir(o); ok {
			add(dir, filepath.FromSlash(o.File))
		}
	case found && (o.Module == modPath || o.Module == "" && o.Kind == Main):
		add(filepath.FromSlash(root), filepath.FromSlash(o.File))
	}
	if x.cfg.Dir != "" && o.Kind == Main && (o.Package == x.mainPackage() || strings.HasPrefix(file, "./")) {
		add(x.cfg.Dir, base)
	}
	return ps
}

// goroots lists where the standard library of the binary may lie: the toolchain in
// the module cache that built it, and the installed one.
func (x *Index) goroots() []string {
	env := x.goEnv()
	if env.err != nil {
		return nil
	}
	var roots []string
	if x.info != nil && x.info.GoVersion != env.GOVERSION && x.info.GoVersion != "" && env.GOMODCACHE != "" {
		version, _, _ := strings.Cut(x.info.GoVersion, " ")
		roots = append(roots, filepath.Join(env.GOMODCACHE, "golang.org",
			"toolchain@v0.0.1-"+version+"."+env.GOOS+"-"+env.GOARCH))
	}
	return append(roots, env.GOROOT)
}

// cacheDir is the directory of a module in the module cache.
func (x *Index) cacheDir(o Owner) (string, bool) {
	if o.Version == "" {
		return "", false
	}
	modPath := o.Module
	if m, ok := x.modules().byPath(modPath); ok && m.forkPath != "" {
		modPath = m.forkPath
	}
	return x.ModuleDir(modPath, o.Version)
}

// ModuleDir returns the directory of a version of a module in the module cache, whether it exists
// or not; false if there is no module cache, or a name is not valid.
func (x *Index) ModuleDir(module, version string) (string, bool) {
	p, err := xmodule.EscapePath(module)
	if err != nil || x.goEnv().GOMODCACHE == "" {
		return "", false
	}
	v, err := xmodule.EscapeVersion(version)
	if err != nil {
		return "", false
	}
	return filepath.Join(x.goEnv().GOMODCACHE, filepath.FromSlash(p)+"@"+v), true
}

func isFile(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.Mode().IsRegular()
}

const (
	maxSource = 32 << 20 // bytes of a source file that is read
	maxTexts  = 64       // files whose lines are kept
)

// Distrust marks the source of a file as not that of the build: its lines, syntax and compiler
// facts are no longer returned, and reason is returned instead.
func (x *Index) Distrust(file, why string) {
	key := x.fileKey(file)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.moved[key] = why
}

// Distrusted returns why a file's source is not trusted to be that of the build; "" when it is.
func (x *Index) Distrusted(file string) string { return x.distrusted(x.fileKey(file)) }

// distrusted returns why a file's source is not that of the build; "" if no difference is known.
func (x *Index) distrusted(key string) string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.moved[key]
}

// Lines returns the source lines [from, to] (1-based) of a frame's file, without line ends. The
// range is cut at the end of the file; a from beyond the end is an error, because the source must
// then be a different one.
func (x *Index) Lines(file string, from, to int) ([]string, error) {
	p, err := x.Source(file)
	if err != nil {
		return nil, err
	}
	if why := x.distrusted(x.fileKey(file)); why != "" {
		return nil, errors.New(why)
	}
	lines, err := x.lines(p)
	if err != nil {
		return nil, err
	}
	from = max(from, 1)
	if from > len(lines) {
		return nil, fmt.Errorf("%s has %d lines, line %d is asked for: the source has moved since the build", p, len(lines), from)
	}
	to = min(to, len(lines))
	if to < from {
		return nil, nil
	}
	return append([]string(nil), lines[from-1:to]...), nil
}

func (x *Index) lines(p string) ([]string, error) {
	x.mu.RLock()
	lines, ok := x.text[p]
	x.mu.RUnlock()
	if ok {
		return lines, nil
	}
	if st, err := os.Stat(p); err != nil {
		return nil, fmt.Errorf("read source: %w", err)
	} else if st.Size() > maxSource {
		return nil, fmt.Errorf("read source: %s has %d bytes, too many", p, st.Size())
	}
	b, err := os.ReadFile(p)
	if err != nil {
		return nil, fmt.Errorf("read source: %w", err)
	}
	s := strings.TrimSuffix(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	if s != "" {
		lines = strings.Split(s, "\n")
	}
	x.mu.Lock()
	if len(x.text) >= maxTexts {
		clear(x.text)
	}
	x.text[p] = lines
	x.mu.Unlock()
	return lines, nil
}

// Moved returns why a frame's line may not be the one that ran: the local file is newer than the
// build, or differs from the revision that was built. "" when there is no such sign.
func (x *Index) Moved(ctx context.Context, file string) string {
	p, err := x.Source(file)
	if err != nil {
		return ""
	}
	o := x.Owner("", file)
	switch {
	case o.Kind == Std:
		if v := x.goEnv().GOVERSION; x.info != nil && v != "" && x.info.GoVersion != v &&
			!strings.Contains(filepath.ToSlash(p), "/toolchain@v0.0.1-"+x.info.GoVersion+".") {
			return "source may have moved: it is of " + v + ", the binary of " + x.info.GoVersion
		}
		return ""
	case o.Kind == Dependency && o.Version != "":
		return "" // a version's files do not change
	}
	rev := x.Setting("vcs.revision")
	if o.Kind == Main && rev != "" && x.Setting("vcs.modified") == "false" {
		if changed, ok := changedSince(ctx, p, rev); ok {
			if changed {
				return "source may have moved: " + path.Base(o.File) + " differs from revision " + rev[:min(len(rev), 12)] + ", which was built"
			}
			return ""
		}
	}
	if st, err := os.Stat(p); err == nil && !x.cfg.Built.IsZero() && st.ModTime().After(x.cfg.Built) {
		return "source may have moved: " + path.Base(o.File) + " was written after the build"
	}
	return ""
}

// changedSince asks git whether a file differs from a revision. ok is false
// when there is no answer: no git, no repository, revision not fetched.
func changedSince(ctx context.Context, file, rev string) (changed, ok bool) {
	cmd := exec.CommandContext(ctx, "git", "diff", "--quiet", rev, "--", file)
	cmd.Dir = filepath.Dir(file)
	cmd.Env = append(cmd.Environ(), "GIT_OPTIONAL_LOCKS=0") // do not refresh the index
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return true, true
	}
	return false, err == nil
}
