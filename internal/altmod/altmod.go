package altmod

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Tree is the module of a target.
type Tree struct {
	goCommand string
	dir       string   // of the target's package
	work      string   // directory of alternate files
	gomod     []byte   // the content that every alternate file starts from
	gosum     []byte   //
	env       []string // environment of every go command
}

// Build is the flags and environment with which a build uses an alternate go.mod.
type Build struct {
	Flags []string // of go build
	Env   []string // of the go command
}

// Open finds the module of a package's directory. Alternate files are written to the directory
// work, which the caller removes. extra is added to the environment of every go command.
func Open(ctx context.Context, goCommand, dir, work string, extra ...string) (*Tree, error) {
	t := &Tree{goCommand: goCommand, dir: dir, work: work, env: extra}
	out, err := t.run(ctx, "env", "-json", "GOMOD", "GOWORK")
	if err != nil {
		return nil, err
	}
	var env struct{ GOMOD, GOWORK string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	if env.GOMOD == "" || env.GOMOD == os.DevNull {
		return nil, fmt.Errorf("%s is in no module: there are no versions to choose from", dir)
	}
	if t.gomod, err = os.ReadFile(env.GOMOD); err != nil {
		return nil, err
	}
	t.gosum, err = os.ReadFile(strings.TrimSuffix(env.GOMOD, ".mod") + ".sum")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if env.GOWORK != "" && env.GOWORK != "off" {
		t.env = append(slices.Clip(t.env), "GOWORK=off")
		if err := t.addWorkspace(env.GOMOD, env.GOWORK); err != nil {
			return nil, fmt.Errorf("workspace %s: %w", env.GOWORK, err)
		}
	}
	return t, nil
}

func (t *Tree) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, t.goCommand, args...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), t.env...)
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, lastLines(stderr.String()))
	}
	return stdout.Bytes(), nil
}

// lastLines returns the last two lines of what a command printed.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-2):], "; ")
}

// file writes an alternate go.mod and its go.sum, and returns the path of the go.mod.
func (t *Tree) file(name string) (string, error) {
	path := filepath.Join(t.work, strings.NewReplacer("/", "_", "\\", "_", "+", "_", ":", "_").Replace(name)+".mod")
	if err := os.WriteFile(path, t.gomod, 0o600); err != nil {
		return "", err
	}
	return path, os.WriteFile(strings.TrimSuffix(path, ".mod")+".sum", t.gosum, 0o600)
}

// list runs go list -m with an alternate go.mod, so that the go command may change it.
func (t *Tree) list(ctx context.Context, into any, args ...string) error {
	path, err := t.file("list")
	if err != nil {
		return err
	}
	out, err := t.run(ctx, slices.Concat([]string{"list", "-mod=mod", "-modfile=" + path, "-m", "-json"}, args)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("go list -m %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// Current returns the version of a module that the target is built with, and reports whether a
// replace directive replaces it.
func (t *Tree) Current(ctx context.Context, module string) (version string, replaced bool, err error) {
	var m struct {
		Version string
		Replace *struct{ Path string }
	}
	err = t.list(ctx, &m, module)
	return m.Version, m.Replace != nil, err
}

// Newer returns the released versions of a module that are newer than version, oldest first.
func (t *Tree) Newer(ctx context.Context, module, version string) ([]string, error) {
	var m struct{ Versions []string }
	if err := t.list(ctx, &m, "-versions", module); err != nil {
		return nil, err
	}
	return newerThan(m.Versions, version), nil
}

// Head returns the version of the newest commit on a module's default branch; "" when it is not
// newer than version, or not available.
func (t *Tree) Head(ctx context.Context, module, version string) string {
	var m struct{ Version string }
	err := t.list(ctx, &m, module+"@HEAD")
	if err != nil { // some proxies know no branches; without releases, latest is the newest commit
		err = t.list(ctx, &m, module+"@latest")
	}
	if err != nil || !semver.IsValid(m.Version) || semver.Compare(m.Version, version) <= 0 {
		return ""
	}
	return m.Version
}

func newerThan(all []string, version string) []string {
	var newer []string
	for _, v := range all {
		if semver.IsValid(v) && semver.Prerelease(v) == "" && semver.Compare(v, version) > 0 {
			newer = append(newer, v)
		}
	}
	slices.SortFunc(newer, semver.Compare)
	return newer
}

// With writes a go.mod with another version of a module.
func (t *Tree) With(ctx context.Context, path, version string) (Build, error) {
	return t.WithAll(ctx, []module.Version{{Path: path, Version: version}})
}

// WithAll writes a go.mod with other versions of some modules.
func (t *Tree) WithAll(ctx context.Context, versions []module.Version) (Build, error) {
	args, name := []string{"get", ""}, "with"
	for _, v := range versions {
		args, name = append(args, v.String()), name+"-"+v.String()
	}
	path, err := t.file(name)
	if err != nil {
		return Build{}, err
	}
	args[1] = "-modfile=" + path
	if _, err := t.run(ctx, args...); err != nil {
		return Build{}, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Build{}, err
	}
	f, err := modfile.ParseLax(path, data, nil)
	if err != nil {
		return Build{}, err
	}
	for _, v := range versions {
		if !slices.ContainsFunc(f.Require, func(r *modfile.Require) bool { return r.Mod == v }) {
			return Build{}, errors.New("the other modules do not allow this version")
		}
	}
	return t.build(path), nil
}

// Replace writes a go.mod in which a directory replaces a module.
func (t *Tree) Replace(module, dir string) (Build, error) {
	path, err := t.file("replace-" + module)
	if err != nil {
		return Build{}, err
	}
	f, err := modfile.Parse(path, t.gomod, nil)
	if err != nil {
		return Build{}, err
	}
	if err := replace(f, module, "", dir, ""); err != nil {
		return Build{}, err
	}
	data, err := f.Format()
	if err != nil {
		return Build{}, err
	}
	return t.build(path), os.WriteFile(path, data, 0o600)
}

// Continue makes further alternate files start from that of a build.
func (t *Tree) Continue(b Build) (err error) {
	path := strings.TrimPrefix(b.Flags[0], "-modfile=")
	if t.gomod, err = os.ReadFile(path); err != nil {
		return err
	}
	t.gosum, err = os.ReadFile(strings.TrimSuffix(path, ".mod") + ".sum")
	return err
}

func (t *Tree) build(path string) Build {
	return Build{Flags: []string{"-modfile=" + path, "-mod=mod"}, Env: slices.Clone(t.env)}
}

// Source returns the directory of a module's source in the module cache; the go command downloads
// it if necessary.
func (t *Tree) Source(ctx context.Context, module, version string) (string, error) {
	path, err := t.file("source")
	if err != nil {
		return "", err
	}
	out, err := t.run(ctx, "mod", "download", "-modfile="+path, "-json", module+"@"+version)
	if err != nil {
		return "", err
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil || m.Dir == "" {
		return "", fmt.Errorf("go mod download %s@%s named no directory (%v)", module, version, err)
	}
	return m.Dir, nil
}
